"""How far a fit may be from the truth: the sandwich of a clipped gradient, from released numbers alone.

Near the answer a mean gradient is linear: g̃(w) = H(w − w*) + sampling error + noise, H its derivative. Every released
gradient is such an equation, with a known noise; those of the last steps together give the estimate ŵ = w̄ − H⁻¹ḡ of
w*, with averages weighted by the inverse variances of the noise. Its covariance, H⁻¹(M/n + σ²I)H⁻¹, does not depend on
how the steps went, on damping, on averaging or on shrinkage. H, the *bread*, and M, the second moments of clipped
gradients or the *meat*, take one small release each.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tailguard.losses.base import ResidualLoss
from tailguard.solvers.base import FloatVector, Query, Released, Setting, Uncertainty
from tailguard.solvers.clip_level import of_reply
from tailguard.solvers.preconditioner import kept_entries
from tailguard.statistics.base import Statistic
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.curvature import BoundedCurvatures, BoundedGradient, Curvatures
from tailguard.statistics.fields import Field, Gradient
from tailguard.statistics.gram import Gram
from tailguard.statistics.outer import Outer
from tailguard.statistics.slopes import Leveraged, Slopes
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

__all__ = ["UNSEEN", "Line", "Sandwich", "recorded", "sandwich"]

LAST = 0.75
"""Part of the steps after which gradients count: earlier ones were taken too far from the answer to be linear there."""

FLOOR = 0.05
"""Least eigenvalue of the bread that is believed, as a part of the mean one."""

REACH = 2.0
"""Rows up to the square of this times the radius have their whole part in the bread, where rows count by ω, not ω²."""

UNSEEN = 1.5
"""By how much a mean of clipped residuals may be moved, in units of threshold × noise in a cell of the histogram that
found it: three such deviations of mass beyond are not seen, and tails of order 3 have half a threshold of excess."""

GATE = 2.0
"""Squares of noise in all entries of a matrix add up to no more than expected and so many deviations."""

LEVELS = ("residual level", "calibration level")
"""Steps that find where an intercept's residuals are clipped."""

LEAST = 0.5
"""Least curvature ÷ square slope of a balanced loss of classes, where the odds are even; it is 1 for a logistic one."""

SHORTENED = 0.4
"""By how much the bread of classes grows beside the meat with the share of rows that are shortened: such a row counts
by its weight in the one and by the square of it in the other. Between 0.3 and 0.5 on laws of all kinds."""

FARTHEST = 20.0
"""Largest factor of a calibration that is believed."""

TINY, LARGEST = 1e-60, 1e60
"""Where numbers end: no released matrix of unit scale comes near."""

Log = list[tuple[Query, Released]]
Matrix = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class Sandwich(Setting):
    """Public numbers: of records, and of the grid's bits."""

    n: int
    bits: int


@dataclass(frozen=True, eq=False)
class Line:
    """What a calibration finds: a direction of whitened slopes, the length along it, and the variance of that."""

    direction: FloatVector
    length: float
    variance: float


def recorded(solve: Generator[Query, Released, T], log: Log) -> Generator[Query, Released, T]:
    """Pass questions and answers through, and keep them."""
    query = next(solve)
    while True:
        reply = yield query
        log.append((query, reply))
        try:
            query = solve.send(reply)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


def sandwich(setting: Sandwich, log: Log, line: Line | None = None) -> Generator[Query, Released, Uncertainty]:
    """Ask for "bread" and "meat" where the last steps were and return the fitted point's uncertainty in raw units.

    What follows the steps, a calibration or a wider mean for the intercept, moves the point away from where the mean of
    bounded gradients is 0: there second moments would count a mean as well. So both are accounted for afterwards.

    Parameters
    ----------
    setting : Sandwich
        Public numbers.
    log : list
        The questions and answers of the fit: one "gram", "gradient"s weighted by leverage and clipped, and, where the
        intercept had the last word, one of `LEVELS` and "intercept".
    line : Line or None, default=None
        What a calibration found, where slopes had one.
    """
    steps = _last_steps(log)
    curvatures, gradients, (size, most) = _fields(steps[-1][0].statistic, _middle(steps))
    view = gradients.view
    gram = _gram(log, setting.n, kept_entries(view)) if view.basis is None else _identity(view)
    kept = np.diag(gram) != 0.0
    curved = yield from _asked("bread", Outer(curvatures, size, setting.bits), setting.n, kept)
    meat = yield from _asked("meat", Outer(gradients, most, setting.bits), setting.n, kept)
    with np.errstate(all="ignore"):  # released values may be anything; what overflows is not known
        meat = _shrunk(meat[0], _multiple(meat[0], gram), meat[1])
        ratio = _curvature_of_classes(log, setting.n)
        bread = _shrunk(curved[0], _multiple(curved[0], gram) if ratio is None else ratio * meat, curved[1])
        found = _assembled(steps, bread, meat, setting.n)
        if line is not None:
            found = _along(line, found)
        taken = {query.step for query, _ in log}
        if "intercept" in taken and not taken.isdisjoint(LEVELS):
            found = _with_corrected_intercept(found, log, gram, setting.n)
        return _in_raw_units(view, found)


