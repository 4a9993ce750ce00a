"""Linear models without bounds: private units, whitened rows, bounded steps; for numbers a calibration of the model."""

import math
from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import expit

from tailguard.domains.base import Domain
from tailguard.domains.whole_space import WholeSpace
from tailguard.losses.base import Loss
from tailguard.losses.logistic import Logistic
from tailguard.solvers.base import OPTIONAL, FloatVector, Query, Range, Released, Solve, Solver
from tailguard.solvers.bounded_descent import BoundedDescent, Course, Walk, believed, descend, shrunk
from tailguard.solvers.calibration import Calibration, calibrate, slot, still_taken
from tailguard.solvers.clip_level import ClipLevel, clip_level, histogram
from tailguard.solvers.ending import first_offset
from tailguard.solvers.feature_range import with_feature_range
from tailguard.solvers.intercept import Settling, settle
from tailguard.solvers.log_odds import odds_range
from tailguard.solvers.preparation import Preparation, prepare_features, prepare_target, units
from tailguard.solvers.refit import scaled_loss
from tailguard.solvers.sandwich import Line, Log, Sandwich, recorded, sandwich
from tailguard.solvers.target_range import with_range
from tailguard.solvers.whitening import Whitened, whitened
from tailguard.statistics.fields import Gradient, Rows
from tailguard.statistics.scalars import Norm, Slope
from tailguard.statistics.view import View

__all__ = ["Newton"]

MARGIN = 1.25
"""By how much the share of the rarer class may be larger than what was released."""

SHORTEST = 1.0
"""Least length from which on rows are shortened: with an intercept no row is shorter, in private units hardly any is.
A histogram that is mostly noise may say otherwise."""

GATE = 3.0
"""Slopes whose squares add up to no more than noise's do, by so many deviations, are none."""


@dataclass(frozen=True, eq=False)
class _Fit:
    """A point in whitened units, the range of predictions, the curvature at the end, and what a calibration found."""

    white: Whitened
    point: FloatVector
    within: Range
    curvature: float
    line: Line | None = None


