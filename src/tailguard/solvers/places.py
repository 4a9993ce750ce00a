"""Where columns lie and how wide they are, from a few faint histograms.

A budget that carries no medians carries counts of cells, if all columns are counted at once and every question rests on
the answers so far. At first octaves are counted. A column whose numbers lie in several of them is asked for the same
again, and its counts add up. Numbers that are all of a size lie far from 0, beside their spread: the next cells divide
their octaves on both sides of 0, then one of these cells is divided, until a spread is seen, and then the octaves of
the distance from there are counted.
"""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr, ndtri

from tailguard.solvers.base import FloatVector, Query, Released
from tailguard.solvers.shifted import SHIFTS, gathered, shifted_edges
from tailguard.solvers.spread import HIGH, LOW, NORMALISER, faint_scale
from tailguard.solvers.usual_laws import best_gain, smoothed
from tailguard.statistics.cells import Cells
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Rows
from tailguard.statistics.scalars import Columns
from tailguard.statistics.view import View

__all__ = ["COUNTS", "believed_means", "places"]

CELLS = HIGH - LOW
"""Narrow cells of a column."""

GATHERED = gathered(CELLS)
"""Which of them lie in its wide cells, that are counted."""

COUNTS = len(GATHERED)
"""How many counts of a column are released."""

_ONE = np.linspace(0.0, 1.0, 11)[:, np.newaxis]
"""Shares of the records in the first of two octaves."""

_INNER = np.where(np.any(GATHERED[:, [0, -1]] > 0.0, axis=1)[:, np.newaxis], 0.0, GATHERED)[:, 1:-1]
"""What wide cells that hold neither zeros nor infinities count of every octave."""

_SQUARES, _SHARED = (_INNER**2).sum(axis=0), (_INNER[:, 1:] * _INNER[:, :-1]).sum(axis=0)
_LENGTHS = _ONE**2 * _SQUARES[:-1] + (1.0 - _ONE) ** 2 * _SQUARES[1:] + 2.0 * _ONE * (1.0 - _ONE) * _SHARED
"""Squared lengths of what is counted then."""

EDGES: FloatVector = np.exp2(LOW + np.arange(1.0, CELLS))
"""Edges of octaves."""

FINER, FINEST, WINDOW = 16, 30, 3
"""Into how many cells one is divided on both sides of 0, and one of these again, and how many next to each other."""

