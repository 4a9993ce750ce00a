"""From a budget to noise: the largest μ, ρ or η that it carries, and the smallest scale of any family of events.

Every search runs over the same closed forms that `composition` reports, and what is returned was itself tried.
"""

import math
from collections.abc import Callable

from tailguard._validate import integer
from tailguard.errors import BudgetError, ParameterError
from tailguard.privacy import cumulants
from tailguard.privacy._search import Inside, smallest
from tailguard.privacy.budget import Privacy
from tailguard.privacy.composition import epsilon, renyi_epsilon
from tailguard.privacy.events import BoundedRange, Event, Repeat
from tailguard.privacy.gaussian import log_delta

__all__ = ["bounded_range_eta", "calibrate", "gaussian_multiplier", "gdp_mu", "pure_multiplier", "zcdp_rho"]

_LEAST, _GREATEST = 1e-12, 1e12
_ROOM = 1e-7  # left in ε, relatively, for the rounding of this and of the second accountant


def calibrate(build: Callable[[float], Event], privacy: Privacy) -> float:
    """Return the smallest scale whose events are inside the budget.

    Parameters
    ----------
    build : callable
        Maps a scale s > 0 to an event tree, with more noise for larger s. Use the builder that makes the plan's own
        events; it may refuse too small or too large a scale with a `ParameterError`.
    privacy : Privacy
        The budget.

    Returns
    -------
    float
        s between 1e-12 and 1e12, with `epsilon(build(s), privacy.delta)` ≤ `privacy.epsilon`, never a hair more; the
        smallest such scale up to a relative 1e-6.

    Raises
    ------
    BudgetError
        If no scale in that range is inside the budget.

    Examples
    --------
    >>> from tailguard.privacy import Gaussian
    >>> scale = calibrate(lambda s: Repeat(Gaussian(multiplier=s), 10), Privacy(epsilon=1.0, delta=1e-6))
    >>> round(scale, 3)
    13.36
    """

    def built(scale: float) -> Event | None:
        try:
            return build(scale)
        except ParameterError:  # a mechanism refuses so little noise, or so much
            return None

    def cost(scale: float) -> float:
        event = built(scale)
        return math.inf if event is None else epsilon(event, privacy.delta)

    greatest = _GREATEST
    while greatest > 2.0 * _LEAST and built(greatest) is None:
        greatest *= 0.5
    inside = Inside(cost, privacy.epsilon * (1.0 - _ROOM))
    inside.approach(_LEAST, greatest, 3.0 * _ROOM)
    return _least_noise(inside, privacy, _ROOM, greatest)


def gaussian_multiplier(privacy: Privacy) -> float:
    """Return the noise multiplier of one Gaussian release: the smallest that is (ε, δ)-DP (Balle and Wang 2018).

    Examples
    --------
    >>> round(gaussian_multiplier(Privacy(epsilon=1.0, delta=1e-6)), 4)
    4.2247
    """
    log_target = _log_delta_of(privacy, "a Gaussian")
    return _least_noise(lambda m: log_delta(1.0 / m, privacy.epsilon) <= log_target, privacy)


def gdp_mu(privacy: Privacy) -> float:
    """Return the largest μ for which μ-GDP implies (ε, δ)-DP; Σ 1/multiplier² = μ² is what Gaussian steps may share."""
    return 1.0 / gaussian_multiplier(privacy)


def zcdp_rho(privacy: Privacy) -> float:
    """Return the largest ρ for which ρ-zCDP implies (ε, δ)-DP by the best Rényi order.

    Examples
    --------
    >>> round(zcdp_rho(Privacy(epsilon=1.0, delta=1e-6)), 5)
    0.02436
    """
    log_target = _log_delta_of(privacy, "a zCDP mechanism")

    def inside(inverse: float) -> bool:
        return renyi_epsilon(lambda h: cumulants.concentrated(1.0 / inverse, h), log_target) <= privacy.epsilon

    return 1.0 / _least_noise(inside, privacy)


def pure_multiplier(privacy: Privacy, count: int = 1) -> float:
    """Return the multiplier count/ε of each of `count` Laplace releases that share ε with nothing left to δ."""
    return integer("count", count, "pure_multiplier") / privacy.epsilon


def bounded_range_eta(privacy: Privacy, count: int = 1) -> float:
    """Return the largest η for which `count` bounded-range selections are inside the budget."""
    times = integer("count", count, "bounded_range_eta")
    return 1.0 / calibrate(lambda scale: Repeat(BoundedRange(1.0 / scale), times), privacy)


def _least_noise(
    inside: Callable[[float], bool], privacy: Privacy, tolerance: float = 1e-12, greatest: float = _GREATEST
) -> float:
    if not inside(greatest):
        raise BudgetError(f"The budget {privacy} does not carry these events at any noise.")
    return smallest(inside, _LEAST, greatest, tolerance=tolerance)


def _log_delta_of(privacy: Privacy, what: str) -> float:
    if privacy.pure:
        raise BudgetError(f"A pure budget (δ = 0) does not carry {what} at any noise.")
    return math.log(privacy.delta)
