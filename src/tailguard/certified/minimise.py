"""A point within a public distance of the exact minimiser, for every data set (minimise.md)."""

import numpy as np

from tailguard._validate import real, refuse
from tailguard.certified.anchor import Anchor
from tailguard.certified.certificate import certified
from tailguard.certified.fallback import descend, resolution
from tailguard.certified.kernels import FloatVector
from tailguard.certified.newton import State, newton_step, start
from tailguard.certified.objective import Objective
from tailguard.domains.base import Domain

__all__ = ["minimise"]

NEWTON_STEPS = 100


def minimise(objective: Objective, tolerance: float, domain: Domain | None = None) -> FloatVector:
    """Return a point within `tolerance` of the exact minimiser of the objective over a domain.

    Parameters
    ----------
    objective : Objective
        F.
    tolerance : float
        The public distance to the exact minimiser, at least `resolution(objective, domain)`.
    domain : Domain, optional
        W, closed and convex; all of R^d if None.

    Returns
    -------
    array of shape (d,)

    Notes
    -----
    *Guarantee*: the distance holds for every data set, whatever the records. No record makes this function
    raise, warn or return without it; only the time it takes depends on the records.

    Examples
    --------
    >>> from tailguard.losses import Squared
    >>> F = Objective([[1.0], [2.0]], [1.0, 9.0], Squared(), clip=4.0, ridge=1.0, centre=[0.0], size=2)
    >>> minimise(F, tolerance=1e-9).round(6)
    array([1.666667])
    """
    _check(objective, tolerance, domain)
    with np.errstate(all="ignore"):
        point, distance = newton(objective, tolerance, domain)
        return point if distance <= tolerance else descend(objective, point, distance, tolerance, domain)


def newton(objective: Objective, tolerance: float, domain: Domain | None) -> tuple[FloatVector, float]:
    """Return the best point that Newton's method finds, and a certified bound on its distance."""
    centre = objective.pulled_centre if domain is None else domain.project(objective.pulled_centre)
    # The records pull the minimiser no further than this from the projected centre, whatever they are.
    best, least = centre, 1.001 * objective.length + tolerance
    state = start(Anchor(objective, centre), np.zeros_like(centre))
    try:
        for _ in range(NEWTON_STEPS):
            point, bound = certified(state, domain)
            best, least = (point, bound) if bound < least else (best, least)
            if least <= tolerance:
                break
            state = _near(state, newton_step(state, domain))
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        # No record is known to lead here; if one does, it must not show.
        pass
    return best, least


def _near(before: State, after: State) -> State:
    """Move the anchor once steps are much shorter than the distance from it."""
    step = np.linalg.norm(after.shift - before.shift)
    return after.anchored() if step < 1e-3 * np.linalg.norm(after.shift) else after


def _check(objective: Objective, tolerance: float, domain: Domain | None) -> None:
    if domain is not None and (not domain.convex or domain.dimension != objective.dimension):
        raise refuse("domain", "minimise", f"convex and of dimension {objective.dimension}", domain)
    finest = resolution(objective, domain)
    rule = f"at least {finest:.1e}, which is what double precision resolves here"
    real("tolerance", tolerance, "minimise", at_least=finest, rule=rule)
