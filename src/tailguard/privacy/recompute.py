"""The cost of an event tree a second time, through dp-accounting, sharing no formula with `composition`.

dp-accounting's conventions differ from ours, and some are traps. Multipliers here are for replacing a record already,
so its relation is always "add or remove" (under "replace one" its Rényi accountant forgets to double the sensitivity).
Gaussians are merged into one before it sees them. It has no bounded-range event, no disjoint blocks, no ε at δ = 0.

| branch | how |
|---|---|
| Gaussians alone | dp-accounting's closed form |
| Gaussians and others | inverse Laplace transform, never below 99 % of dp-accounting's discretised distribution |
| pure events alone | the law of their losses, enumerated, never below 99 % of dp-accounting's distribution |
| no Gaussian | Σ ε, or dp-accounting's discretised distribution |
| any | Rényi divergences from the laws themselves, order found on a grid, dp-accounting's conversion |
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import real
from tailguard.errors import PlanError
from tailguard.privacy.branches import Branch, expand
from tailguard.privacy.discretised import discretised_epsilon
from tailguard.privacy.enumerated import enumerated_epsilon
from tailguard.privacy.events import BoundedRange, Disjoint, Event, Gaussian, Laplace, Pure, Repeat, Sequential
from tailguard.privacy.inversion import inverted_epsilon

__all__ = ["recompute"]

_FEW = 4  # branches; with more, dp-accounting's discretised distributions would take too long
_LEAST_MU = 1e-6  # below, dp-accounting's difference of normal probabilities has too few digits left


def recompute(event: Event, delta: float) -> float:
    """Return an ε for which the events are (ε, δ)-differentially private, derived independently of `epsilon`.

    Parameters
    ----------
    event : Event
        A tree of the events of `tailguard.privacy`.
    delta : float
        0 ≤ δ < 1.

    Accuracy
    --------
    At most `epsilon(event, delta)`, up to a relative rounding of 1e-8; equal to it for Gaussians alone; smaller where
    exact composition is numerically feasible.

    Raises
    ------
    PlanError
        If the branches of the tree do not cost what a recursion over the tree says.

    Examples
    --------
    >>> from tailguard.privacy import Gaussian, Repeat
    >>> round(recompute(Repeat(Gaussian(multiplier=20.0), 16), delta=1e-6), 4)
    0.8341
    """
    real("delta", delta, "recompute", at_least=0.0, below=1.0)
    branches = expand(event)
    _check(event, branches)
    first = {branch: _rough(branch, delta) for branch in branches}
    worst = 0.0
    for branch in sorted(branches, key=first.__getitem__, reverse=True):
        if first[branch] <= worst:
            break  # what is left cannot be worse, however finely computed
        worst = max(worst, _fine(branch, delta, first[branch], discretise=len(branches) <= _FEW))
    return worst


def _rough(branch: Branch, delta: float) -> float:
    """Return what is cheap to compute: Σ ε and the Rényi conversion."""
    if delta == 0.0 or not math.isfinite(branch.precision):
        return branch.epsilon
    return min(branch.epsilon, _renyi(branch, delta))


def _fine(branch: Branch, delta: float, rough: float, discretise: bool) -> float:
    """Return the best of all routes."""
    if delta == 0.0 or not 0.0 < rough < 1e12:
        return rough
    if branch.precision > 0.0 and not branch.pure + branch.ranges:
        return min(rough, _coupled(lambda reserved: _gaussian(branch, reserved, rough), branch.distance, delta))
    numerical = discretised_epsilon(branch, delta, rough) if discretise else None
    if branch.precision == 0.0:
        return min(rough, _without_noise(enumerated_epsilon(branch, delta, rough), numerical))
    exact = _coupled(lambda reserved: inverted_epsilon(branch, reserved, rough), branch.distance, delta)
    return min(rough, exact if numerical is None else max(exact, 0.99 * numerical))


def _without_noise(exact: float | None, numerical: float | None) -> float:
    """Return the better of two routes to a branch without Gaussians, as far as they agree."""
    if exact is None:
        return math.inf if numerical is None else numerical
    return exact if numerical is None else max(exact, 0.99 * numerical)


def _gaussian(branch: Branch, delta: float, rough: float) -> float:
    """Return ε(δ) of exact Gaussians."""
    import numpy as np
    from dp_accounting import get_epsilon_gaussian

    mu = math.sqrt(branch.precision)
    if mu < _LEAST_MU:
        return inverted_epsilon(branch, delta, rough)
    with np.errstate(divide="ignore"):  # its logarithm of 0 is a true −∞ at enormous multipliers
        return float(get_epsilon_gaussian(1.0 / mu, delta, tol=1e-13 * rough))


def _coupled(ideal: Callable[[float], float], distance: float, delta: float) -> float:
    """Return ε with δ_ideal(ε) + (1 + e^ε)·τ ≤ δ: reserve a part of δ, solve, see whether the reserve was enough."""
    reserve = 0.0
    while reserve < delta:
        epsilon = ideal(delta - reserve)
        needed = distance * (1.0 + math.exp(epsilon)) if epsilon < 700.0 else math.inf
        if distance == 0.0 or needed <= reserve:
            return epsilon
        reserve = 1.1 * needed
    return math.inf


def _renyi(branch: Branch, delta: float) -> float:
    """Return the conversion at the best order 1 + h: a grid of h, made finer four times."""
    from dp_accounting.rdp import compute_epsilon

    low, high = math.log(1e-12), min(-math.log(delta), math.log(1e18))
    for _ in range(5):
        logs = np.linspace(low, high, 101)
        h = np.exp(logs)
        divergence = _divergence(branch, h)
        bounds = divergence + np.log(h / (1.0 + h)) - (math.log(delta) + np.log1p(h)) / h
        best = int(np.argmin(bounds))
        low, high = float(logs[max(best - 1, 0)]), float(logs[min(best + 1, 100)])
    if h[best] <= 0.01 or delta < 1e-290:  # orders that dp-accounting does not take; products that are denormal
        return max(0.0, float(bounds[best]))
    return float(compute_epsilon([1.0 + float(h[best])], [float(divergence[best])], delta)[0])


def _divergence(branch: Branch, h: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Rényi's divergence of order 1 + h, a sum over the events."""
    alpha = 1.0 + h
    total = 0.5 * branch.precision * alpha
    for epsilon, count in branch.pure:
        total += count * (np.logaddexp(alpha * epsilon, -h * epsilon) - np.logaddexp(0.0, epsilon)) / h
    for eta, count in branch.ranges:
        total += count * _selection_divergence(eta, h)
    return total


