"""How likely a release is on given records: what an adversary who knows all records but one computes.

Written a second time, from the laws alone: an attack must not believe the code that it attacks. Any score gives a valid
bound on ε; the likelihood ratio gives the best one (Neyman and Pearson).
"""

import math

import numpy as np

from tailguard.engines.selection import Selection
from tailguard.mechanisms import Gaussian, L2Laplace, Laplace, LaplacePeeling, NoisyMax, Peeling, TopK
from tailguard.mechanisms.base import FloatVector, IntVector, Norm
from tailguard.plans.step import Step
from tailguard.statistics import PerturbedMinimiser
from tailguard.statistics.base import Statistic

__all__ = ["distance", "log_likelihood"]

_TICK = 0.05
_CLOCK = np.arange(-30.0, 12.0, _TICK)
"""Logarithms of times at which the chance of a set of picks is summed up."""


def log_likelihood(step: Step, statistic: Statistic, source: Selection, released: IntVector) -> float:
    """Return the log-likelihood of a release on these records, up to a constant that no record changes.

    Exact for noise on a value, for picks by Gumbel noise and for perturbed objectives (but for the little noise that
    covers the solver's tolerance). Picks by Laplace noise are scored as if they were Gumbel's; what is unknown here, by
    the distance between release and exact value.

    Parameters
    ----------
    step : Step
        The plan's step; its multiplier and sensitivity give the scale of the noise.
    statistic : Statistic
        What was asked.
    source : Selection
        The records.
    released : int64 vector
        What the mechanism returned, on the grid; for selections, the indices.
    """
    scale = step.mechanism.noise(step.multiplier, step.sensitivity, step.dimension)
    if isinstance(statistic, PerturbedMinimiser):
        return _perturbed(statistic, source, released, scale)
    exact = statistic.evaluate(source).astype(np.float64)
    match step.mechanism:
        case NoisyMax() | TopK():
            return _picked(exact / scale, released)
        case Peeling() | LaplacePeeling():
            chosen = np.flatnonzero(released)
            added = (released[chosen] - exact[chosen]) / scale
            noise = _gaussian(added) if isinstance(step.mechanism, Peeling) else _laplace(added)
            return _set_picked(np.abs(exact) / scale, chosen) + noise
        case Gaussian():
            return _gaussian((released - exact) / scale)
        case Laplace() | L2Laplace(sampling="grid"):
            return _laplace((released - exact) / scale)
    return -float(np.linalg.norm((released - exact) / scale))


def distance(change: FloatVector | IntVector, norm: Norm) -> float:
    """Return the length of a change of exact values, in the norm of their mechanism."""
    order = {"l1": 1, "l2": 2, "linf": np.inf, "tilt": 2}[norm]
    return float(np.linalg.norm(change.astype(np.float64), order))


def _gaussian(added: FloatVector) -> float:
    return -0.5 * float(added @ added)


def _laplace(added: FloatVector) -> float:
    return -float(np.abs(added).sum())


def _log_sum(exponents: FloatVector) -> float:
    return float(np.logaddexp.reduce(exponents))


def _picked(scores: FloatVector, chosen: IntVector) -> float:
    """Return ln P of picks in this order: each an exponential mechanism on what is left."""
    left, total = np.array(scores), 0.0
    for index in chosen:
        total += float(left[index] - _log_sum(left))
        left[index] = -math.inf
    return total


def _set_picked(scores: FloatVector, chosen: IntVector) -> float:
    """Return ln P that these are the picks, in whatever order.

    Candidates are clocks that ring at rates e^score. With T the time of the first of the others, exponential with their
    total rate R, the chance is E ∏ (1 − exp(−rate·T)) over the chosen: a sum over a fine grid of ln(R·T).
    """
    others = np.delete(scores, chosen)
    if not others.size:
        return 0.0
    rung = scores[chosen, None] - _log_sum(others) + _CLOCK
    early = np.where(rung < -30.0, rung, np.log(-np.expm1(-np.exp(np.clip(rung, -30.0, 4.0)))))
    return _log_sum(early.sum(axis=0) + _CLOCK - np.exp(_CLOCK)) + math.log(_TICK)


def _perturbed(statistic: PerturbedMinimiser, source: Selection, released: IntVector, scale: float) -> float:
    """Return the log-density of a perturbed minimiser: that of the tilt that leads there, by change of variables."""
    objective, point = statistic.objective(source), released * statistic.unit
    tilt = objective.gradient(point) / (statistic.ridge * statistic.unit * scale)
    return float(np.linalg.slogdet(objective.hessian(point) / statistic.ridge)[1] - np.linalg.norm(tilt))
