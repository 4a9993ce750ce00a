"""What an event tree costs in (ε, δ): closed forms, one for each way of looking at a branch, and the best of them.

All bounds but one are instances of one inequality. Let the privacy loss of a branch be a part with the exact profile
δ_μ of a Gaussian (μ = 0: no such part) plus a part with cumulant at most K. Then for every x, with h = −d ln δ_μ(x)/dx,

    ε(δ) ≤ x + (K(h) + ln δ_μ(x) − ln δ)/h.

* **Rényi**: μ = 0 and every event in K. For zCDP events this is the conversion of Canonne, Kamath and Steinke (2020).
  A discrete Gaussian is exactly zCDP, so nothing has to be added.
* **Responses**: pure events alone, and not too many different ones, have an exact closed form of their own
  (`responses.py`).
* **Pair**: Gaussians exactly, the others through the cumulants of fixed dominating pairs. For Gaussians alone this is
  Gaussian differential privacy (Dong, Roth and Su 2022), that is Balle and Wang's analytic formula. Laws that are not
  Gaussian, but within total variation τ of it, add (1 + e^ε)·τ to δ.

The proofs are in the note of the same name. Any x gives a valid bound: the accuracy of a search never decides validity.
"""

import math
from collections.abc import Callable
from typing import TypeAlias

from tailguard._validate import real
from tailguard.privacy import cumulants
from tailguard.privacy._search import crossing, smallest
from tailguard.privacy.branches import Branch, Costs, expand
from tailguard.privacy.events import Event
from tailguard.privacy.gaussian import hazard, log_delta
from tailguard.privacy.responses import MOST_ATOMS, atoms, responses_epsilon

__all__ = ["delta", "epsilon", "renyi_epsilon"]

CumulantFunction: TypeAlias = Callable[[float], cumulants.Cumulant]

_ENDLESS = 1e100  # a cost that no budget carries
_LEAST_ORDER, _GREATEST_ORDER = 1e-12, 1e18  # of h, the Rényi order less one
_GREATEST_LOSS = 1e9  # of h times a pure cost, where Rényi's divergence has long reached that cost
_TINY = 5e-324


def epsilon(event: Event, delta: float) -> float:
    """Return an ε for which the events are (ε, δ)-differentially private, for replacing one record.

    Parameters
    ----------
    event : Event
        A tree of the events of `tailguard.privacy`.
    delta : float
        0 ≤ δ < 1. At δ = 0 only pure events have a finite cost.

    Guarantee
    ---------
    Holds for adaptive choices: each event may depend on what earlier ones released, if the tree is fixed beforehand.

    Accuracy
    --------
    Exact for Gaussians alone and for pure events alone. Rounding is below 1e-9 of ε; `calibrate` leaves room for it.

    Examples
    --------
    >>> from tailguard.privacy import Gaussian, Repeat
    >>> round(epsilon(Repeat(Gaussian(multiplier=20.0), 16), delta=1e-6), 4)
    0.8341
    """
    real("delta", delta, "epsilon", at_least=0.0, below=1.0)
    return _worst(expand(event), delta)


def delta(event: Event, epsilon: float) -> float:
    """Return a δ for which the events are (ε, δ)-differentially private: the smallest with `epsilon(event, δ)` ≤ ε.

    Parameters
    ----------
    event : Event
        A tree of the events of `tailguard.privacy`.
    epsilon : float
        ε ≥ 0.

    Examples
    --------
    >>> from tailguard.privacy import Gaussian
    >>> f"{delta(Gaussian(multiplier=1.0), epsilon=1.0):.6f}"
    '0.126937'
    """
    real("epsilon", epsilon, "delta", at_least=0.0)
    branches = expand(event)
    if _worst(branches, 0.0) <= epsilon:
        return 0.0
    return smallest(lambda candidate: candidate == 1.0 or _worst(branches, candidate) <= epsilon, _TINY, 1.0)


def renyi_epsilon(cumulant: CumulantFunction, log_target: float, greatest: float = _GREATEST_ORDER) -> float:
    """Return ε(δ) of a loss with a known cumulant, at ln δ = `log_target`: Rényi's conversion, best h ≤ `greatest`.

    Without a Gaussian part, δ_0(x) = 1 − eˣ for x < 0, so that x = −ln(1 + 1/h) and ln δ_0(x) = −ln(1 + h).
    """

    def point(log_order: float) -> tuple[float, float, float]:
        h = math.exp(log_order)
        return -math.log1p(1.0 / h), h, -math.log1p(h)

    high = min(-log_target, math.log(greatest))
    return _chernoff(point, cumulant, log_target, math.log(_LEAST_ORDER), high, tolerance=1e-8)


