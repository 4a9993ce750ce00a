"""The private preparation of many columns: the octaves in which they lie, means in those units, and variances.

Medians of thousands of columns cost more than they bring. What remains cheap is the middle of a noisy histogram of
octaves, and means of rows that are shortened as a whole, whose noise does not grow with what one column could be.
"""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import ndtri

from tailguard.solvers.base import OPTIONAL, FloatVector, Query, Released, Setting
from tailguard.solvers.clip_level import histogram
from tailguard.solvers.preparation import Preparation, prepare_features
from tailguard.solvers.scales import Scales
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.arrays import FloatMatrix
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Rows
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Columns, Norm
from tailguard.statistics.squares import Squares
from tailguard.statistics.view import View

__all__ = ["LONGEST", "REACH", "WidePreparation", "prepare_wide"]

REACH = 2
"""Octaves on either side of the fullest one that are counted to a column."""

LONGEST = 1.25
"""Rows are shortened to so many medians of their lengths before they are averaged."""

LEAST = 0.05
"""Smallest variance of a column that is believed, as a part of the average one."""


@dataclass(frozen=True)
class WidePreparation(Setting):
    """How many columns are brought to a common size.

    Parameters
    ----------
    medians : Preparation or None
        How columns get medians and scales where the budget carries them: then nothing else is done.
    octaves : bool
        Whether columns get scales of their own (step "feature scale"), or all the same, the median root mean square of
        a row (step "common scale").
    averaged : bool
        Whether columns are centred at the mean of shortened rows (steps "row length", "feature mean").
    refined : bool
        Whether variances then correct the scales (steps "square length", "feature variance").
    scales : Scales or None
        Public units; scales that they have are not sought, and centres neither.
    """

    medians: Preparation | None = None
    octaves: bool = False
    averaged: bool = False
    refined: bool = False
    scales: Scales | None = field(default=None, metadata=OPTIONAL)


def prepare_wide(view: View, preparation: WidePreparation, n: int, bits: int) -> Generator[Query, Released, View]:
    """Ask for scales and perhaps means and return the view that scales and centres the columns."""
    if preparation.medians is not None:
        return (yield from prepare_features(view, preparation.medians, n, bits))
    known = preparation.scales or Scales()
    view = replace(view, centre=known.centre, scale=known.scale)
    if preparation.octaves:
        view = yield from _octaves(view, n, bits)
    elif known.features is None:
        found = yield from histogram("common scale", Norm(Rows(replace(view, intercept=False))), n, bits)
        size = found.quantile(0.5) / np.sqrt(view.dimension_in)
        view = replace(view, scale=np.full(view.dimension_in, size))
    if preparation.averaged:
        view = yield from _averaged(view, n, bits)
    if preparation.refined:
        view = yield from _refined(view, n, bits)
    return view


def _octaves(view: View, n: int, bits: int) -> Generator[Query, Released, View]:
    """Ask for the octaves of the columns and scale each by the middle of its own.

    A column without a significant octave, such as a rare indicator, gets the scale of all columns together.
    """
    columns = Columns(replace(view, intercept=False))
    reply = yield Query("feature scale", Octaves(columns, LOW, HIGH, 1, bits))
    masses = reply.value.reshape(view.dimension_in, HIGH - LOW) / n
    middles, noise = _middles(masses, reply.noise / n)
    before = np.ones(view.dimension_in) if view.scale is None else np.asarray(view.scale)
    return replace(view, scale=before * np.exp2(shrunken(middles, noise)))


def _middles(masses: FloatMatrix, noise: float) -> tuple[FloatVector, float]:
    """Return the mean octave of each column around its fullest ones, and the noise of these numbers."""
    masses = masses[:, 1:-1]  # without zeros and infinities
    window = 2 * REACH + 1
    sums = sliding_window_view(masses, window, axis=1).sum(axis=2)
    certain = noise * np.sqrt(window) * -ndtri(1e-3 / sums.size)
    found, common = sums.argmax(axis=1), int(sums.mean(axis=0).argmax())
    own = sums.max(axis=1) > certain
    start = np.where(own, found, common)
    near = np.take_along_axis(masses, start[:, np.newaxis] + np.arange(window), axis=1)
    shared = masses[:, common : common + window].mean(axis=0)
    near = np.where(own[:, np.newaxis], near, shared)
    offsets = np.arange(-REACH, REACH + 1)
    mass = np.maximum(near.sum(axis=1), np.where(own, certain, certain / np.sqrt(len(masses))))
    middles = LOW + 1.5 + start + REACH + near @ offsets / mass
    return middles, noise * float(np.linalg.norm(offsets)) / float(np.median(mass))


def _averaged(view: View, n: int, bits: int) -> Generator[Query, Released, View]:
    rows = Rows(replace(view, intercept=False))
    lengths = yield from histogram("row length", Norm(rows), n, bits)
    reply = yield Query("feature mean", Clipped(rows, LONGEST * lengths.quantile(0.5), bits))
    count = n * lengths.present
    centre = shrunken(reply.value / count, reply.noise / count) * np.asarray(view.scale)
    return replace(view, centre=centre)


def _refined(view: View, n: int, bits: int) -> Generator[Query, Released, View]:
    squares = Squares(replace(view, intercept=False))
    lengths = yield from histogram("square length", Norm(squares), n, bits)
    reply = yield Query("feature variance", Clipped(squares, LONGEST * lengths.quantile(0.5), bits))
    count = n * lengths.present
    noise = reply.noise / count
    variance = shrunken(reply.value / count, noise)
    least = LEAST * max(float(variance.mean()), 0.0) + noise
    return replace(view, scale=np.asarray(view.scale) * np.sqrt(np.maximum(variance, least)))


def shrunken(values: FloatVector, noise: float) -> FloatVector:
    """Return values shrunk towards their average as far as their noise explains how they differ (James–Stein)."""
    if values.size < 4:
        return values
    middle = values.mean()
    explained = (values.size - 3) * noise**2 / max(float(np.sum((values - middle) ** 2)), 1e-300)
    return np.asarray(middle + max(0.0, 1.0 - explained) * (values - middle))
