"""Means with few entries that are not 0: peeled at once, or picked first and averaged afterwards."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tailguard.domains.sparse import Sparse
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Solve, Solver
from tailguard.solvers.clip_level import ClipLevel, clip_level
from tailguard.solvers.entries import Entries
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.prepared_thresholding import garrote
from tailguard.solvers.quantile import quantile
from tailguard.solvers.spread import spread
from tailguard.solvers.wide import WidePreparation, prepare_wide
from tailguard.statistics.arrays import IntVector
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.coordinatewise import Clamped
from tailguard.statistics.fields import Rows
from tailguard.statistics.scalars import Columns, Norm
from tailguard.statistics.scores import Magnitudes, Shifted
from tailguard.statistics.view import View

__all__ = ["PeeledMean", "PickedMean"]

BIAS = 6.0
"""Means below BIAS/threshold², in scales, may come from a skewed tail that is cut off: third moments of usual tails are
about that large."""

DOUBT = 3.0
"""Means below so many deviations of noise and sampling are taken for noise."""


@dataclass(frozen=True)
class PeeledMean(Solver):
    """The s largest entries of a bounded mean in private units: one step of hard thresholding from 0.

    Parameters
    ----------
    domain : Sparse
        Where the mean lies.
    n, bits : int
        Number of records, bits of the grid.
    features : WidePreparation
        How the columns get scales; they are not centred, because most means are 0.
    entries : Entries
        How entries are bounded, for columns of scale 1 (step "peeling").
    """

    domain: Sparse
    n: int
    bits: int
    features: WidePreparation
    entries: Entries

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view = yield from prepare_wide(View(self.domain.dimension), self.features, self.n, self.bits)
        inner = self.entries.statistic(Rows(view), self.bits)
        reply = yield Query("peeling", Shifted(inner, np.zeros(self.domain.dimension)))
        doubt = DOUBT * _deviation(reply, self.n) + BIAS / self.entries.threshold**2
        mean = garrote(reply.value / self.n, np.full(self.domain.dimension, doubt))
        return Estimate(self.domain.project(mean * _spreads(view)))


@dataclass(frozen=True)
class PickedMean(Solver):
    """Columns are picked by their clamped means, then a clipped mean of those columns alone is released.

    The first stage needs no precise values, so its entries are clamped at a few scales and cost little noise. The
    second has few columns, which can afford medians and scales of their own: clipping is about the spread of a column,
    not about how far its mean is from 0.

    Parameters
    ----------
    domain : Sparse
        Where the mean lies.
    n, bits : int
        Number of records, bits of the grid.
    features : WidePreparation
        How the columns get scales for the picks.
    width : float
        Where entries are clamped for the picks, in those scales (step "picks").
    preparation : Preparation or None
        How medians of the picked columns are sought (steps "feature centre", "feature scale"); None leaves them in the
        scales of the picks, around 0.
    level : ClipLevel
        How the radius of the final mean is found (steps "clip level", "mean").
    """

    domain: Sparse
    n: int
    bits: int
    features: WidePreparation
    width: float
    preparation: Preparation | None
    level: ClipLevel

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        d = self.domain.dimension
        view = yield from prepare_wide(View(d), self.features, self.n, self.bits)
        reply = yield Query("picks", Magnitudes(Clamped(Rows(view), self.width, self.bits)))
        picked = np.sort(reply.value.astype(np.int64))
        few = replace(view, columns=picked)
        if self.preparation is not None:
            few = yield from self._prepared(picked, self.preparation)
        rows = Rows(few)
        radius = yield from clip_level("clip level", Norm(rows), self.level, self.n, self.bits)
        reply = yield Query("mean", Clipped(rows, radius, self.bits))
        mean = np.zeros(d)
        spreads = _spreads(few)[picked]
        centre = np.zeros(d) if few.centre is None else np.asarray(few.centre, dtype=np.float64)
        mean[picked] = centre[picked] + spreads * reply.value / self.n
        mean[picked] = garrote(mean[picked], DOUBT * _deviation(reply, self.n) * spreads)
        return Estimate(self.domain.project(mean))

    def _prepared(self, picked: IntVector, preparation: Preparation) -> Generator[Query, Released, View]:
        """Ask for medians and scales of the picked columns and return the view of those alone."""
        d, n, bits = self.domain.dimension, self.n, self.bits
        centre, scale = np.zeros(d), np.full(d, np.inf)
        plain = Columns(View(d, columns=picked))
        centre[picked] = yield from quantile("feature centre", plain, 0.5, n, bits, preparation.grid)
        if preparation.known.scale is not None:
            scale[picked] = preparation.known.scale[picked]
            return View(d, centre=centre, scale=scale, columns=picked)
        centred = Columns(View(d, centre=centre, columns=picked))
        found = spread("feature scale", centred, centre[picked], n, bits, preparation.resolution)
        scale[picked] = yield from found
        return View(d, centre=centre, scale=scale, columns=picked)


def _spreads(view: View) -> FloatVector:
    """Return the scales of a view's columns, 0 for those without any spread: their mean is their centre."""
    scale = np.asarray(view.scale, dtype=np.float64)
    return np.where(np.isfinite(scale), scale, 0.0)


def _deviation(reply: Released, n: int) -> float:
    """Return the deviation of a released mean of columns of scale 1: noise and sampling."""
    return float(np.hypot(reply.noise / n, 1.0 / np.sqrt(n)))