def _selection_divergence(eta: float, h: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest Rényi divergence of order 1 + h of two laws whose log ratio lies in an interval of length η.

    The worst ratio takes the end points t and t − η; in u = eᵗ the divergence is largest where its derivative vanishes.
    """
    alpha = 1.0 + h
    whole, rest = -np.expm1(-alpha * eta), -np.expm1(-h * eta)
    log_u = eta + np.log(h * whole / (alpha * rest))
    value: NDArray[np.float64] = log_u + np.log(whole / (alpha * -math.expm1(-eta))) / h
    return np.minimum(value, np.minimum(eta, alpha * eta * eta / 8.0))


def _check(event: Event, branches: tuple[Branch, ...]) -> None:
    """Compare the zCDP cost of the worst branch with a recursion over the tree, in which a maximum is a maximum."""
    worst = max(_concentrated(branch) for branch in branches)
    if math.isfinite(worst) and not math.isclose(worst, _recursive(event), rel_tol=1e-9, abs_tol=1e-90):
        raise PlanError("The branches of the event tree do not cost what the tree costs.")


def _concentrated(branch: Branch) -> float:
    pure = sum(0.5 * count * epsilon * epsilon for epsilon, count in branch.pure)
    return 0.5 * branch.precision + pure + sum(count * eta * eta / 8.0 for eta, count in branch.ranges)


def _recursive(event: Event) -> float:
    match event:
        case Repeat(child, count):
            return count * _recursive(child)
        case Sequential(children):
            return sum(map(_recursive, children))
        case Disjoint(children):
            return max(map(_recursive, children), default=0.0)
        case Gaussian(multiplier) | Laplace(multiplier):
            return 0.5 * (1.0 / multiplier) * (1.0 / multiplier)
        case Pure(epsilon):
            return 0.5 * epsilon * epsilon
        case BoundedRange(eta):
            return eta * eta / 8.0
    raise PlanError("The event tree holds an unknown event.")
