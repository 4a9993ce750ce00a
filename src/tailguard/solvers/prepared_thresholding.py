"""Hard thresholding without bounds: private units, peeled gradients of all records, a private choice at the end."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tailguard.domains.sparse import Sparse
from tailguard.losses.base import Loss
from tailguard.solvers.base import FloatVector, Query, Released, Solve, Solver
from tailguard.solvers.clip_level import ClipLevel, clip_level
from tailguard.solvers.entries import Entries
from tailguard.solvers.model_choice import choose
from tailguard.solvers.preparation import Preparation, prepare_target, raw_units
from tailguard.solvers.refit import scaled_loss
from tailguard.solvers.spread import spread
from tailguard.solvers.target_range import with_range
from tailguard.solvers.wide import WidePreparation, prepare_wide
from tailguard.statistics.fields import Gradient, Rows
from tailguard.statistics.scalars import Norm, Slope
from tailguard.statistics.scores import Shifted
from tailguard.statistics.view import View

__all__ = ["PreparedThresholding", "garrote"]

MIDDLE = ClipLevel(0.5)
"""The median."""

DOUBT = 2.0
"""Released numbers below so many deviations of their noise are taken for noise."""

IMPROVEMENT = 4.0
"""No record counts for more than so many squares of the first slope level in the final choice."""


@dataclass(frozen=True)
class PreparedThresholding(Solver):
    """w ← shorten(shrink(peel(w − η·g̃(w)))) in private units; the last release chooses among all points and 0.

    The noise of a released coefficient is known, so that coefficients no larger than it are brought to 0. A step is
    shortened where the rows vary more along it than along a column, as they do on correlated designs: there η alone
    would diverge. An intercept is one more column, peeled like the others.

    Parameters
    ----------
    loss : Loss
        In generalised linear form, smooth.
    domain : Sparse
        Where the coefficients may lie, in raw units.
    n, bits : int
        Number of records, bits of the grid.
    intercept : bool
        Whether an intercept is fitted.
    target : Preparation or None
        How the target is centred and scaled (a loss of residuals), or None to take it as it is (classes).
    features : WidePreparation
        How the columns are.
    entries : Entries
        How coordinates of the gradients are bounded, for slopes of median size 1 (step "slope level").
    steps : int
        T.
    step_size : float
        η, in private units.
    """

    loss: Loss
    domain: Sparse
    n: int
    bits: int
    intercept: bool
    target: Preparation | None
    features: WidePreparation
    entries: Entries
    steps: int
    step_size: float

    @with_range
    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view = View(self.domain.dimension, intercept=self.intercept)
        if self.target is not None:
            view = yield from prepare_target(view, self.target, self.n, self.bits)
        view = yield from prepare_wide(view, self.features, self.n, self.bits)
        loss = scaled_loss(self.loss, view)
        points, levels = [np.zeros(view.dimension)], []
        for _ in range(self.steps):
            gradient = Gradient(view, loss, points[-1])
            level = yield from clip_level("slope level", Slope(gradient), MIDDLE, self.n, self.bits)
            goal = yield from self._step(gradient, level)
            point = yield from self._shortened(view, points[-1], goal)
            points.append(point)
            levels.append(level)
        best = yield from choose("choice", view, loss, points, IMPROVEMENT * levels[0] ** 2, self.bits)
        return raw_units(view, points[best], self.domain)

    def _step(self, gradient: Gradient, level: float) -> Generator[Query, Released, FloatVector]:
        rate = self.n / self.step_size
        inner = self.entries.times(level).statistic(gradient, self.bits)
        reply = yield Query("peeling", Shifted(inner, -rate * gradient.point))
        return garrote(-reply.value / rate, np.full(reply.value.size, DOUBT * reply.noise / rate))

    def _shortened(self, view: View, point: FloatVector, goal: FloatVector) -> Generator[Query, Released, FloatVector]:
        """Go as far towards the goal as a step of size 1 would take a parabola whose curvature is released."""
        size = self.domain.dimension
        change = goal - point
        length = float(np.linalg.norm(change[:size]))
        if length == 0.0:
            yield Query("step length", None)
            return goal
        along = replace(view, intercept=False, basis=change[:size, np.newaxis] / length)
        found = yield from spread("step length", Norm(Rows(along)), np.zeros(1), self.n, self.bits, 0.0)
        part = 1.0 / max(1.0, float(found[0]) ** 2) if np.isfinite(found[0]) else 1.0
        reached = point + part * change
        slopes = Sparse(size, self.domain.sparsity).project(reached[:size])
        return np.concatenate([slopes, reached[size:]])


def garrote(values: FloatVector, doubt: FloatVector) -> FloatVector:
    """Return values·max(0, 1 − (doubt/values)²): large entries hardly change, those below `doubt` become 0.

    Examples
    --------
    >>> garrote(np.array([10.0, -1.0, 0.0]), np.full(3, 2.0))
    array([ 9.6, -0. ,  0. ])
    """
    size = np.maximum(np.abs(values), np.maximum(doubt, 1e-300))
    return np.asarray(values * (1.0 - (doubt / size) ** 2))
