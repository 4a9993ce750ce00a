"""Regression without bounds: private preparation, one noisy Gram matrix, a few clipped and preconditioned steps."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Setting, Solve, Solver
from tailguard.solvers.clip_level import ClipLevel, clip_level
from tailguard.solvers.metric_projection import metric_projection
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.preconditioner import Preconditioner, preconditioner
from tailguard.solvers.preparation import Preparation, prepare_features, prepare_target, units
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Gradient, Rows
from tailguard.statistics.scalars import Norm
from tailguard.statistics.slopes import Leveraged, Slopes
from tailguard.statistics.view import View

__all__ = ["ClippedDescent", "Levels"]

TRUST = 3.0
"""Longest step in scaled units: a released gradient that asks for more is noise."""


@dataclass(frozen=True)
class Levels(Setting):
    """The clip levels of `ClippedDescent`: of rows (for the Gram matrix), of gradients, and of residuals."""

    row: ClipLevel
    gradient: ClipLevel
    residual: ClipLevel | None


@dataclass(frozen=True)
class ClippedDescent(Solver):
    """w ← w − P·g̃(w) with clipped gradients in private units; the answer is the average of the last half.

    The preconditioner P is the inverse of a noisy Gram matrix that is damped by its own noise, so that it fades into
    a plain small step where the budget cannot carry a matrix. Gradients are clipped at a private high quantile of their
    norms that grows with n; the residuals' mean, clipped more widely because it is a single number, then corrects the
    intercept, on which clipping skewed noise leaves the largest bias.

    Parameters
    ----------
    loss : Loss
        In generalised linear form, smooth.
    domain : Domain
        Where the coefficients may lie, in raw units.
    n, d, bits : int
        Number of records and features, bits of the grid.
    intercept : bool
        Whether an intercept is fitted.
    scaled_target : bool
        Whether the target is centred and scaled too (a loss of residuals) or taken as it is (classes).
    oracle : MeanOracle
        How a gradient is estimated.
    preparation : Preparation
        How medians are sought.
    levels : Levels
        The clip levels.
    ridge : float
        Smallest eigenvalue of the Gram matrix that is believed.
    steps : int
        T.
    refreshes : int
        How often the gradients' clip level is sought again, at equal distances.
    """

    loss: Loss
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    scaled_target: bool
    oracle: MeanOracle
    preparation: Preparation
    levels: Levels
    ridge: float
    steps: int
    refreshes: int

    def refreshed(self, step: int) -> bool:
        """Return whether the clip level is sought again before this step."""
        return step in {k * self.steps // self.refreshes for k in range(self.refreshes)}

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view = View(self.d, intercept=self.intercept)
        if self.scaled_target:
            view = yield from prepare_target(view, self.preparation, self.n, self.bits)
        view = yield from prepare_features(view, self.preparation, self.n, self.bits)
        radius = yield from clip_level("row level", Norm(Rows(view)), self.levels.row, self.n, self.bits)
        inverse = yield from preconditioner("gram", view, radius, self.ridge, self.n, self.bits)
        point = yield from self._descend(view, radius, inverse)
        if self.levels.residual is not None:
            point = yield from self._correct(view, point)
        return self._raw(view, point)

    def _scaled_loss(self, view: View) -> Loss:
        return self.loss.rescaled(view.target_scale) if isinstance(self.loss, ResidualLoss) else self.loss

    def _descend(self, view: View, radius: float, inverse: Preconditioner) -> Generator[Query, Released, FloatVector]:
        loss = self._scaled_loss(view)
        curvature, factors = loss.smoothness or 1.0, view.target_scale / units(view)[1]
        point, oracle = np.zeros(view.dimension), self.oracle
        kept, weights = [], []
        for step in range(self.steps):
            gradient = Leveraged(Gradient(view, loss, point), radius)
            if self.refreshed(step):
                found = yield from clip_level(
                    "gradient level", oracle.scalars(gradient), self.levels.gradient, self.n, self.bits
                )
                oracle = oracle.at(found)
            reply = yield Query("gradient", oracle.statistic(gradient, self.bits))
            change = inverse.apply(oracle.mean(reply, self.n)) / curvature
            change *= min(1.0, TRUST / max(float(np.linalg.norm(change)), 1e-300))
            point = metric_projection(point - change, factors, self.domain, inverse)
            kept.append(point)
            weights.append(reply.noise**-2)
        half = self.steps // 2
        return np.asarray(np.average(kept[half:], axis=0, weights=weights[half:]))

    def _correct(self, view: View, point: FloatVector) -> Generator[Query, Released, FloatVector]:
        """Ask for the mean residual, clipped at its own level, and move the intercept by it."""
        residual = Slopes(Gradient(view, self._scaled_loss(view), point))
        assert self.levels.residual is not None
        threshold = yield from clip_level("residual level", Norm(residual), self.levels.residual, self.n, self.bits)
        reply = yield Query("intercept", Clipped(residual, threshold, self.bits))
        return np.concatenate([point[:-1], point[-1:] - reply.value / self.n])

    def _raw(self, view: View, point: FloatVector) -> Estimate:
        centre, scale = units(view)
        slopes = self.domain.project(point[: self.d] * view.target_scale / scale)
        if not self.intercept:
            return Estimate(slopes)
        offset = view.target_centre + view.target_scale * point[self.d]
        return Estimate(slopes, float(offset - slopes @ centre))
