"""dp-accounting's privacy loss distribution of a branch: numerical, pessimistic, independent of every formula here.

Each kind of event is given by the profile δ(x) of its dominating pair on a grid, joined by "connect the dots"
(Doroshenko et al. 2022), which never understates. Where the grid would be coarse, or δ near the rounding of a Fourier
transform, there is no answer.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.privacy.branches import Branch

__all__ = ["discretised_epsilon"]

_LEAST_DELTA = 1e-10  # Fourier transforms round at about 1e-14
_MOST_EVENTS = 4  # different ones; each costs a convolution
_CELLS = 5_000  # of the grid, for ε or for two standard deviations of the loss, whichever is more


@lru_cache(maxsize=128)  # a plan is verified when it is made, run and certified
def discretised_epsilon(branch: Branch, delta: float, rough: float) -> float | None:
    """Return ε(δ), or None where the discretisation could not be trusted to a part in a hundred.

    Parameters
    ----------
    branch : Branch
        Its `distance` is ignored.
    delta : float
        δ > 0.
    rough : float
        Roughly ε; sets the grid.
    """
    from dp_accounting.pld import privacy_loss_distribution as pld

    costs = branch.pure + branch.ranges
    spread = math.sqrt(branch.precision + sum(count * cost * cost for cost, count in costs))
    grid = max(rough, 2.0 * spread) / _CELLS
    if delta < _LEAST_DELTA or len(costs) > _MOST_EVENTS or any(cost < 8.0 * grid for cost, _ in costs):
        return None
    parts = [_events(epsilon, count, grid, _randomised_response) for epsilon, count in branch.pure]
    parts += [_events(eta, count, grid, _bounded_range) for eta, count in branch.ranges]
    if branch.precision > 0.0:
        deviation = 1.0 / math.sqrt(branch.precision)
        parts.append(pld.from_gaussian_mechanism(deviation, value_discretization_interval=grid))
    total = parts[0]
    for part in parts[1:]:
        total = total.compose(part)
    return float(total.get_epsilon_for_delta(delta))


def _events(cost: float, count: int, grid: float, profile: Any) -> Any:
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld import privacy_loss_distribution as pld

    last = math.ceil(cost / grid)
    losses = grid * np.arange(-last, last + 1)
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(grid, -last, last, profile(cost, losses))
    return pld.PrivacyLossDistribution(pmf).self_compose(count)


def _randomised_response(epsilon: float, x: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = -np.expm1(np.minimum(x - epsilon, 0.0)) / (1.0 + math.exp(-epsilon))
    return np.maximum(inside, -np.expm1(np.minimum(x, 0.0)))


def _bounded_range(eta: float, x: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.expm1(0.5 * np.clip(x - eta, -2.0 * eta, 0.0)) ** 2 / -math.expm1(-eta)
    return np.maximum(inside, -np.expm1(np.minimum(x, 0.0)))
