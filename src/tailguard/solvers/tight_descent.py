"""Linear models where a budget is small: units, public or private, and tightly bounded gradients, and nothing else."""

import math
from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtri

from tailguard.domains.base import Domain
from tailguard.losses.balanced import BalancedLogistic
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.solvers.base import OPTIONAL, FloatVector, Query, Released, Solve, Solver
from tailguard.solvers.bounded_descent import believed
from tailguard.solvers.ending import Held, first_offset
from tailguard.solvers.feature_range import FeatureRange, doubtful_rows
from tailguard.solvers.log_odds import odds_range
from tailguard.solvers.model_choice import choose
from tailguard.solvers.places import believed_means, places
from tailguard.solvers.preparation import Preparation, inside, prepare_features, prepare_target, raw_units, units
from tailguard.solvers.refit import scaled_loss
from tailguard.solvers.target_range import with_range
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Gradient, Rows
from tailguard.statistics.slopes import Slopes
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

__all__ = ["TightDescent"]

RESIDUAL = 0.85
"""A usual residual, in scales of the target."""

GAIN, MORE_GAIN, LONGEST = 1.25, 1.75, 0.7
"""g where c is large, and what is added where it is 0; and the longest part of the way to what a step finds."""

CLASS_CURVATURE = 0.4
"""Mean curvature of the balanced loss at usual log-odds."""

LEAST_SLOPE, LEAST_CURVATURE = 1e-100, 0.01
"""Where the largest slope ends, and the mean curvature in units of it, whatever a threshold is beside residuals."""

DOUBT = 1.0
"""A last change of the intercept is believed as far as so many times its noise does not explain it."""

NARROW = 1.0 / 32.0
"""Columns whose scale is so small a part of their centre are far from 0, as it seems: or nearly all of their numbers
are the same, and the scale is noise."""


