"""A clip level that grows with the sample, from one noisy histogram of norms.

The best level leaves a tail mass beyond it that falls like 1/(n × budget). A released histogram shows where that much
mass lies, down to what its noise resolves; beyond that, the level follows the power law of the last resolved octave.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from tailguard.solvers.base import FloatVector, Query, Released, Setting
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.either import Either
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Scalars

__all__ = ["CELLS", "ClipLevel", "Histogram", "clip_level", "histogram", "of_reply"]

SUBSTEPS = 2
CELLS = (HIGH - LOW) * SUBSTEPS
"""Half octaves of every norm we look at."""

FALSE_ALARM = 1e-4
"""Probability that noise alone makes a cell look occupied: the level would be absurdly wide then."""

RESOLVED = 3.0
"""More mass than so many noise deviations would have been seen."""

WIDTHS = (1, 2, 4, 8)
"""Numbers of neighbouring cells that are looked at together: residuals may be spread thinly over four octaves."""

FARTHER = 5
"""Octaves beyond a level in which all of a tail lies that counts; farther out cells are noise."""

LIGHTEST = 8.0
"""Largest tail order that is read off a histogram: beyond it the level hardly moves any more."""


@dataclass(frozen=True, eq=False)
class Histogram:
    """A released histogram of magnitudes over half octaves, as shares of n with this noise in each cell.

    Attributes
    ----------
    mass : float64 vector
        Noisy shares.
    noise : float
        Their deviation.
    exponential : bool, default=False
        Whether they have the tails of Laplace's law.
    """

    mass: FloatVector
    noise: float
    exponential: bool = False

    def beyond(self, tail: float, order: float = 2.0) -> float:
        """Return the level beyond which this share of the records lies that are not 0.

        Beyond what the histogram resolves, the level is carried out by the power law that its last resolved octave
        shows, of order at least `order`: where mass a lies beyond r, mass b < a lies beyond r·(a/b)^(1/order).
        """
        edges = np.exp2(LOW + np.arange(CELLS + 1) / SUBSTEPS)
        mass = self.mass[:-1]  # the last cell holds infinities, which contribute nothing
        if self.zeros:  # to which no level matters
            tail *= max(1.0 - self.zeros, self._seen)
        top = max(self._last(width) for width in WIDTHS)
        if not top:  # nothing is certain: take the end of the fullest two octaves
            top = 2 * SUBSTEPS + int(np.argmax(np.convolve(mass[1:], np.ones(2 * SUBSTEPS), "valid")))
        above = np.append(_monotone(np.cumsum(mass[top::-1]))[::-1], 0.0)
        if above[top] > tail:
            order = min(max(np.log2(above[max(top - SUBSTEPS, 0)] / above[top]), order), LIGHTEST)
            unseen = min(above[top] * 2.0 ** (-order / SUBSTEPS), RESOLVED * self.noise)
            return _held(edges[top + 1] * max(1.0, unseen / max(tail, 1e-300)) ** (1.0 / order))
        enough = np.flatnonzero(above[:top] >= tail)
        cell = int(enough[-1]) if enough.size else 0
        part = (above[cell] - tail) / max(above[cell] - above[cell + 1], 1e-300)
        return _held(edges[cell] * 2.0 ** (min(max(part, 0.0), 1.0) / SUBSTEPS))

    def quantile(self, level: float, floor: float = 2.0**LOW) -> float:
        """Return the level below which this share lies of the records that count; zeros and missing ones do not.

        Sums begin with the first cell that is certain. Unlike `beyond`, they miss nothing of a tail that is spread too
        thinly to be seen.

        Parameters
        ----------
        level : float
            Between 0 and 1.
        floor : float, default=2**LOW
            Magnitudes below it count as zeros, where others are certain.
        """
        first = max(_cells_below(floor), 1)
        certain = self.mass > self._seen
        if not certain[first:].any():
            first = 1
        start = first + int(np.argmax(certain[first:] if certain[first:].any() else self.mass[first:]))
        sums = _monotone(np.cumsum(self.mass[start:]))
        zeros = float(self.mass[:first][certain[:first]].sum())
        wanted = level * max(self.present - zeros, self._seen)
        cell = int(np.searchsorted(sums, wanted))
        below, beside = sums[cell - 1] if cell else wanted, sums[min(cell, sums.size - 1)]
        part = min(max((wanted - below) / max(beside - below, 1e-300), 0.0), 1.0)
        return _held(2.0 ** (LOW + (start + cell + part) / SUBSTEPS))

    def far(self, level: float) -> tuple[float, float]:
        """Return the share of the records beyond a level, and the noise of that number; missing ones are not there."""
        first = min(_cells_below(level), CELLS - 1)
        return float(self.mass[first:].sum()), float(self.noise * np.sqrt(CELLS - first))

    def within(self, level: float) -> float:
        """Return the share of the records at or below a level, by those in the next `FARTHER` octaves beyond it."""
        place = float(np.clip((np.log2(level) - LOW) * SUBSTEPS, 0.0, CELLS - 1.0))
        first = int(place)
        beyond = self.mass[first : first + 1 + FARTHER * SUBSTEPS].sum() - (place - first) * self.mass[first]
        return float(min(max(1.0 - beyond, 0.0), 1.0))

    def mean_square(self, limit: float) -> float:
        """Return the mean square of the magnitudes, each of them at most `limit`; masses are spread evenly in cells."""
        edges = np.exp2(LOW + np.arange(CELLS + 1) / SUBSTEPS)
        low, high = np.minimum(edges[1:-2], limit), np.minimum(edges[2:-1], limit)
        squares = (low**2 + low * high + high**2) / 3.0
        return float(max(self.mass[1:-1] @ squares, 0.0))

    def moment(self, most: float, power: float) -> float:
        """Return the mean of a power of the magnitudes up to `most`; hardly any may lie beyond.

        The cell that begins with `most` is one of them: many magnitudes may be equal to it.
        """
        cells = min(_cells_below(most) + 1, CELLS)
        middles = np.exp2(LOW + (np.arange(cells) + 0.5) / SUBSTEPS)
        return max(float(self.mass[:cells] @ np.minimum(middles, most) ** power), 0.0)

    def moment_noise(self, most: float, power: float) -> float:
        """Return the deviation of `moment`."""
        cells = min(_cells_below(most) + 1, CELLS)
        middles = np.exp2(LOW + (np.arange(cells) + 0.5) / SUBSTEPS)
        return float(self.noise * np.linalg.norm(np.minimum(middles, most) ** power))

    def leverage(self, radius: float, most: float) -> float:
        """Return the mean of r·min(r, radius) over the magnitudes r up to `most`; hardly any may lie beyond."""
        cells = min(_cells_below(most) + 1, CELLS)
        middles = np.exp2(LOW + (np.arange(cells) + 0.5) / SUBSTEPS)
        return max(float(self.mass[:cells] @ (middles * np.minimum(middles, radius))), 0.0)

    def _last(self, width: int) -> int:
        """Return the last cell that is certainly not empty together with others, so many in all; 0 if there is none.

        Mass may be spread so thinly that no single cell is certain. In the last run of cells that together are, it is
        the last one from which on noise hardly explains what there is.
        """
        mass = self.mass[1:-1]
        certain = np.flatnonzero(np.convolve(mass, np.ones(width), "valid") > self._seen * np.sqrt(width))
        if not certain.size:
            return 0
        first = int(certain[-1])
        onward = np.cumsum(mass[first : first + width][::-1])[::-1]
        beyond_noise = onward > RESOLVED * self.noise * np.sqrt(np.arange(width, 0, -1))
        return 1 + first + int(np.flatnonzero(beyond_noise).max(initial=0))

    @property
    def _seen(self) -> float:
        """Mass that noise alone hardly ever gives a cell."""
        if self.exponential:
            return float(self.noise * np.log(CELLS / (2.0 * FALSE_ALARM)) / np.sqrt(2.0))
        return float(self.noise * -ndtri(FALSE_ALARM / CELLS))

    @property
    def zeros(self) -> float:
        """Share of the records that are 0, in the first cell; 0 where noise explains it."""
        return float(self.mass[0]) if self.mass[0] > self._seen else 0.0

    @property
    def present(self) -> float:
        """Share of the records that are not missing, 1 where noise explains the rest."""
        present, noise = float(self.mass.sum()), float(self.noise * np.sqrt(CELLS))
        return max(present, noise) if present < 1.0 - RESOLVED * noise else 1.0


def _cells_below(level: float) -> int:
    """Return how many cells begin below a level."""
    return int(np.clip(np.ceil((np.log2(level) - LOW) * SUBSTEPS), 0, CELLS))


def _monotone(sums: FloatVector) -> FloatVector:
    """Return growing numbers from 0 up, half way between the least ones above the sums and the greatest below.

    Sums of the positive parts alone would grow with the noise of every empty cell.
    """
    above = np.maximum.accumulate(sums)
    below = np.minimum.accumulate(sums[::-1])[::-1]
    return np.maximum(0.5 * (above + below), 0.0)


def _held(level: float) -> float:
    """Whatever noise does, a level stays in a public range in which no unit overflows."""
    return float(np.clip(level, 2.0**LOW, 2.0**HIGH))


@dataclass(frozen=True)
class ClipLevel(Setting):
    """What mass may lie beyond the level.

    Parameters
    ----------
    tail : float
        Wanted mass beyond the level, as a share of n.
    order : float
        Least tail order to believe, as in `Histogram.beyond`.
    """

    tail: float
    order: float = 2.0


def histogram(step: str, scalars: Scalars, n: int, bits: int, length: int = 0) -> Generator[Query, Released, Histogram]:
    """Ask for one histogram of a scalar.

    Parameters
    ----------
    step : str
        The plan's step, a single release of `CELLS` counts.
    scalars : Scalars
        One number per record, for instance the norm of its gradient.
    n, bits : int
        Number of records, and bits of the grid of counts.
    length : int, default=0
        Where positive, the plan's step is an `Either` of this length.
    """
    octaves = Octaves(scalars, LOW, HIGH, SUBSTEPS, bits)
    reply = yield Query(step, Either(octaves, length, bits) if length else octaves)
    return of_reply(replace(reply, value=reply.value[: octaves.dimension]), n)


def of_reply(reply: Released, n: int) -> Histogram:
    """Return the histogram that a reply holds; the deviation of Laplace noise is √2 times its scale."""
    return Histogram(reply.value / n, reply.noise / n * (np.sqrt(2.0) if reply.exponential else 1.0), reply.exponential)


def clip_level(step: str, scalars: Scalars, level: ClipLevel, n: int, bits: int) -> Generator[Query, Released, float]:
    """Ask for one histogram of a scalar and return the clip level; parameters as in `histogram`."""
    found = yield from histogram(step, scalars, n, bits)
    return found.beyond(level.tail, level.order)
