"""What a calibration says of slopes: how long they are along the line, and one wide gradient across it."""

import math
from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tailguard.solvers.base import FloatVector, Query, Released, Uncertainty
from tailguard.solvers.clip_level import of_reply
from tailguard.solvers.matrices import TINY, Matrix, held, inverted
from tailguard.solvers.step_log import Log, gradient_of, last_steps
from tailguard.statistics.weighted import Weighted

__all__ = ["REACH", "Line", "across", "along", "corrected", "unequal"]

REACH = 2.0
"""Rows up to the square of this times the radius have their whole part in the bread, where rows count by ω, not ω²."""

WIDE = 10.0
"""Wanted mass beyond the level of the wide gradient, in units of the noise in a cell of the residuals' histogram."""

UNEQUAL = 1.0
"""Squared error of slopes across the line, beside what tight levels took along it, squared."""

LEFT = 0.125
"""What the levels of a calibration still take from the length of slopes, as a part of what tight levels took, where
nothing is known of it: between nothing and a quarter."""

CERTAIN = 1.5
"""So many deviations of a calibrated length are noise and nothing else."""

FARTHEST = 20.0
"""Largest factor of a calibration that is believed."""


@dataclass(frozen=True, eq=False)
class Line:
    """What a calibration finds: a direction of whitened slopes, the length along it, and the variance of that.

    Attributes
    ----------
    direction : float64 vector
        Of length 1.
    length, variance : float
        Along it, and how well that is known.
    level : float
        Of residuals, by which it was found.
    left : float
        What this level still takes from it, as a part of what tight levels took.
    """

    direction: FloatVector
    length: float
    variance: float
    level: float = math.inf
    left: float = LEFT


def along(line: Line, found: Uncertainty) -> Uncertainty:
    """Return the uncertainty of slopes times the factor that gives them the calibrated length.

    Tight levels shorten all slopes by about the same factor where skewed noise grows with the prediction. Along the
    line, the slopes are then as uncertain as the calibrated length; across it, as they were, times the factor.
    """
    r = line.direction.size
    slopes, along = found.centre[:r], float(found.centre[:r] @ line.direction)
    left = line.left * (line.length - along)
    factor = (line.length + left) / along if along > 0.0 else 0.0
    if not 1.0 / FARTHEST <= factor <= FARTHEST:  # there is no line to speak of
        return found
    across = np.eye(found.centre.size)
    across[:r, :r] = factor * (np.eye(r) - np.outer(slopes / along, line.direction))
    covariance = across @ found.covariance @ across.T
    covariance[:r, :r] += (line.variance + left**2) * np.outer(slopes, slopes) / along**2
    return Uncertainty(np.append(factor * slopes, found.centre[r:]), covariance)


def across(
    line: Line, tight: Uncertainty, found: Uncertainty, bread: Matrix, log: Log, grid: tuple[int, int]
) -> Generator[Query, Released, Uncertainty]:
    """Ask for the "wide gradient" and return the uncertainty of slopes that tight levels have shortened unequally.

    Where a calibration found slopes shortened, by more than its noise explains, they have not all been shortened by the
    same factor: across the line they may be off by about as much as they were along it, which is an a priori variance.
    One gradient with residuals clipped widely tells by how much each one is, with a known noise. Where slopes had not
    been shortened, nothing is believed of it, and nothing is lost.
    """
    (n, bits), last, replies = grid, last_steps(log)[-1][0].statistic, {query.step: reply for query, reply in log}
    assert isinstance(last, Weighted)
    sizes, rows = of_reply(replies["calibration level"], n), of_reply(replies["leverage level"], n)
    limit = max(sizes.beyond(WIDE * sizes.noise), last.limit)
    gradient = replace(gradient_of(last), point=held(found.centre))
    reply = yield Query("wide gradient", Weighted(gradient, last.radius, limit, bits))
    with np.errstate(all="ignore"):
        # The derivative has the shape of the bread; how large it is without tight levels, the rows' lengths say.
        size = rows.leverage(last.radius, REACH**2 * last.radius) / max(float(np.trace(bread)), TINY)
        inverse = inverted(bread * size)
        noise = (reply.noise / n) ** 2 * inverse @ inverse + sizes.mean_square(limit) / n * inverse
        return corrected(found, -inverse @ (reply.value / n), noise, unequal(line, tight))


def unequal(line: Line, tight: Uncertainty) -> Matrix:
    """Return the a priori covariance of what tight levels took from slopes across the line."""
    r = line.direction.size
    along = float(tight.centre[:r] @ line.direction)
    lost = max((line.length - along) ** 2 - CERTAIN**2 * line.variance, 0.0)
    return held(UNEQUAL * lost / (r - 1) * (np.eye(r) - np.outer(line.direction, line.direction)))


def corrected(found: Uncertainty, moved: FloatVector, noise: Matrix, prior: Matrix) -> Uncertainty:
    """Return the uncertainty after a correction of the slopes with this noise, by Bayes."""
    r = len(prior)
    noise = held(noise[:r, :r])
    gain = prior @ np.linalg.pinv(prior + noise, hermitian=True)
    centre, covariance = found.centre.copy(), found.covariance.copy()
    centre[:r] += gain @ held(moved[:r])
    covariance[:r, :r] += gain @ noise
    return replace(found, centre=centre, covariance=covariance)
