"""Frank–Wolfe without bounds: private units, picked vertices, and a private choice of how far to go."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from tailguard.losses.base import Loss
from tailguard.solvers.base import OPTIONAL, Estimate, FloatVector, Query, Released, Solve, Solver
from tailguard.solvers.entries import Entries
from tailguard.solvers.frank_wolfe import rate
from tailguard.solvers.offset import Offset
from tailguard.solvers.preparation import Preparation, prepare_features
from tailguard.solvers.quantile import quantile
from tailguard.solvers.rank_level import rank_level
from tailguard.solvers.refit import scaled_loss
from tailguard.solvers.scales import Scales
from tailguard.solvers.spread import LOW
from tailguard.solvers.vertices import Hull, first_point, hull, scores, sum_bits, vertex
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.coordinatewise import Clamped
from tailguard.statistics.directional import Directional
from tailguard.statistics.fields import Gradient, Rows
from tailguard.statistics.scalars import Columns, Largest, Norm, Slope, Target
from tailguard.statistics.scores import Nearest
from tailguard.statistics.slopes import Slopes
from tailguard.statistics.view import View

__all__ = ["LENGTHS", "PreparedFrankWolfe"]

Model: TypeAlias = tuple[FloatVector, float]

LENGTHS = np.array([0.0, 0.03125, 0.0625, 0.125, 0.1875, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0])
"""How far the answer may lie on the way from the start to the last point."""

FAR = 5.0
"""Largest slope in a correction of the intercept, in medians."""

FARTHEST = 100.0
"""Largest intercept, in units of the target's scale or of log-odds: what asks for more is noise."""