WIDTHS = (0.3, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Deviations of the laws that are compared with a window, in cells; of the first one nothing is seen."""

PATIENCE = 2.0
"""Logarithm of the likelihood ratio from which on a spread is seen in a window."""

ATOM = 1.5
"""The logarithm of the likelihood ratio by which a spread must explain more than one size does, or it is an atom: with
a tiny scale that would harm all columns."""

ALARM, LIKELY = 3e-3, 2.5
"""Probability that noise looks like a law in one cell of all, beyond which none is believed: a rare column whose scale
is noise spoils a fit. And deviations of noise that a law must explain near the place where it must be."""

BELOW, ABOVE = 4, 6
"""How many octaves below and above it that is."""

LUMPS, TWO, ZEROS = (0.2, 0.3, 0.4, 0.5), 8.0, 3.0
"""Shares of the records in a second place that are compared with none, and the logarithm of the likelihood ratio from
which on there is one, and zeros are: an indicator, or a column of two values, has no spread about either of them."""

NARROW, MODERATE = 0.75, 1.2
"""Spread of sizes, in octaves, below which a column is asked for octaves around its mean, and below which its scale is
corrected for the mean, where that is off the centre."""

OFF, LEAST = 0.4, 0.5
"""How far off a mean must be for that, in scales; and the least factor that corrects one."""

FARTHEST = 2.0
"""How far a number may be from the centre, in scales: one column with a scale that is far too small leaves room for the
others in a shortened row."""

DOUBT = 2.0
"""A column's mean is believed as far as so many times its noise does not explain it."""


def places(view: View, n: int, bits: int, rounds: int) -> Generator[Query, Released, View]:
    """Ask for "feature scale" and, before the last time, for "feature mean", and return the view with units of columns.

    A column without significant spread is dropped: its scale is infinite.

    Parameters
    ----------
    view : View
        With units of the target, if it has any.
    n, bits : int
        Number of records, and bits of the grid.
    rounds : int
        How often "feature scale" is asked for; at least 2.
    """
    columns = [_Column() for _ in range(view.dimension_in)]
    significant = -float(ndtri(ALARM / (len(columns) * CELLS)))
    plain = replace(view, centre=None, scale=None, intercept=False)
    for number in range(rounds - 1):
        noise = yield from _count(columns, plain, n, bits, significant, last=number == rounds - 2)
    for column in columns:
        column.scale = column.read(noise, significant, last=False)
    centre, scale = _units(columns)
    near = Rows(replace(plain, centre=centre, scale=scale, limit=FARTHEST))
    reply = yield Query("feature mean", Clipped(near, np.sqrt(len(columns)), bits))
    for column, mean in zip(columns, believed_means(reply.value / n, reply.noise / n), strict=True):
        column.move(float(mean), noise)
    noise = yield from _count(columns, plain, n, bits, significant, last=True)
    for column in columns:
        column.scale = column.factor * column.read(noise, significant, last=True)
        column.centre = column.middle
    centre, scale = _units(columns)
    return replace(view, centre=centre, scale=scale)


def believed_means(mean: FloatVector, noise: float) -> FloatVector:
    """Return means as far as twice their noise does not explain them."""
    doubts = np.minimum(noise / np.maximum(np.abs(mean), 1e-150), 1e3)  # finite, whatever was released
    return np.asarray(mean * np.maximum(0.0, 1.0 - DOUBT * doubts**2))


@dataclass
class _Column:
    """What is known of a column: released numbers only.

    Attributes
    ----------
    centre : float
        From where distances are counted.
    mass, folds : float64 vector, int
        Sum of the masses of wide cells of octaves of the distance, and how often they were counted.
    window : float64 vector or None
        Edges of the cells that are counted instead.
    guess, otherwise : float
        Near which the scale must be, if that is known, and is if it is not found there; and what it is of an atom.
    seen : float
        How much likelier a window made a spread than an atom, where it did: a logarithm of a likelihood ratio.
    scale, middle, factor : float
        What was read last; where the mean is; and a correction of the scale.
    """

    centre: float = 0.0
    mass: FloatVector = field(default_factory=lambda: np.zeros(COUNTS))
    folds: int = 0
    window: FloatVector | None = None
    guess: float = np.inf
    otherwise: float = np.inf
    seen: float = 0.0
    scale: float = np.inf
    middle: float = 0.0
    factor: float = 1.0

    @property
    def average(self) -> FloatVector:
        return np.asarray(self.mass / max(self.folds, 1))

    @property
    def edges(self) -> FloatVector:
        if self.window is None:
            return EDGES
        return np.append(self.window, np.full(CELLS - 1 - self.window.size, np.inf))

    def learn(self, mass: FloatVector, noise: float, significant: float, *, last: bool) -> None:
        """Take in a histogram and choose the next one; after the last one there is no time for a window.

        That all numbers are of one size must outweigh so many deviations of noise.
        """
        if self.window is not None:
            self._divide(self.window, mass, noise, last)
            return
        self.mass, self.folds = self.mass + mass, self.folds + 1
        level = noise / np.sqrt(self.folds)
        gain, octave = _of_a_size(self.average, level)
        if last or np.isfinite(self.guess):
            return
        if gain < max(best_gain(self.average, level), 0.5 * significant**2):
            return
        self.otherwise = faint_scale(self.average, level, 0.0)
        ends = np.linspace(1.0, 4.0, WINDOW * FINER + 1) * 2.0 ** (LOW + octave)
        self.window = np.append(-ends[::-1], ends)

    def _divide(self, edges: FloatVector, mass: FloatVector, noise: float, last: bool) -> None:
        place, width, cell, apart, self.seen = _bump(edges, mass, noise)
        if apart:
            self.window, self.guess = None, 0.5 * apart
            self._start(place)
            return
        if width == WIDTHS[0] and not last:
            self.window = place + np.linspace(-0.5, 0.5, WINDOW * FINEST + 1) * WINDOW * cell
            return
        self.window, self.guess = None, max(width, WIDTHS[1]) * cell
        self._start(place)

    def _start(self, centre: float) -> None:
        self.centre, self.mass, self.folds = centre, np.zeros(COUNTS), 0

    def read(self, noise: float, significant: float, *, last: bool) -> float:
        """Return the scale by what was counted so far, infinite where nothing is significant.

        A law must explain so many deviations of noise. What looks like an atom may be a spread that is seen from beside
        it, until the last question, which counts from the mean.
        """
        if not self.folds:
            return self.guess
        mass, level = self.average, noise / np.sqrt(self.folds)
        if not np.isfinite(self.guess):
            return faint_scale(mass, level, significant)
        # An atom is of one size from wherever it is seen: nothing is a spread, and the size is scale enough.
        spread = best_gain(mass, level) - _of_a_size(mass, level)[0]
        if spread + self.seen < ATOM:
            return self.otherwise if last else self.guess
        octave = int(np.clip(np.floor(np.log2(self.guess)) - LOW, BELOW + 1, CELLS - 1 - ABOVE))
        found = faint_scale(mass, level, LIKELY, octave - BELOW, octave + ABOVE)
        return found if np.isfinite(found) else self.guess

    def move(self, mean: float, noise: float) -> None:
        """Take in a mean, in scales beside the centre: narrow columns are counted around it next."""
        self.middle = self.centre + (self.scale * mean if np.isfinite(self.scale) else 0.0)
        if (self.folds and abs(mean) <= OFF) or not np.isfinite(self.scale):
            return
        sought = np.isfinite(self.guess)
        width = 0.0 if sought else _width(self.average, noise / np.sqrt(self.folds))
        # Beside their middle, numbers on one side of the centre are less wide than beside the centre.
        factor = float(np.sqrt(max(1.0 - (NORMALISER * mean) ** 2, LEAST**2)))
        if width >= NARROW:
            self.factor = factor if width < MODERATE else 1.0
            return
        if not sought:
            self.guess, self.otherwise = self.scale * LEAST**2, self.scale * factor
        self._start(self.middle)


def _count(
    columns: list[_Column], plain: View, n: int, bits: int, significant: float, *, last: bool
) -> Generator[Query, Released, float]:
    """Ask every column's question at once, tell the columns, and return the noise of a mass."""
    folded = np.array([column.window is None for column in columns])
    numbers = Columns(replace(plain, centre=np.where(folded, _units(columns)[0], 0.0)))
    edges = np.concatenate([shifted_edges(column.edges) for column in columns])
    reply = yield Query("feature scale", Cells(numbers, edges, np.repeat(folded, SHIFTS), bits))
    for column, mass in zip(columns, reply.value.reshape(len(columns), COUNTS) / n, strict=True):
        column.learn(mass, reply.noise / n, significant, last=last)
    return reply.noise / n


def _units(columns: list[_Column]) -> tuple[FloatVector, FloatVector]:
    return np.array([column.centre for column in columns]), np.array([column.scale for column in columns])


def _of_a_size(mass: FloatVector, noise: float) -> tuple[float, int]:
    """Return the first of the two octaves next to each other that explain most if they hold everything.

    Before it stands the logarithm of the likelihood ratio, against nothing at all.
    """
    found = _INNER.T @ mass
    gains = (_ONE * found[:-1] + (1.0 - _ONE) * found[1:] - 0.5 * _LENGTHS)[:, SHIFTS - 1 : -SHIFTS]
    return float(gains.max()) / noise**2, SHIFTS + int(np.argmax(gains.max(axis=0)))


def _width(mass: FloatVector, noise: float) -> float:
    """Return the deviation of sizes, in octaves, infinite where nothing is there."""
    smooth, cells = smoothed(mass, 1, noise, LIKELY * noise, shifted=True), np.arange(CELLS)
    total = float(smooth.sum())
    if not total > 0.0:
        return np.inf
    return float(np.sqrt(smooth @ (cells - smooth @ cells / total) ** 2 / total))


def _bump(edges: FloatVector, mass: FloatVector, noise: float) -> tuple[float, float, float, float, float]:
    """Return the place and the width of the law that agrees best with a window, and the width of its cells.

    Last stands how far from there a second place is that holds many of the others, 0 without any.
    """
    cell = float(np.diff(edges).min())
    starts = edges[:-1][np.diff(edges) < 1.5 * cell]  # between the two sides of 0 there is no cell
    at = np.concatenate([starts + 0.25 * cell, starts + 0.75 * cell])
    wide = GATHERED[:, : edges.size + 1]
    best, law, gain = (-np.inf, 0.0, 0.0), np.zeros(len(wide)), {}
    for width in WIDTHS:
        laws = np.diff(ndtr((edges - at[:, np.newaxis]) / (width * cell)), axis=1, prepend=0.0, append=1.0) @ wide.T
        gains = (laws @ mass - 0.5 * np.einsum("ij,ij->i", laws, laws)) / noise**2
        top = int(np.argmax(gains))
        gain[width] = float(gains[top]) + PATIENCE * (width == WIDTHS[0])
        found = gain[width], float(at[top]), width
        if found > best:
            best, law = found, laws[top]
    return best[1], best[2], cell, _apart(edges, mass, noise, law, best[1]), best[0] - gain[WIDTHS[0]]


def _apart(edges: FloatVector, mass: FloatVector, noise: float, law: FloatVector, place: float) -> float:
    """Return how far from a law's place the cell is that holds much of what the law leaves, 0 if there is none."""
    share, wide = np.array(LUMPS)[:, np.newaxis], GATHERED[:, : edges.size + 1]
    squares = (1.0 - share) ** 2 * (law @ law) + 2.0 * share * (1.0 - share) * (law @ wide) + share**2 * SHIFTS
    more = (share * (mass @ wide - law @ mass) - 0.5 * (squares - law @ law)).max(axis=0) / noise**2
    more -= np.where((edges[0] == -edges[-1]) & (np.arange(edges.size + 1) == (edges.size + 1) // 2), ZEROS, TWO)
    ends = np.concatenate([edges[:1], edges, edges[-1:]])
    distance = np.abs(0.5 * (ends[:-1] + ends[1:]) - place)
    # Wide cells do not tell numbers in one from those beside it, but the next window does.
    more[distance < SHIFTS * float(np.diff(edges).min())] = -np.inf
    cell = int(np.argmax(more))
    return float(distance[cell]) if more[cell] > 0.0 else 0.0
