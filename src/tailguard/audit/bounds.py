"""From guesses to ε: lower bounds that are too high with a known small probability only.

Clopper and Pearson's limits hold for every number of runs. Nothing is assumed of the scores.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv, ndtri

from tailguard.privacy import calibrate
from tailguard.privacy.budget import Privacy
from tailguard.privacy.events import BoundedRange, Disjoint, Event, Gaussian, Laplace, Pure, Repeat, Sequential
from tailguard.statistics.arrays import FloatVector

__all__ = ["Recognition", "gdp_mu_lower", "noise_upper", "recognition", "share_lower", "share_upper", "with_noise"]

Flags = NDArray[np.bool_]
Counts = NDArray[np.int64]

_NEXT_TO_NOTHING = 1e-9
"""An ε that stands for 0, because a budget must be positive."""


def share_lower(hits: Counts | int, trials: Counts | int, risk: float) -> FloatVector:
    """Return a bound that a probability is below with probability at most `risk`, from hits among trials.

    Examples
    --------
    >>> float(share_lower(90, 100, 0.01).round(3))
    0.809
    """
    k, n = np.asarray(hits, np.float64), np.asarray(trials, np.float64)
    return np.where(k > 0.0, betaincinv(np.maximum(k, 1.0), n - k + 1.0, risk), 0.0)


def share_upper(hits: Counts | int, trials: Counts | int, risk: float) -> FloatVector:
    """Return a bound that a probability is above with probability at most `risk`, from hits among trials."""
    k, n = np.asarray(hits, np.float64), np.asarray(trials, np.float64)
    return np.where(k < n, betainccinv(k + 1.0, np.maximum(n - k, 1.0), risk), 1.0)


@dataclass(frozen=True)
class Recognition:
    """How well one of two data sets is recognised by its scores, with a threshold that other runs have chosen.

    Attributes
    ----------
    epsilon : float
        Lower bound on ε at the given δ.
    power : float
        Share of the runs on that data set that were recognised.
    false_alarms : float
        Share of the runs on the other one that were taken for it.
    """

    epsilon: float
    power: float
    false_alarms: float


def recognition(scores: FloatVector, first: Flags, delta: float, risk: float) -> Recognition:
    """Return how well a data set is recognised, and the least ε that allows it: power ≤ e^ε × false alarms + δ.

    The first half of the runs chooses the data set and the threshold; the second half is judged.

    Parameters
    ----------
    scores : float64 vector
        One for each run, high where it seems to be on the first data set.
    first : boolean vector
        Whether it was.
    delta, risk : float
        δ, and the probability that the bound on ε is above the truth.
    """
    half, sides = scores.size // 2, (_Side(scores, first), _Side(-scores, ~first))
    choices = [(*side.part(slice(half)).best_threshold(delta, 0.5 * risk), side) for side in sides]
    bound, threshold, side = max(choices, key=lambda choice: choice[0])
    if bound == 0.0:  # nothing to be shown: a plain guess then, which is at least readable
        threshold, side = 0.0, sides[0]
    return side.part(slice(half, None)).judged(threshold, delta, 0.5 * risk)


@dataclass(frozen=True)
class _Side:
    """Runs, with scores that are high where they seem to be on the data set that is to be recognised."""

    scores: FloatVector
    truth: Flags

    def part(self, runs: slice) -> "_Side":
        return _Side(self.scores[runs], self.truth[runs])

    def best_threshold(self, delta: float, risk: float) -> tuple[float, float]:
        """Return the largest bound on ε, and the threshold that it takes."""
        thresholds = np.unique(self.scores)
        bounds = self._bounds(thresholds, delta, risk)
        place = int(np.argmax(bounds))
        return float(bounds[place]), float(thresholds[place])

    def judged(self, threshold: float, delta: float, risk: float) -> Recognition:
        at = np.array([threshold])
        hits, alarms = (float(self._reached(at, truth)[0]) / max(1, self._runs(truth)) for truth in (True, False))
        return Recognition(float(self._bounds(at, delta, risk)[0]), hits, alarms)

    def _bounds(self, thresholds: FloatVector, delta: float, risk: float) -> FloatVector:
        power = share_lower(self._reached(thresholds, True), self._runs(True), risk)
        alarms = share_upper(self._reached(thresholds, False), self._runs(False), risk)
        return np.log(np.maximum((power - delta) / alarms, 1.0))

    def _reached(self, thresholds: FloatVector, truth: bool) -> Counts:
        """Return how many runs of a kind have scores at or above each threshold."""
        ordered = np.sort(self.scores[self.truth == truth])
        return ordered.size - np.searchsorted(ordered, thresholds)

    def _runs(self, truth: bool) -> int:
        return int(np.count_nonzero(self.truth == truth))


def gdp_mu_lower(right: int, runs: int, risk: float) -> float:
    """Return a lower bound on μ: under μ-GDP a guess between two equally likely data sets is right with P ≤ Φ(μ/2)."""
    return 2.0 * float(ndtri(max(0.5, float(share_lower(right, runs, risk)))))


def noise_upper(event: Event, right: int, runs: int, risk: float) -> float:
    """Return the largest factor on all noise of a plan that is compatible with so many right guesses.

    Between two equally likely data sets a guess is right with probability at most ½(1 + δ(0)), δ(0) what the plan
    allows at ε = 0. For Gaussian noise alone this is the bound on μ above, as in Nasr et al. 2023.

    Parameters
    ----------
    event : Event
        The plan's events.
    right, runs : int
        Number of right guesses, and of guesses.
    risk : float
        Probability that the bound is below the truth.
    """
    advantage = 2.0 * float(share_lower(right, runs, risk)) - 1.0 - _NEXT_TO_NOTHING
    if advantage <= 0.0:
        return float("inf")
    return calibrate(lambda factor: with_noise(event, factor), Privacy(_NEXT_TO_NOTHING, advantage))


def with_noise(event: Event, factor: float) -> Event:
    """Return the events of the same plan with all its noise scaled by a factor.

    Examples
    --------
    >>> with_noise(Sequential((Gaussian(4.0), BoundedRange(0.5))), 0.5)
    Sequential(events=(Gaussian(multiplier=2.0, distance=0.0), BoundedRange(eta=1.0)))
    """
    match event:
        case Gaussian(multiplier, distance):
            return Gaussian(factor * multiplier, min(1.0, distance / factor**2))
        case Laplace(multiplier):
            return Laplace(factor * multiplier)
        case BoundedRange(eta):
            return BoundedRange(eta / factor)
        case Pure(cost):
            return Pure(cost / factor)
        case Repeat(repeated, count):
            return Repeat(with_noise(repeated, factor), count)
        case Sequential(events):
            return Sequential(tuple(with_noise(part, factor) for part in events))
        case Disjoint(events):
            return Disjoint(tuple(with_noise(part, factor) for part in events))
    raise TypeError(f"No accountant knows {type(event).__name__}.")
