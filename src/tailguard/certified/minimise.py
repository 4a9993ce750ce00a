"""A point within a public distance of the exact minimiser, for every data set (minimise.md)."""

import numpy as np

from tailguard._validate import real, refuse
from tailguard.certified.anchor import Anchor
from tailguard.certified.certificate import certified
from tailguard.certified.kernels import FloatVector
from tailguard.certified.newton import State, newton_step, start
from tailguard.certified.objective import Objective
from tailguard.domains.base import Domain

__all__ = ["minimise"]

NEWTON_STEPS = 100


def minimise(objective: Objective, tolerance: float, domain: Domain | None = None) -> FloatVector:
    """Return a point within `tolerance` of argmin F over W.

    Parameters
    ----------
    objective : Objective
        F.
    tolerance : float
        The public distance to the exact minimiser.
    domain : Domain, optional
        W, closed and convex; all of R^d if None.

    Returns
    -------
    array of shape (d,)
    """
    distance = real("tolerance", tolerance, "minimise", above=0.0)
    if domain is not None and (not domain.convex or domain.dimension != objective.dimension):
        raise refuse("domain", "minimise", f"a convex domain of dimension {objective.dimension}", domain)
    with np.errstate(all="ignore"):
        point, bound = newton(objective, distance, domain)
    return point


def newton(objective: Objective, tolerance: float, domain: Domain | None) -> tuple[FloatVector, float]:
    """Return the best certified point that Newton's method finds, and the bound on its distance."""
    centre = objective.pulled_centre if domain is None else domain.project(objective.pulled_centre)
    state = start(Anchor(objective, centre), np.zeros_like(centre))
    best, least = certified(state, domain)
    for _ in range(NEWTON_STEPS):
        if least <= tolerance:
            break
        following = newton_step(state, domain)
        state = _near(state, following)
        point, bound = certified(state, domain)
        if bound < least:
            best, least = point, bound
    return best, least


def _near(before: State, after: State) -> State:
    """Move the anchor once steps are much shorter than the distance from it."""
    step = np.linalg.norm(after.shift - before.shift)
    return after.anchored() if step < 1e-3 * np.linalg.norm(after.shift) else after
