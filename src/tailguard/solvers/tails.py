"""What lies beyond a level: the mean excess of a tail, and how well it is known, from one released histogram.

Clipping at a level takes E(r − level)₊ from a mean of magnitudes r. Where the level is, a noisy histogram sees little;
below it, it sees how fast masses fall. A power law through those cells carries on: every order has a likelihood, the
noise being known, and the mean and the deviation of the excess over the orders say what was lost and how sure that is.
Averages over orders are mostly of light tails; the heaviest tail that the likelihood allows says how far up it may be.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from tailguard.solvers.base import FloatVector
from tailguard.solvers.clip_level import CELLS, LIGHTEST, SUBSTEPS, Histogram
from tailguard.solvers.spread import LOW

__all__ = ["Excess", "leaning", "mean_excess", "taken"]

SEEN = 5.0
"""The power law begins where so many deviations of noise lie beyond, or at the level if that is nearer: further in,
laws are not yet like powers, and further out nothing is seen."""

MOST = 0.25
"""Largest share of the records that is called a tail."""

LEAST_NOISE = 1e-12
"""Least noise of a cell that is believed, as a share of n."""

HEAVIEST = 1.25
"""Least order of a tail that has a mean to speak of."""

ALLOWED = float(ndtri(0.975))
"""Tails are allowed whose likelihood is as near to the largest one as that of a number within so many deviations."""

LEAN = (0.05, 0.2)
"""Mean ÷ root mean square, both from the median, up to which a tail counts as two-sided and from which on as
one-sided."""


class Excess(NamedTuple):
    """What lies beyond a level on average, and how well that is known.

    Attributes
    ----------
    mean, deviation : float
        Over all tails that agree with the histogram.
    far : float
        Half of the way from the mean up to the largest excess of a tail that the likelihood allows, at least
        `deviation`: few tails are heavy and lose much. (In ends of 95 % intervals, so by 1.96 and not by 2.)
    """

    mean: float
    deviation: float
    far: float


def mean_excess(sizes: Histogram, level: float, order: float = 2.0) -> Excess:
    """Return the mean of (r − level)₊ over the records' magnitudes r, and how well it is known.

    Parameters
    ----------
    sizes : Histogram
        Released, of the magnitudes.
    level : float
        Where they are clipped, public or released.
    order : float, default=2.0
        Least tail order to believe. Inverses of orders from here to 8 are equally likely before the histogram is seen.

    Examples
    --------
    Three records of four are at most 1, and beyond that masses fall by a power law of order 3:

    >>> from tailguard.solvers.clip_level import CELLS, Histogram
    >>> from tailguard.solvers.spread import LOW
    >>> mass, edges = np.zeros(CELLS), 2.0 ** (np.arange(40) / 2)
    >>> mass[-2 * LOW - 1], mass[-2 * LOW : -2 * LOW + 39] = 0.75, -np.diff(0.25 * edges**-3.0)
    >>> excess, doubt, _ = mean_excess(Histogram(mass, 1e-5), 10.0)  # the power law says 0.25 × 10⁻³ × 10 ÷ (3 − 1)
    >>> round(excess, 4), doubt < 0.2 * excess
    (0.0013, True)
    """
    first = _first(sizes, level)
    orders = 1.0 / np.linspace(1.0 / LIGHTEST, 1.0 / min(max(order, HEAVIEST), LIGHTEST - 1.0), 40)
    mass = np.clip(sizes.mass[first:-1], -1.0, 1.0)  # the last cell holds infinities, which contribute nothing
    edges = np.exp2(LOW + np.arange(first, CELLS) / SUBSTEPS)
    beyond = (edges / edges[0]) ** -orders[:, np.newaxis]
    falls = beyond[:, :-1] - beyond[:, 1:]
    weight, noise = np.sum(falls**2, axis=1), max(sizes.noise, LEAST_NOISE)
    found = falls @ mass / weight
    amount = np.maximum(found, 0.0)
    fit = 0.5 * weight * (amount / noise) ** 2
    likely = np.exp(fit - fit.max()) / np.sqrt(weight)
    likely /= likely.sum()
    lost = max(level, edges[0]) * (max(level, edges[0]) / edges[0]) ** -orders / (orders - 1.0)
    mean = float(likely @ (amount * lost))
    square = float(likely @ ((amount**2 + noise**2 / weight) * lost**2))
    deviation = float(np.sqrt(max(square - mean**2, 0.0)))
    # The amounts of an order that are allowed lie where a parabola, its logarithmic likelihood, is high enough.
    high = found**2 - (2.0 * fit.max() - ALLOWED**2) * noise**2 / weight
    top = float(np.max(np.where(high >= 0.0, (found + np.sqrt(np.maximum(high, 0.0))) * lost, 0.0)))
    return Excess(mean, deviation, max((top - mean) / ALLOWED, deviation))


def leaning(mean: FloatVector, square: FloatVector, noise: float) -> FloatVector:
    """Return on which side of the median the tails are, from −1 to 1: a mean far from its median tells."""
    apart = mean / np.sqrt(np.maximum(square, np.square(mean) + noise**2))
    return np.asarray(np.sign(apart) * np.clip((np.abs(apart) - LEAN[0]) / (LEAN[1] - LEAN[0]), 0.0, 1.0))


def taken(sizes: Histogram, level: float, apart: float, order: float = 2.0) -> float:
    """Return what clipping at a level takes from the mean of residuals, with its sign.

    Parameters
    ----------
    sizes : Histogram
        Released, of the residuals' magnitudes.
    level : float
        Where they are clipped.
    apart : float
        Released: how far their clipped mean lies from their median, which says on which side their tail is.
    order : float, default=2.0
        Least tail order to believe, as in `mean_excess`.
    """
    # A mean of clipped numbers has about the noise that a cell has, in units of the level.
    lean = leaning(np.array([apart]), np.array([sizes.mean_square(level)]), max(sizes.noise * level, 1e-100))
    return float(lean[0]) * mean_excess(sizes, level, order).mean


def _first(sizes: Histogram, level: float) -> int:
    """Return the cell with which the tail begins."""
    start = min(sizes.beyond(min(SEEN * max(sizes.noise, LEAST_NOISE), MOST)), level)
    return int(np.clip(np.floor((np.log2(start) - LOW) * SUBSTEPS), 1, CELLS - 3))