@dataclass(frozen=True)
class Newton(Solver):
    """Private preparation, one noisy Gram matrix, bounded steps; where the target is a number, a calibration.

    Parameters
    ----------
    loss : Loss
        In generalised linear form, smooth.
    surrogate : Loss or None
        A loss with the same model and more curvature, for the steps on all columns.
    domain : Domain
        Where the coefficients may lie, in raw units.
    d : int
        Number of features.
    intercept : bool
        Whether an intercept is fitted.
    scaled_target : bool
        Whether the target is centred and scaled too (a loss of residuals) or taken as it is (classes).
    preparation : Preparation
        How medians are sought.
    row, leverage : ClipLevel
        Which rows are shortened for the Gram matrix, and which whitened rows for gradients.
    ridge : float
        Smallest variance of a direction that is believed, in units of a column's.
    descent : BoundedDescent
        The steps on all columns.
    calibration : Calibration or None
        The steps on the line through the model. None for classes: their slopes are bounded without levels that would
        bias them, and noise is all that is left to correct.
    settling : Settling or None
        How the intercept is settled in the end; None without one, and for classes.
    errors : Sandwich or None
        How its uncertainty is estimated; None for not at all.
    farthest : float or None, default=None
        How far log-odds are believed, as in `odds_range`; None for no limit.
    """

    loss: Loss
    surrogate: Loss | None
    domain: Domain
    d: int
    intercept: bool
    scaled_target: bool
    preparation: Preparation
    row: ClipLevel
    leverage: ClipLevel
    ridge: float
    descent: BoundedDescent
    calibration: Calibration | None
    settling: Settling | None
    errors: Sandwich | None = None
    farthest: float | None = field(default=None, metadata=OPTIONAL)

    @with_feature_range
    @with_range
    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        log = Log()
        fit = yield from recorded(self._solve(), log)
        estimate = replace(fit.white.raw(fit.point, self.domain), prediction_range=fit.within)
        if self.errors is None:
            return estimate
        known = (fit.line, fit.curvature) if self.scaled_target else ()
        uncertainty = yield from sandwich(self.errors, log, *known)
        return replace(estimate, uncertainty=uncertainty)

    def _solve(self) -> Generator[Query, Released, _Fit]:
        n, bits = self.descent.n, self.descent.bits
        view = View(self.d, intercept=self.intercept)
        if self.scaled_target:
            view = yield from prepare_target(view, self.preparation, n, bits)
        view = yield from prepare_features(view, self.preparation, n, bits)
        loss = scaled_loss(self.loss, view)
        radius = yield from clip_level("row level", Norm(Rows(view)), self.row, n, bits)
        white = yield from whitened("gram", view, max(radius, SHORTEST), 1.0 - self.row.tail, self.ridge, n, bits)
        start = np.zeros(white.view.dimension)
        if self.intercept and not self.scaled_target:
            start[-1] = yield from first_offset(white.view, loss, n, bits)
        # The mean curvature of log-odds is at most the share of the rarer one, wherever the model is.
        rarer = MARGIN * float(expit(-abs(start[-1]))) if isinstance(self.loss, Logistic) else math.inf
        within = odds_range(self.loss, float(start[-1]) if self.intercept else 0.0, self.farthest)
        walk = yield from self._fit(white, self.surrogate or loss, start, rarer)
        if self.calibration is not None and not walk.even:
            point, line = yield from self._calibrated(self.calibration, white, loss, _shrunken(white, walk))
            return _Fit(white, point, within, walk.curvature, line)
        if self.calibration is not None:
            walk = yield from self._onward(self.calibration, walk)
        return _Fit(white, _shrunken(white, walk), within, walk.curvature)

    def _calibrated(
        self, setting: Calibration, white: Whitened, loss: Loss, point: FloatVector
    ) -> Generator[Query, Released, tuple[FloatVector, Line]]:
        """Return the point with a calibrated factor of its slopes and a settled intercept, and what was found."""
        n, bits = self.descent.n, self.descent.bits
        slopes = Slope(Gradient(white.view, loss, point))
        sizes = yield from histogram("calibration level", slopes, n, bits, slot(point.size))
        calibrated, line = yield from calibrate(setting, loss, white.view, point, sizes)
        found = self._kept(white, point, calibrated)
        if self.settling is not None:
            tight, gradient = float(point[-1]), Gradient(white.view, loss, found)
            found = yield from settle(self.settling, gradient, sizes, point.size, tight)
            if loss.lipschitz is None:
                order = setting.descent.level.order
                line = replace(line, left=still_taken(point, found, sizes, line.level, order))
                longer = np.append(found[:-1] + line.left * (found[:-1] - point[:-1]), found[-1])
                found = self._kept(white, found, longer)
        return found, line

    def _onward(self, setting: Calibration, walk: Walk) -> Generator[Query, Released, Walk]:
        """Go on with the steps on all columns: residuals without skew leave nothing to calibrate, or to settle."""
        for name in ("calibration level", "prediction level"):
            walk = yield from walk.onward(name, slot(walk.points[-1].size))
        for _ in range(setting.descent.steps):
            walk = yield from walk.onward("calibration")
        return (yield from walk.onward("intercept")) if self.settling is not None else walk

    def _kept(self, white: Whitened, point: FloatVector, calibrated: FloatVector) -> FloatVector:
        """Return the calibrated point; where a factor would leave the domain, its slopes as they were."""
        slopes = white.raw(calibrated, WholeSpace(self.d)).coefficients
        moved = np.max(np.abs(self.domain.project(slopes) - slopes)) > 1e-9 * np.max(np.abs(slopes))
        return np.append(point[: self.d], calibrated[self.d :]) if moved else calibrated

    def _fit(self, white: Whitened, loss: Loss, start: FloatVector, most: float) -> Generator[Query, Released, Walk]:
        n, bits = self.descent.n, self.descent.bits
        factors = white.view.target_scale / units(white.view)[1]

        def inside(point: FloatVector) -> FloatVector:
            return white.inside(point, self.domain, factors)

        radius = yield from clip_level("leverage level", Norm(Rows(white.view)), self.leverage, n, bits)
        names = ("slope level", "gradient")
        radius = max(radius, SHORTEST)
        return (yield from descend(names, self.descent, Course(loss, white.view, radius, start, inside, most=most)))


def _shrunken(white: Whitened, walk: Walk) -> FloatVector:
    """Return the end of a walk, drawn to its start as far as noise explains the way."""
    r = len(white.vectors)
    return np.append(_believed(white, walk), shrunk(walk.course.start, walk.point, walk.variance)[r:])


def _believed(white: Whitened, walk: Walk) -> FloatVector:
    """Return the slopes shrunk, column by column, as far as noise explains them; none if it explains all of them.

    Where a class is rare, noise is of the size of the slopes: all of them shrink alike then, which is best for many of
    such. Points have not jumped about there, and the noise of their average is known too well for a gate.
    """
    count = int(np.count_nonzero(white.kept[: len(white.vectors)]))
    if walk.settles:
        slopes = walk.point[: len(white.vectors)]
        return np.asarray(slopes * believed(slopes[white.kept[: len(white.vectors)]], walk.variance))
    if float(np.sum(walk.point[: len(white.vectors)] ** 2)) < walk.variance * (count + GATE * np.sqrt(2.0 * count)):
        return np.zeros(len(white.vectors))
    slopes = white.scaled(walk.point)[: len(white.vectors)]
    noise = walk.variance * (np.square(white.vectors) @ (1.0 / white.values))
    kept = np.maximum(0.0, 1.0 - noise / np.maximum(slopes**2, 1e-300))
    return np.asarray(np.sqrt(white.values) * (white.vectors.T @ (kept * slopes)))
