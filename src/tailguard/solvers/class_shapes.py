"""The bread and the meat of classes: what shape they have, and how large the one is beside the other.

Both are means of f·zzᵀ over rows z, where f falls with the size of the log-odds p: rows far along the model are sure of
their class and hardly count. So along the model's direction both are half or less of what they are across it, which
released matrices are too noisy to show, and standard errors that miss it are too small. If rows had a normal law, the
means of f, f·s and f·s² for p = b + L·s, s standard normal, would say by how much. Rows of heavy tails come near,
because long ones are shortened: within a quarter for Student's t₃ and for lognormal columns.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tailguard.losses.base import ResidualLoss
from tailguard.solvers.base import FloatVector
from tailguard.solvers.clip_level import Histogram, of_reply
from tailguard.solvers.matrices import TINY, Matrix, Number, held, share_of
from tailguard.solvers.normal_odds import moments
from tailguard.solvers.step_log import Log, last_steps
from tailguard.statistics.fields import Gradient
from tailguard.statistics.weighted import Weighted

__all__ = ["CERTAIN", "ClassShapes", "Shape", "Told", "class_shapes"]

LEAST = 0.5
"""Least curvature ÷ square slope of a balanced loss of classes, where the odds are even; it is 1 for a logistic one."""

SHORTENED = 0.4
"""How much less a mean squared weight of rows is than 1 over the share of rows that are shortened, as a part of it."""

LONG, REACH = 0.7, 4.0
"""A shortened row counts by its weight in the bread and by the square of it in the meat; so the one grows beside the
other with the lengths of rows, of those up to so many radii, beyond which cells are noise. By less than lengths alone
say, because far rows are surer of their class: between 0.55 and 0.9 on laws of all kinds."""

OFF = 0.2
"""Relative deviation of mean products of slopes and rows from the product of their mean squares."""

CERTAIN = 4.0
"""So many deviations of noise do not make a released bread of classes better than an expected one: that one is known to
a fifth, and the noise of the other is often larger than itself."""


@dataclass(frozen=True, eq=False)
class Shape:
    """Mean products f·zzᵀ of rows z, f a function of the log-odds, beside the rows' Gram matrix times the mean of f.

    Attributes
    ----------
    direction : vector
        Along the model, in the metric of the rows, of length 1 there.
    cross, along : float
        Means of f·s and of f·s², divided by that of f.
    intercept : bool
        Whether the last entry of a row is 1.
    """

    direction: FloatVector
    cross: float
    along: float
    intercept: bool

    def fitted(
        self, matrix: Matrix, gram: Matrix, noise: float = 1.0, told: "Told | None" = None
    ) -> tuple[Matrix, Number]:
        """Return the multiple that fits a matrix best whose entries have this noise, and what is known of the factor.

        What the intercept has for itself does not depend on rows. Both are what `told` says, where noise is all that
        was released.
        """
        shape = gram + (self.along - 1.0) * np.outer(self.direction, self.direction)
        if self.intercept:
            shape[-1] += self.cross * self.direction
            shape[:, -1] += self.cross * self.direction
            shape[-1, -1] = 0.0
        factor = share_of(matrix, held(shape), noise)
        factor = factor if told is None else factor & told.factor
        found = max(factor.value, 0.0) * held(shape)
        if self.intercept:
            own = Number(float(matrix[-1, -1]), noise)
            found[-1, -1] = max((own if told is None else own & told.own).value, 0.0)
        return found, factor


class Told(NamedTuple):
    """What histograms of slopes and of rows say of a meat: its part across the model, and that of the intercept."""

    factor: Number
    own: Number


@dataclass(frozen=True, eq=False)
class ClassShapes:
    """The shapes of bread and meat; how large the one is beside the other, and the other alone, where that is known."""

    bread: Shape
    meat: Shape
    ratio: float | None
    told: Told | None = None

    def curved(self, bread: Matrix, meat: Matrix, gram: Matrix) -> Matrix:
        """Return what the bread is expected to be: the meat of whitened rows, made longer along the model.

        Classes that are nearly certain are curved more than they pull, and a released bread is mostly noise.
        """
        if self.ratio is None:
            return self.bread.fitted(bread, gram)[0]
        longer = np.sqrt(self.bread.along / max(self.meat.along, TINY)) - 1.0
        change = np.eye(len(meat)) + longer * np.outer(self.bread.direction, self.bread.direction)
        return np.asarray(self.ratio * change @ meat @ change)


def class_shapes(gradient: Gradient, gram: Matrix, log: Log, n: int) -> ClassShapes | None:
    """Return the shapes of bread and meat where log-odds are right and nearly normal; None for a loss of residuals.

    Parameters
    ----------
    gradient : Gradient
        Of the loss, at a released point.
    gram : matrix
        Released, of the rows.
    log : list
        The questions and answers of the fit.
    n : int
        Number of records.
    """
    loss, point, intercept = gradient.loss, held(np.asarray(gradient.point)), bool(gradient.view.intercept)
    if isinstance(loss, ResidualLoss):
        return None
    slopes = np.append(point[:-1], 0.0) if intercept else point
    image = held(gram @ slopes)
    length = float(np.sqrt(max(float(slopes @ image), 0.0)))
    direction = image / length if length > TINY else np.zeros_like(image)
    if intercept:
        direction[-1] = 0.0  # how far mean rows are from 0 is in the Gram matrix already
    odds = float(point[-1]) if intercept else 0.0
    bread, meat = (
        _shape(direction, moments(part, odds, length), intercept)
        for part in (loss.second_derivative, lambda p, t: np.square(loss.derivative(p, t)))
    )
    last = last_steps(log)[-1][0].statistic
    if not isinstance(last, Weighted):
        return ClassShapes(bread, meat, None)
    replies = {query.step: reply for query, reply in log}
    sizes, rows = of_reply(replies["slope level"], n), of_reply(replies["leverage level"], n)
    weight = 1.0 + SHORTENED * min(max(rows.far(last.radius)[0], 0.0), 1.0)
    across = rows.mean_square(last.radius) - intercept / weight
    told = _told(sizes, max(across, 0.0) / max(float(np.trace(gram)) - intercept, 1.0), 1.0 / weight)
    return ClassShapes(bread, meat, _curved(sizes) * _longer(rows, last.radius), told)


def _curved(slopes: Histogram) -> float:
    """Return mean curvature ÷ mean square slope of classes, by a histogram of their slopes.

    For log-odds that are right, half the mean size of a slope is the mean curvature.
    """
    return float(np.clip(0.5 * slopes.moment(1.0, 1.0) / max(slopes.moment(1.0, 2.0), TINY), LEAST, 1.0))


def _longer(rows: Histogram, radius: float) -> float:
    """Return by how much a bread of rows of these lengths grows beside its meat, when rows are shortened to a radius.

    A row of length r has r·min(r, radius) in the trace of the one, and min(r, radius)² in that of the other.
    """
    ratio = rows.leverage(radius, REACH * radius) / max(rows.mean_square(radius), TINY)
    return 1.0 + LONG * (min(max(ratio, 1.0), REACH) - 1.0)


def _told(slopes: Histogram, across: float, own: float) -> Told:
    """Return how large a meat is, by the mean square of slopes and that of rows in each direction and of their weights.

    A released meat of rare classes is less than its noise.
    """
    mean, noise = slopes.moment(1.0, 2.0), slopes.moment_noise(1.0, 2.0)
    square = Number(mean, float(np.hypot(OFF * mean, noise)))
    return Told(*(Number(size * square.value, size * square.deviation) for size in (across, own)))


def _shape(direction: FloatVector, means: tuple[float, float, float], intercept: bool) -> Shape:
    mean, first, second = means
    return Shape(direction, first / max(mean, TINY), second / max(mean, TINY), intercept)
