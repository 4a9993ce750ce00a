"""What an evaluation releases: numbers with their uncertainty, from released counts and sums alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailguard.solvers.base import Estimate, FloatVector

__all__ = ["Evaluated", "Measure", "area", "measured", "unknown"]


@dataclass(frozen=True)
class Measure:
    """One measured quality of a model.

    Attributes
    ----------
    name : str
        For instance "r2".
    value : float
        The released value; NaN where noise leaves nothing to see.
    standard_error : float
        Of sampling and of the noise for privacy together.
    privacy_error : float
        The part that the noise for privacy has in it.
    low, high : float
        The interval.
    """

    name: str
    value: float
    standard_error: float
    privacy_error: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Evaluated(Estimate):
    """An estimate whose coefficients are measured qualities of a model.

    Attributes
    ----------
    measures : tuple of Measure
        What was measured.
    clip : float
        An error counts at most as much as one of this size; 0 where nothing was clipped.
    """

    measures: tuple[Measure, ...] = ()
    clip: float = 0.0

    @classmethod
    def of(cls, measures: Sequence[Measure], clip: float = 0.0) -> "Evaluated":
        """Return the estimate with these measures."""
        return cls(np.array([measure.value for measure in measures]), measures=tuple(measures), clip=clip)


def measured(
    name: str, value: float, sampling: float, privacy: float, width: float, low: float, high: float
) -> Measure:
    """Return a measure with an interval around it, cut to what is possible.

    Parameters
    ----------
    name : str
        Of the measure.
    value : float
        As released; it is moved into its range too.
    sampling, privacy : float
        Variances.
    width : float
        Half of the interval, in standard errors.
    low, high : float
        Range of possible values.
    """
    error = math.sqrt(sampling + privacy)
    held = [min(max(number, low), high) for number in (value, value - width * error, value + width * error)]
    return Measure(name, held[0], error, math.sqrt(privacy), held[1], held[2])


def unknown(name: str, low: float, high: float) -> Measure:
    """Return a measure of which nothing could be seen."""
    return Measure(name, math.nan, math.inf, math.inf, low, high)


def area(counts: FloatVector, noise: float, width: float) -> Measure:
    """Return the area under the ROC curve from a released histogram of scores.

    Parameters
    ----------
    counts : vector
        Released numbers of records in the cells of the scores, ascending, of the class 0 and then of the class 1.
    noise : float
        Standard deviation of the noise in each of them.
    width : float
        Half of the interval, in standard errors.

    Notes
    -----
    Two scores in one cell count as a tie. The variance of sampling is that of Hanley and McNeil 1982, that of the noise
    is linearised.
    """
    negative, positive = counts[: counts.size // 2], counts[counts.size // 2 :]
    least = 4.0 * noise * math.sqrt(negative.size)
    below, above = float(negative.sum()), float(positive.sum())
    if min(below, above) <= max(least, 2.0):
        return unknown("auc", 0.0, 1.0)
    under = (np.cumsum(negative) - 0.5 * negative) / below
    over = (np.cumsum(positive[::-1])[::-1] - 0.5 * positive) / above
    value = float(np.sum(positive * under) / above)
    gradient = np.append((over - value) / below, (under - value) / above)
    held = min(max(value, 0.0), 1.0)
    first, second = held / (2.0 - held), 2.0 * held**2 / (1.0 + held)
    spread = held * (1.0 - held) + (above - 1.0) * (first - held**2) + (below - 1.0) * (second - held**2)
    sampling, privacy = max(spread, 0.0) / (below * above), noise**2 * float(gradient @ gradient)
    return measured("auc", value, sampling, privacy, width, 0.0, 1.0)