def _worst(branches: tuple[Branch, ...], delta: float) -> float:
    return max(_branch_epsilon(branch, delta) for branch in branches)


def _branch_epsilon(branch: Branch, delta: float) -> float:
    pure = branch.epsilon
    dearest = max((cost for cost, _ in branch.pure + branch.ranges), default=0.0)
    if delta == 0.0 or max(branch.precision, dearest) > _ENDLESS:
        return pure
    greatest = min(_GREATEST_ORDER, _GREATEST_LOSS / max(dearest, 1.0 / _ENDLESS))
    renyi = renyi_epsilon(lambda h: _renyi_cumulant(branch, h), math.log(delta), greatest)
    return min(pure, renyi, _pair_epsilon(branch, delta), _responses_epsilon(branch, delta))


def _responses_epsilon(branch: Branch, delta: float) -> float:
    """Return the exact composition of pure events, infinite with any others or too many different ones."""
    if branch.precision > 0.0 or branch.ranges or not branch.pure or atoms(branch.pure) > MOST_ATOMS:
        return math.inf
    return responses_epsilon(branch.pure, math.log(delta))


def _pair_epsilon(branch: Branch, delta: float) -> float:
    """Return the smallest ε found with δ_ideal(ε) + (1 + e^ε)·τ ≤ δ, infinite where there is none or no Gaussian."""
    if branch.precision == 0.0:
        return math.inf
    candidate, reserve = _ideal_epsilon(branch, delta), 0.0
    while _coupling(branch.distance, candidate) > reserve:
        reserve = 1.1 * _coupling(branch.distance, candidate)  # a tenth more ends the search in a few rounds
        if reserve >= delta:
            return math.inf
        candidate = _ideal_epsilon(branch, delta - reserve)
    return candidate


def _coupling(distance: float, epsilon: float) -> float:
    """Return (1 + e^ε)·τ."""
    if distance == 0.0:
        return 0.0
    return math.inf if epsilon > 700.0 else distance * (1.0 + math.exp(epsilon))


def _ideal_epsilon(branch: Branch, delta: float) -> float:
    mu, log_target = math.sqrt(branch.precision), math.log(delta)

    def point(x: float) -> tuple[float, float, float]:
        return x, hazard(mu, x), log_delta(mu, x)

    high = mu * (0.5 * mu + math.sqrt(-2.0 * log_target))  # Chernoff: δ_μ is below δ here
    low = mu * (0.5 * mu - 8.0) - 30.0 / (1.0 + mu)  # the hazard is about 1e-13 here, smaller than any order in use
    return _chernoff(point, lambda h: _pair_cumulant(branch, h), log_target, low, high, tolerance=1e-8 * high)


def _chernoff(
    point: Callable[[float], tuple[float, float, float]],
    cumulant: CumulantFunction,
    log_target: float,
    low: float,
    high: float,
    tolerance: float,
) -> float:
    """Minimise x + (K(h) + ln δ_μ(x) − ln δ)/h along a curve of (x, h, ln δ_μ(x)) on which h increases."""

    def stationarity(parameter: float) -> float:
        _, h, log_mass = point(parameter)
        value, slope = cumulant(h)
        return log_mass - log_target - (h * slope - value)

    x, h, log_mass = point(crossing(stationarity, low, high, tolerance))
    return max(0.0, x + (cumulant(h)[0] + log_mass - log_target) / h)


def _renyi_cumulant(branch: Branch, h: float) -> cumulants.Cumulant:
    parts = [cumulants.concentrated(0.5 * branch.precision, h)]
    return _add(parts + _each(cumulants.pure, branch.pure, h) + _each(cumulants.selection, branch.ranges, h))


def _pair_cumulant(branch: Branch, h: float) -> cumulants.Cumulant:
    return _add(_each(cumulants.pure, branch.pure, h) + _each(cumulants.selection_pair, branch.ranges, h))


def _each(kind: Callable[[float, float], cumulants.Cumulant], costs: Costs, h: float) -> list[cumulants.Cumulant]:
    pairs = [(kind(cost, h), count) for cost, count in costs]
    return [(count * value, count * slope) for (value, slope), count in pairs]


def _add(parts: list[cumulants.Cumulant]) -> cumulants.Cumulant:
    return math.fsum(value for value, _ in parts), math.fsum(slope for _, slope in parts)
