"""A clipped, preconditioned descent on few columns: the one low-dimensional fit that every practical recipe shares."""

import math
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.solvers.base import FloatVector, Query, Released, Setting
from tailguard.solvers.clip_level import ClipLevel, clip_level, histogram
from tailguard.solvers.metric_projection import metric_projection
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.preconditioner import Preconditioner, preconditioner
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Gradient, Rows
from tailguard.statistics.scalars import Norm
from tailguard.statistics.slopes import Leveraged, Slopes
from tailguard.statistics.view import View

__all__ = ["Levels", "Refit", "refit", "scaled_loss"]

LEAST = 0.05
"""Part of the largest possible gradient below which no clip level is believed."""

TRUST = 3.0
"""Longest step in scaled units: a released gradient that asks for more is noise."""


@dataclass(frozen=True)
class Levels(Setting):
    """The clip levels of a refit: of rows (for the Gram matrix) and gradients, if they are sought, and of residuals."""

    row: ClipLevel | None
    gradient: ClipLevel | None
    residual: ClipLevel | None


@dataclass(frozen=True)
class Refit(Setting):
    """How a refit goes about it.

    Parameters
    ----------
    n, bits : int
        Number of records, bits of the grid.
    oracle : MeanOracle
        How a gradient is estimated.
    levels : Levels
        The clip levels; without those of rows and gradients the caller gives them, without one for residuals the
        intercept is not corrected at the end.
    ridge : float
        Smallest eigenvalue of the Gram matrix that is believed.
    steps : int
        T.
    refreshes : int
        How often the gradients' clip level is sought again, at equal distances.
    """

    n: int
    bits: int
    oracle: MeanOracle
    levels: Levels
    ridge: float
    steps: int
    refreshes: int

    def refreshed(self, step: int) -> bool:
        """Return whether the clip level is sought again before this step."""
        starts = {k * self.steps // self.refreshes for k in range(self.refreshes)}
        return self.levels.gradient is not None and step in starts


def scaled_loss(loss: Loss, view: View) -> Loss:
    """Return the loss of targets in the view's units."""
    return loss.rescaled(view.target_scale) if isinstance(loss, ResidualLoss) else loss


def refit(
    setting: Refit,
    loss: Loss,
    view: View,
    start: FloatVector | None = None,
    domain: Domain | None = None,
    factors: FloatVector | None = None,
    known: tuple[float, float] = (1.0, 1.0),
) -> Generator[Query, Released, FloatVector]:
    """Ask for a Gram matrix and T gradients of the view's rows and return the point, in the view's units.

    The preconditioner P is the inverse of a noisy Gram matrix that is damped by its own noise, so that it fades into
    a plain small step where the budget cannot carry a matrix. Gradients are clipped at a private high quantile of their
    norms that grows with n; the answer is the average of the last half of w ← w − P·g̃(w). The residuals' mean, clipped
    more widely because it is a single number, then corrects the intercept, on which clipping skewed noise leaves the
    largest bias.

    Parameters
    ----------
    setting : Refit
        Public numbers.
    loss : Loss
        In the view's units.
    view : View
        The columns, prepared.
    start : vector, optional
        Released or public; 0 if None.
    domain, factors : Domain and vector, optional
        Where point × factors must lie; anywhere if None.
    known : pair of float
        Released or public levels of rows and gradients, where the setting does not seek them.
    """
    radius, level = known
    if setting.levels.row is not None:
        radius = yield from clip_level("row level", Norm(Rows(view)), setting.levels.row, setting.n, setting.bits)
    inverse = yield from preconditioner("gram", view, radius, setting.ridge, setting.n, setting.bits)
    point = np.zeros(view.dimension) if start is None else start
    metric = _Metric(radius, inverse, domain, factors)
    point = yield from _descend(setting, loss, view, metric, level, point)
    if setting.levels.residual is not None:
        point = yield from _correct(setting, setting.levels.residual, loss, view, point)
    return point


@dataclass(frozen=True, eq=False)
class _Metric:
    """What a step needs: the rows' radius, the preconditioner, and the domain with its units."""

    radius: float
    inverse: Preconditioner
    domain: Domain | None
    factors: FloatVector | None

    def step(self, point: FloatVector, gradient: FloatVector) -> FloatVector:
        """Return the point after a step that is not too long, in the domain."""
        change = self.inverse.apply(gradient)
        point = point - change * min(1.0, TRUST / max(float(np.linalg.norm(change)), 1e-300))
        if self.domain is None or self.factors is None:
            return point
        return metric_projection(point, self.factors, self.domain, self.inverse)


def _descend(
    setting: Refit, loss: Loss, view: View, metric: _Metric, level: float, point: FloatVector
) -> Generator[Query, Released, FloatVector]:
    curvature, oracle = loss.usual_curvature, setting.oracle.at(level)
    kept, weights = [], []
    for step in range(setting.steps):
        gradient = Leveraged(Gradient(view, loss, point), metric.radius)
        if setting.levels.gradient is not None and setting.refreshed(step):
            scalars = oracle.scalars(gradient)
            found = yield from clip_level("gradient level", scalars, setting.levels.gradient, setting.n, setting.bits)
            oracle = oracle.at(_within(found, loss, metric.radius))
        reply = yield Query("gradient", oracle.statistic(gradient, setting.bits))
        point = metric.step(point, oracle.mean(reply, setting.n) / curvature)
        kept.append(point)
        weights.append(reply.noise**-2)
    half = setting.steps // 2
    return np.asarray(np.average(kept[half:], axis=0, weights=weights[half:]))


def _within(level: float, loss: Loss, radius: float) -> float:
    """Hold a level between 5 % and all of what a gradient can be at most, where a loss has bounded slopes."""
    bound = math.inf if loss.lipschitz is None else loss.lipschitz * radius
    return level if bound == math.inf else min(max(level, LEAST * bound), bound)


def _correct(
    setting: Refit, level: ClipLevel, loss: Loss, view: View, point: FloatVector
) -> Generator[Query, Released, FloatVector]:
    """Ask for the mean residual, clipped at its own level, and move the intercept by it."""
    residual = Slopes(Gradient(view, loss, point))
    sizes = yield from histogram("residual level", Norm(residual), setting.n, setting.bits)
    reply = yield Query("intercept", Clipped(residual, sizes.beyond(level.tail, level.order), setting.bits))
    return np.concatenate([point[:-1], point[-1:] - reply.value / (setting.n * sizes.present)])