def _gradient(statistic: Statistic | None) -> Gradient:
    """Return the gradient inside a step's statistic."""
    field = statistic.field if isinstance(statistic, Clipped | Weighted) else None
    field = field.field if isinstance(field, Leveraged | Slopes) else field
    assert isinstance(field, Gradient)
    return field


def _fields(statistic: Statistic | None, point: FloatVector) -> tuple[Field, Field, tuple[float, float]]:
    """Return the fields of bread and meat for steps like this one, taken at the point, and their largest lengths."""
    last = _gradient(statistic)
    gradient, root = Gradient(last.view, last.loss, point), math.sqrt(last.loss.smoothness or 1.0)
    if isinstance(statistic, Weighted):
        radius, limit = statistic.radius, statistic.limit
        bounded = BoundedCurvatures(gradient, radius, limit), BoundedGradient(gradient, radius, limit)
        return *bounded, (REACH * radius * root, radius * limit)
    assert isinstance(statistic, Clipped)
    assert isinstance(statistic.field, Leveraged)
    radius, threshold = statistic.field.radius, statistic.threshold
    return Curvatures(gradient, radius, threshold), Leveraged(gradient, radius), (radius * root, threshold)


def _identity(view: View) -> Matrix:
    """Return the Gram matrix of whitened rows; empty directions have no part in it."""
    used = np.asarray(view.basis).any(axis=0)
    return np.diag(np.append(used, True) if view.intercept else used).astype(np.float64)


def _last_steps(log: Log) -> Log:
    steps = [(query, reply) for query, reply in log if query.step == "gradient"]
    return steps[int(LAST * len(steps)) :]


def _middle(steps: Log) -> FloatVector:
    """Return the average point of some steps, weighted like their gradients."""
    weights = [max(reply.noise, TINY) ** -2 for _, reply in steps]
    return np.asarray(np.average([_gradient(query.statistic).point for query, _ in steps], axis=0, weights=weights))


def _assembled(steps: Log, bread: Matrix, meat: Matrix, n: int) -> Uncertainty:
    """Return the weighted least squares of all the steps' equations, and its covariance."""
    points = np.array([_gradient(query.statistic).point for query, _ in steps])
    gradients = np.array([reply.value / n for _, reply in steps])
    precision = np.array([(n / reply.noise) ** 2 for _, reply in steps])
    weights = precision / precision.sum()
    inverse = _inverse(bread)
    centre = weights @ points - inverse @ (weights @ gradients)
    moved = _positive(meat) / n + np.eye(len(meat)) / precision.sum()
    return Uncertainty(centre, inverse @ moved @ inverse)


def _along(line: Line, found: Uncertainty) -> Uncertainty:
    """Return the uncertainty of slopes times the factor that gives them the calibrated length.

    Tight levels shorten all slopes by about the same factor where skewed noise grows with the prediction. Along the
    line, the slopes are then as uncertain as the calibrated length; across it, as they were, times the factor.
    """
    r = line.direction.size
    slopes, along = found.centre[:r], float(found.centre[:r] @ line.direction)
    factor = line.length / along if along > 0.0 else 0.0
    if not 1.0 / FARTHEST <= factor <= FARTHEST:  # there is no line to speak of
        return found
    across = np.eye(found.centre.size)
    across[:r, :r] = factor * (np.eye(r) - np.outer(slopes / along, line.direction))
    covariance = across @ found.covariance @ across.T
    covariance[:r, :r] += line.variance * np.outer(slopes, slopes) / along**2
    return Uncertainty(np.append(factor * slopes, found.centre[r:]), covariance)


def _with_corrected_intercept(found: Uncertainty, log: Log, gram: Matrix, n: int) -> Uncertainty:
    """Return the uncertainty where the intercept b makes the mean residual 0: b = mean(t) − ⟨mean(z), slopes⟩.

    The mean residual has an error of its own; that of the slopes reaches b through the mean row, the Gram matrix's last
    column, because centres are medians.
    """
    means = gram[-1, :-1] / max(float(gram[-1, -1]), FLOOR)
    (query, reply), sizes = (next(pair for pair in log if pair[0].step in steps) for steps in (("intercept",), LEVELS))
    assert isinstance(query.statistic, Clipped)
    histogram = of_reply(sizes[1], n)
    moved = UNSEEN * histogram.noise * query.statistic.threshold
    own = histogram.mean_square(query.statistic.threshold) / n + (reply.noise / n) ** 2 + moved**2
    lift = np.vstack([np.eye(means.size), -means])
    covariance = lift @ found.covariance[:-1, :-1] @ lift.T
    covariance[-1, -1] += own
    slopes, at = found.centre[:-1], _gradient(query.statistic).point
    offset = at[-1] - float(reply.value[0]) / (n * histogram.present) - means @ (slopes - at[:-1])
    return Uncertainty(np.append(slopes, offset), covariance)


