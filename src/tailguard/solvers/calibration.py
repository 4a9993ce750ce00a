"""The last word on the slopes of a fitted model: a common factor.

One number can be asked for with far less noise than a whole gradient, so residuals can be clipped far more widely. That
removes the bias that tight levels leave where skewed noise grows with the prediction; and a model that is mostly noise
gets a factor near 0, which is the null model.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tailguard.losses.base import Loss
from tailguard.solvers.base import FloatVector, Query, Released, Setting
from tailguard.solvers.bounded_descent import BoundedDescent, Course, descend, shrunk
from tailguard.solvers.clip_level import CELLS, ClipLevel, Histogram, histogram
from tailguard.solvers.sandwich import UNSEEN, Line
from tailguard.solvers.tails import taken
from tailguard.statistics.fields import Rows
from tailguard.statistics.scalars import Norm
from tailguard.statistics.view import View

__all__ = ["Calibration", "calibrate", "slot", "still_taken"]

CAUTION = 1.0
"""A change is believed as far as so many times its noise does not explain it."""

FAR = 4.0
"""Rows count in the curvature up to so many times the radius: a row weighs ω = radius/‖z‖, and curves by ω‖z‖²."""

LARGEST = 20.0
"""Largest factor that is believed."""

MULTIPLE, FARTHEST = 1.5, 0.5
"""By how much larger a part of the slopes' change than of the intercept's a level takes, and the most of a change that
is added to it. The first would be the order of the tails, 2 and more; but the change is noisy, and less of it was best
on development data."""


@dataclass(frozen=True)
class Calibration(Setting):
    """How a model is calibrated.

    Parameters
    ----------
    rows : ClipLevel
        Which predictions are weighted down, the largest ones.
    descent : BoundedDescent
        The steps.
    """

    rows: ClipLevel
    descent: BoundedDescent


def slot(k: int) -> int:
    """Return how long the steps of levels are: they are gradients of k entries where nothing is calibrated."""
    return max(CELLS, k)


def calibrate(
    setting: Calibration, loss: Loss, view: View, point: FloatVector, sizes: Histogram
) -> Generator[Query, Released, tuple[FloatVector, Line]]:
    """Ask for a descent on the line through the model and return the point with new slopes and a new intercept.

    The change is believed as far as its noise does not explain it (James–Stein). Steps "prediction level" and
    "calibration".

    Parameters
    ----------
    setting : Calibration
        Public numbers.
    loss : Loss
        In the view's units.
    view : View
        Of whitened rows.
    point : vector
        Released: slopes, and an intercept where the view has one.
    sizes : Histogram
        Released sizes of the loss's slopes at the point.
    """
    r = point.size - bool(view.intercept)
    length = max(float(np.linalg.norm(point[:r])), 1e-12)
    direction = np.asarray(view.basis) @ (point[:r] / length)
    # A line among r - 1 columns of zeros: the plan's steps may be as long as whole gradients.
    line = replace(view, basis=np.pad(direction[:, np.newaxis], ((0, 0), (0, r - 1))))
    descent, start = setting.descent, np.concatenate([[length], np.zeros(r - 1), point[r:]])
    rows = yield from histogram("prediction level", Norm(Rows(line)), descent.n, descent.bits, slot(point.size))
    radius = rows.beyond(setting.rows.tail, setting.rows.order)
    spread = max(rows.leverage(radius, FAR * radius) - bool(view.intercept), 1.0)
    metric = np.concatenate([[spread], np.full(r - 1, np.inf), np.ones(point.size - r)])
    course = Course(loss, line, radius, start, metric=metric)
    walk = yield from descend(("", "calibration"), descent, course, sizes)
    sampling = sizes.moment(walk.limit, 2.0) / (descent.n * walk.curvature**2)
    found = shrunk(start, walk.point, CAUTION * (walk.variance / metric**2 + sampling / metric))
    factor = min(max(float(found[0]) / length, 0.0), LARGEST)
    unseen = (UNSEEN * sizes.noise * walk.limit / walk.curvature) ** 2
    counted = min(max(rows.mean_square(radius) - bool(view.intercept), 0.0), spread)  # E[ω²u²], where spread is E[ωu²]
    variance = (walk.variance + (sampling + unseen) * counted) / spread**2
    known = Line(point[:r] / length, float(walk.point[0]), variance, walk.limit)
    return np.concatenate([factor * point[:r], found[r:]]), known


def still_taken(tight: FloatVector, found: FloatVector, sizes: Histogram, level: float, order: float = 2.0) -> float:
    """Return what the level of a calibration takes from slopes, as a part of what it gave them back.

    Let residuals be s·ξ, where the spread s depends on the prediction. Tight levels take in proportion to s from a
    prediction. A wide level c takes E(sξ − c)₊, for tails of order α in proportion to s^α. So if it takes a part of the
    intercept's change, it takes α times that part of the slopes' change; `MULTIPLE` is what is believed of α.

    Parameters
    ----------
    tight, found : vector
        Released: the model by tight levels, and the one that was calibrated and settled.
    sizes : Histogram
        Released sizes of residuals.
    level : float
        Where they were clipped in the calibration.
    order : float, default=2.0
        Least tail order to believe, as in `mean_excess`.
    """
    apart = float(found[-1] - tight[-1])
    return min(MULTIPLE * abs(taken(sizes, level, apart, order)) / max(abs(apart), 1e-100), FARTHEST)
