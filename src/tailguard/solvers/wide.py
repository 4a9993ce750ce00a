"""The private preparation of many columns: a scale for each or one for all, and means in those units.

Medians of thousands of columns cost more than they bring. A mean of rows that are shortened to a common length costs as
much noise as one long row, whatever the number of columns.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tailguard.solvers.base import FloatVector, Query, Released, Setting
from tailguard.solvers.clip_level import ClipLevel, clip_level
from tailguard.solvers.preparation import Preparation, prepare_features
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Rows
from tailguard.statistics.scalars import Norm
from tailguard.statistics.view import View

__all__ = ["WidePreparation", "prepare_wide"]

MIDDLE = ClipLevel(0.5)
"""The median."""

LONGEST = 1.25
"""Rows are shortened to so many medians of their lengths before they are averaged."""


@dataclass(frozen=True)
class WidePreparation(Setting):
    """How many columns are brought to a common size.

    Parameters
    ----------
    columns : Preparation or None
        How columns get scales (and medians, if they are centred) of their own; None gives all one scale, the median
        root mean square of a row (step "common scale").
    averaged : bool
        Whether columns are centred at the mean of shortened rows (steps "row length", "feature mean").
    """

    columns: Preparation | None
    averaged: bool


def prepare_wide(view: View, preparation: WidePreparation, n: int, bits: int) -> Generator[Query, Released, View]:
    """Ask for scales and perhaps means and return the view that scales and centres the columns."""
    d = view.dimension_in
    if preparation.columns is not None:
        view = yield from prepare_features(view, preparation.columns, n, bits)
    else:
        plain = Norm(Rows(replace(view, intercept=False)))
        length = yield from clip_level("common scale", plain, MIDDLE, n, bits)
        view = replace(view, scale=np.full(d, length / np.sqrt(d)))
    if preparation.averaged:
        view = yield from _averaged(view, n, bits)
    return view


def _averaged(view: View, n: int, bits: int) -> Generator[Query, Released, View]:
    rows = Rows(replace(view, intercept=False))
    length = yield from clip_level("row length", Norm(rows), MIDDLE, n, bits)
    reply = yield Query("feature mean", Clipped(rows, LONGEST * length, bits))
    scale = np.asarray(view.scale, dtype=np.float64)
    before = np.zeros(view.dimension_in) if view.centre is None else np.array(view.centre, dtype=np.float64)
    used = np.isfinite(scale)
    mean = shrunken_means(reply.value[used] / n, reply.noise / n)
    before[used] += mean * scale[used]
    return replace(view, centre=before)


def shrunken_means(means: FloatVector, noise: float) -> FloatVector:
    """Return means shrunk towards their average, as far as their known noise explains how they differ (James–Stein)."""
    if means.size < 4:
        return means
    middle = means.mean()
    explained = (means.size - 3) * noise**2 / max(float(np.sum((means - middle) ** 2)), 1e-300)
    return np.asarray(middle + max(0.0, 1.0 - explained) * (means - middle))