def _in_raw_units(view: View, found: Uncertainty) -> Uncertainty:
    """Return the uncertainty of the model in raw units; nothing is known of the coefficient of a dropped column."""
    d = view.dimension_in
    kept = np.isfinite(np.asarray(view.scale))
    factors = np.where(kept, view.target_scale / np.asarray(view.scale), 0.0)
    change = np.zeros((view.dimension, view.dimension))
    change[:d, :d] = np.diag(factors) if view.basis is None else factors[:, np.newaxis] * np.asarray(view.basis)
    shift = np.zeros(view.dimension)
    if view.intercept:
        change[d, :d] = -np.asarray(view.centre) @ change[:d, :d]
        change[d, d], shift[d] = view.target_scale, view.target_centre
    covariance, centre = change @ found.covariance @ change.T, change @ found.centre + shift
    unknown = (
        ~np.append(kept, np.ones(view.dimension - d, bool)) | ~np.isfinite(np.diag(covariance)) | ~np.isfinite(centre)
    )
    covariance[unknown, unknown] = np.inf
    return Uncertainty(np.where(np.isfinite(centre), centre, 0.0), covariance)


def _gram(log: Log, n: int, kept: NDArray[np.bool_]) -> Matrix:
    """Return the released Gram matrix, its entries beside the diagonal shrunk by what noise explains of them."""
    query, reply = next(pair for pair in log if pair[0].step == "gram")
    assert isinstance(query.statistic, Gram)
    matrix = _held(query.statistic.matrix(reply.value) / n) * np.outer(kept, kept)
    return _shrunk(matrix, np.diag(np.maximum(np.diag(matrix), 0.0)), reply.noise / n)


def _asked(
    step: str, products: Outer, n: int, kept: NDArray[np.bool_]
) -> Generator[Query, Released, tuple[Matrix, float]]:
    """Ask for a matrix of products and return it, without dropped columns, and its noise."""
    reply = yield Query(step, products)
    return _held(products.matrix(reply.value) / n) * np.outer(kept, kept), reply.noise / n


def _multiple(matrix: Matrix, gram: Matrix) -> Matrix:
    """Return the multiple of the Gram matrix that fits best."""
    return max(float(np.sum(matrix * gram) / max(np.sum(gram * gram), TINY)), 0.0) * gram


def _curvature_of_classes(log: Log, n: int) -> float | None:
    """Return how large the bread of classes is beside their meat, by the last histograms of slopes and of rows.

    For log-odds that are right, half the mean size of a slope is the mean curvature; and a row counts by its weight ω
    in the bread, by ω² in the meat. The matrix of curvatures is mostly noise where that of second moments is known
    well, and both have nearly the same shape.
    """
    last = _last_steps(log)[-1][0].statistic
    replies = {query.step: reply for query, reply in log}
    if not isinstance(last, Weighted) or isinstance(_gradient(last).loss, ResidualLoss):
        return None
    slopes, rows = of_reply(replies["slope level"], n), of_reply(replies["leverage level"], n)
    curved = 0.5 * slopes.moment(1.0, 1.0) / max(slopes.moment(1.0, 2.0), TINY)
    shortened = min(max(rows.far(last.radius)[0], 0.0), 1.0)
    return float(np.clip(curved, LEAST, 1.0) * (1.0 + SHORTENED * shortened))


def _held(matrix: Matrix) -> Matrix:
    """Return the matrix with entries whose squares and inverses are floats, whatever was released."""
    return np.asarray(np.clip(np.nan_to_num(matrix), -LARGEST, LARGEST))


def _shrunk(matrix: Matrix, target: Matrix, noise: float) -> Matrix:
    """Return a positive-part James-Stein estimate between a noisy matrix and its target."""
    apart = matrix - target
    entries = np.count_nonzero(np.triu(apart))
    explained = entries + GATE * math.sqrt(2.0 * entries)
    kept = 1.0 - explained * noise**2 / max(float(np.sum(apart**2)), TINY)
    return np.asarray(target + max(kept, 0.0) * apart)


def _inverse(bread: Matrix) -> Matrix:
    """Return the inverse with eigenvalues held above a part of the mean one; a dropped column has no part in it."""
    kept = np.flatnonzero(np.diag(bread))
    values, vectors = np.linalg.eigh(bread[np.ix_(kept, kept)])
    values = np.maximum(values, max(FLOOR * float(values.sum()) / max(kept.size, 1), TINY))
    inverse = np.zeros_like(bread)
    inverse[np.ix_(kept, kept)] = (vectors / values) @ vectors.T
    return inverse


def _positive(matrix: Matrix) -> Matrix:
    """Return the nearest positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