@dataclass(frozen=True)
class PreparedFrankWolfe(Solver):
    """w ← (1 − η)w + ηv with η = 2/(t + 2) and gradients in private units, on all records.

    All columns have one scale, as the vertices of a domain in raw units have: a column in smaller units moves
    predictions less. The last release chooses the best point between the start and the end (step "way"), so that a
    budget that carries no model gives the null model.

    Parameters
    ----------
    loss : Loss
        In generalised linear form, smooth.
    domain : L1Ball, Simplex or Polytope
        Where the coefficients may lie, in raw units.
    n, d, bits : int
        Number of records and features, bits of the grid.
    intercept : bool
        Whether an intercept is fitted.
    target : Preparation or None
        How the target is centred and scaled (a loss of residuals), or None to take it as it is (classes).
    centres : Preparation or None
        How finely medians of columns are sought; None for a model without an intercept, which is not centred.
    common : bool
        Whether all columns share one centre, the median of the rows' means (step "common centre").
    entries : Entries
        How coordinates of the gradients are bounded, for rows and slopes of size 1.
    slope : float or None
        The usual size of a slope, or None to take its median from a histogram (step "slope level").
    steps : int
        T.
    refreshes : int
        How often the slopes' size and the intercept are sought on the way, at equal distances.
    counted : float
        The most that a record may count in that choice, in medians (step "way level").
    luck : float
        How many median records a walk wins by fitting the noise of the records; the choice allows for it.
    scales : Scales or None
        Public units; what they have is not sought. The common scale is then the root mean square of the columns'.
    """

    loss: Loss
    domain: Hull
    n: int
    d: int
    bits: int
    intercept: bool
    target: Preparation | None
    centres: Preparation | None
    common: bool
    entries: Entries
    slope: float | None
    steps: int
    refreshes: int
    counted: float
    luck: float
    scales: Scales | None = field(default=None, metadata=OPTIONAL)

    def __post_init__(self) -> None:
        hull(self.domain, "PreparedFrankWolfe")

    def refreshed(self, step: int) -> bool:
        """Return whether the slopes' size and the intercept are sought before step 1 … T."""
        return step - 1 in {k * self.steps // self.refreshes for k in range(self.refreshes)}

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view = View(self.d)
        if self.target is not None:
            view = yield from self._prepare_target(view, self.target)
        view = yield from self._prepare(view)
        return (yield from self._choose(view, (yield from self._walk(view))))

    def _prepare_target(self, view: View, target: Preparation) -> Generator[Query, Released, View]:
        """Return the view with a target in units of its median deviation."""
        known = self.scales or Scales()
        centre = known.target_centre or 0.0
        if target.centred and known.target_centre is None:
            found = yield from quantile("target centre", Target(view), 0.5, self.n, self.bits, target.grid)
            centre = float(found[0])
        view = replace(view, target_centre=centre)
        if known.target is not None:
            return replace(view, target_scale=known.target)
        size = max(abs(centre), 2.0**LOW)
        scale = yield from rank_level("target scale", Target(view), 0.5, self.n, self.bits, otherwise=size)
        return replace(view, target_scale=scale)

    def _prepare(self, view: View) -> Generator[Query, Released, View]:
        """Return the view with centres, where there are any, and one scale for all columns."""
        known = self.scales or Scales()
        if known.centre is not None:
            view = replace(view, centre=known.centre)
        elif self.centres is not None and self.common:
            means = Columns(replace(view, basis=np.full((self.d, 1), 1.0 / self.d)))
            centre = yield from quantile("common centre", means, 0.5, self.n, self.bits, self.centres.grid)
            view = replace(view, centre=np.full(self.d, centre[0]))
        elif self.centres is not None:
            view = yield from prepare_features(view, self.centres, self.n, self.bits)
        if known.scale is not None:
            return replace(view, scale=np.full(self.d, np.sqrt(np.mean(np.square(known.scale)))))
        lengths = Norm(Rows(replace(view, scale=None)))
        length = yield from rank_level("common scale", lengths, 0.5, self.n, self.bits, otherwise=1.0)
        return replace(view, scale=np.full(self.d, length / np.sqrt(self.d)))

    def _walk(self, view: View) -> Generator[Query, Released, tuple[Model, Model]]:
        """Return the first model, with its intercept, and the last."""
        loss, factor = scaled_loss(self.loss, view), _factor(view)
        point, offset, level = first_point(self.domain), 0.0, 1.0
        models = []
        for step in range(1, self.steps + 1):
            if self.refreshed(step):
                offset, level = yield from self._refresh(view, loss, point * factor, offset)
                models.append((point, offset))
            field = Gradient(view, Offset(loss, offset), point * factor)
            gradient = self.entries.times(level).statistic(field, sum_bits(self.domain, self.bits))
            reply = yield Query("vertex", scores(self.domain, gradient))
            share = rate(step, None)
            point = (1.0 - share) * point + share * vertex(self.domain, reply.value[0])
        if self.intercept:
            offset, _ = yield from self._refresh(view, loss, point * factor, offset)
        return models[0], (point, offset)

    def _refresh(
        self, view: View, loss: Loss, point: FloatVector, offset: float
    ) -> Generator[Query, Released, tuple[float, float]]:
        """Return a better intercept, if there is one, and the usual size of a slope."""
        field, level = Gradient(view, Offset(loss, offset), point), self.slope
        if level is None:
            level = yield from rank_level("slope level", Slope(field), 0.5, self.n, self.bits, otherwise=1.0)
        if self.intercept:
            reply = yield Query("intercept", Clipped(Slopes(field), FAR * level, self.bits))
            offset -= float(reply.value[0]) / self.n / (loss.smoothness or 1.0)
        return min(max(offset, -FARTHEST), FARTHEST), level

    def _choose(self, view: View, ends: tuple[Model, Model]) -> Solve:
        """Ask where on the way between two models the risk is flattest, which is where it is least."""
        (start, first), (end, last) = ends
        basis = np.stack([start, end], axis=1) * _factor(view)
        way = Directional(replace(view, basis=basis), scaled_loss(self.loss, view), np.array([first, last]), LENGTHS)
        usual = yield from rank_level("way level", Largest(way), 0.5, self.n, self.bits, otherwise=1.0)
        total = Clamped(way, self.counted * usual, self.bits)
        reply = yield Query("way", Nearest(total, self.luck * usual))
        length = LENGTHS[int(np.clip(reply.value[0], 0, LENGTHS.size - 1))]
        slopes = start + length * (end - start)
        if not self.intercept:
            return Estimate(slopes)
        offset = first + length * (last - first)
        centre = 0.0 if view.centre is None else np.asarray(view.centre)
        return Estimate(slopes, float(view.target_centre + view.target_scale * offset - np.sum(slopes * centre)))


def _factor(view: View) -> float:
    """Return what a raw coefficient is times in the view's units; all columns have one scale."""
    return float(np.asarray(view.scale)[0] / view.target_scale)