@dataclass(frozen=True)
class TightDescent(Solver):
    """Bounded steps at public levels, in public or private units, averaged with each other and with a prior.

    Rows are shortened and slopes limited so tightly that a record hardly counts for more than its direction and the
    sign of its residual; then levels need not be known, and noise is nearly the least there is. The first point is the
    null model. Step t goes g ÷ (t + g·c) of the way to what it finds, c being the variance of a find's noise ÷ that of
    a prior. With g = 1, and the same curvature in all directions, the points are the means of all finds and of the
    prior; curvature differs, and g is larger, the more so where noise is less. So noisy steps are short ones,
    and directions in which little can be known stay near the null model; nothing has to be shrunk afterwards. Of an
    intercept nothing is known before: its steps have no c.

    Parameters
    ----------
    loss : Loss
        In generalised linear form, smooth.
    surrogate : Loss or None
        A loss with the same model and more curvature, for the steps.
    domain : Domain
        Where the coefficients may lie, in raw units.
    n, d, bits : int
        Number of records and features, bits of the grid.
    intercept : bool
        Whether an intercept is fitted.
    preparation : Preparation
        How units are sought, as far as they are not public.
    averaged : bool
        Whether columns are centred at the means of shortened rows (step "feature mean"), where no medians are sought.
    rounds : int
        How many histograms (step "feature scale") say where columns lie and how wide they are, if they are centred at
        means and neither is public; else 0.
    radius, limit : float
        Largest length of a row, and residual from which on slopes stay the same, in units of the target's scale (step
        "gradient").
    steps : int
        T.
    prior : float
        Variance that the predictions of a model are expected to have, in units of the target's, or of log-odds.
    trust : float
        Longest find, in units of the columns and the target: a released gradient that asks for more is noise, or rows
        are far from round.
    judged, handicap : float
        The most that a record counts in the choice between the null model and this one (step "choice"), and what this
        one must win, as in `choose`.
    width : float or None
        Largest slope in the last word on the intercept (step "intercept"); None for no such word.
    lean : float, default=0.0
        How much farther than `judged` a record counts against this model, and less far for it.
    farthest : float or None, default=None
        How far log-odds are believed, as in `odds_range`; None for no limit.
    """

    loss: Loss
    surrogate: Loss | None
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    preparation: Preparation
    averaged: bool
    rounds: int
    radius: float
    limit: float
    steps: int
    prior: float
    trust: float
    judged: float
    handicap: float
    width: float | None
    lean: float = 0.0
    farthest: float | None = field(default=None, metadata=OPTIONAL)

    @with_range
    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view = View(self.d, intercept=self.intercept)
        if isinstance(self.loss, ResidualLoss):
            view = yield from prepare_target(view, self.preparation, self.n, self.bits)
        view = yield from self._units(view)
        loss, null = scaled_loss(self.loss, view), np.zeros(view.dimension)
        residual, flat = isinstance(loss, ResidualLoss), self._flatness(loss)
        if self.intercept and not residual:
            null[-1] = yield from first_offset(view, loss, self.n, self.bits)
        null = inside(view, null, self.domain)
        within = odds_range(loss, float(null[-1]) if self.intercept else 0.0, self.farthest)
        point = yield from self._descend(view, self.surrogate or loss, null)
        if residual:  # what steps have found out about the intercept is worth more than the median
            null = inside(view, np.append(np.zeros(self.d), point[self.d :]), self.domain)
        point = yield from self._chosen(view, Held(loss, within), flat, [null, point])
        if self.width is not None:
            reply = yield Query("intercept", Clipped(Slopes(Gradient(view, loss, point)), flat * self.width, self.bits))
            change = -reply.value / (flat * self.n)
            change = change * believed(change, DOUBT * (reply.noise / (flat * self.n)) ** 2)
            point = np.append(point[: self.d], point[self.d :] + change)
        estimate = replace(raw_units(view, point, self.domain), prediction_range=within)
        return replace(estimate, feature_range=self._believed_rows(view, estimate.coefficients))

    def _believed_rows(self, view: View, coefficients: FloatVector) -> FeatureRange | None:
        """Return the rows that are believed: by columns far from 0 alone, in private scales."""
        if "feature scale" not in self.preparation.asked:
            return None
        centre, scale = units(view)
        return doubtful_rows(view, coefficients, scale < NARROW * np.abs(centre))

    def _chosen(
        self, view: View, loss: Held, flat: float, models: list[FloatVector]
    ) -> Generator[Query, Released, FloatVector]:
        """Return the model that predicts better, the first one if the second is not ahead."""
        handicap = self.handicap + self.n * self.lean / self.judged
        limits = flat * self.judged, self.bits, handicap, flat * self.lean
        return models[min(max((yield from choose("choice", view, loss, models, *limits)), 0), 1)]

    def _units(self, view: View) -> Generator[Query, Released, View]:
        """Return the view with units of the columns."""
        if self.rounds:
            return (yield from places(view, self.n, self.bits, self.rounds))
        view = yield from prepare_features(view, self.preparation, self.n, self.bits)
        return (yield from self._averaged(view)) if self.averaged else view

    def _averaged(self, view: View) -> Generator[Query, Released, View]:
        """Return the view with columns centred at their means: one sum of rows costs less than medians do."""
        rows = Rows(replace(view, intercept=False))
        reply = yield Query("feature mean", Clipped(rows, float(np.sqrt(self.d)), self.bits))
        mean = believed_means(reply.value / self.n, reply.noise / self.n)
        scale = np.asarray(view.scale)
        centre = np.asarray(view.centre) + np.where(np.isfinite(scale), scale, 0.0) * mean
        return replace(view, centre=centre)

    def _descend(self, view: View, loss: Loss, point: FloatVector) -> Generator[Query, Released, FloatVector]:
        limit, curvature = self._level(loss)
        rate, variance = self.n * curvature, self.prior / self.d  # of one slope
        for step in range(1, self.steps + 1):
            gradient = Gradient(view, loss, point)
            reply = yield Query("gradient", Weighted(gradient, self.radius, limit, self.bits))
            change = reply.value / rate
            part = min(1.0, self.trust / max(float(np.linalg.norm(change)), 1e-300))
            doubt = (reply.noise / rate) ** 2 / variance
            gain = GAIN + MORE_GAIN / (1.0 + doubt)
            weights = np.full(point.size, min(LONGEST, gain / (step + gain * doubt)))
            weights[self.d :] = min(LONGEST, gain / step)  # nothing is known of an intercept
            point = inside(view, point - part * weights * change, self.domain)
        return point

    def _flatness(self, loss: Loss) -> float:
        """Return how much smaller slopes of usual residuals are than those of squares: a threshold may be tiny."""
        return min(1.0, self._steepest(loss) / self.limit) if isinstance(loss, ResidualLoss) else 1.0

    def _steepest(self, loss: Loss) -> float:
        """Return the largest slope of residuals up to the limit; that of a loss which falls again lies further in."""
        residuals = self.limit * np.exp2(-np.arange(800) / 8.0)
        return max(float(np.max(np.abs(loss.derivative(residuals, 0.0)))), LEAST_SLOPE)

    def _level(self, loss: Loss) -> tuple[float, float]:
        """Return the largest slope, and the mean curvature of what such records add, for usual rows and residuals."""
        rows = self.radius / math.sqrt(self.d + self.intercept)
        if not isinstance(loss, ResidualLoss):
            usual = CLASS_CURVATURE if isinstance(loss, BalancedLogistic) else loss.usual_curvature
            return loss.lipschitz or 1.0, rows * usual
        limit = self._steepest(loss)
        residuals = RESIDUAL * ndtri((np.arange(1000) + 0.5) / 1000.0)
        slopes = np.clip(loss.derivative(residuals, 0.0), -limit, limit)
        # Stein: the mean derivative of a function of a Gaussian number is its mean product with it, over the variance.
        curvature = float(np.mean(slopes * residuals)) / RESIDUAL**2
        return limit, rows * max(curvature, LEAST_CURVATURE * limit)
