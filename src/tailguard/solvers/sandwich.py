"""How far a fit may be from the truth: the sandwich of a clipped gradient, from released numbers alone.

Near the answer a mean gradient is linear: g̃(w) = H(w − w*) + sampling error + noise, H its derivative. Every released
gradient is such an equation, with a known noise; those of the last steps together give the estimate ŵ = w̄ − H⁻¹ḡ of
w*, with averages weighted by the inverse variances of the noise. Its covariance, H⁻¹(M/n + σ²I)H⁻¹, does not depend on
how the steps went, on damping, on averaging or on shrinkage. H, the *bread*, and M, the second moments of clipped
gradients or the *meat*, take one small release each.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tailguard.losses.base import ResidualLoss
from tailguard.solvers.base import FloatVector, Query, Released, Setting, Uncertainty
from tailguard.solvers.clip_level import of_reply
from tailguard.solvers.matrices import TINY, Matrix, held, inverted, positive, shrunk
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
"""Least share of the records that are believed to have a mean row."""

REACH = 2.0
"""Rows up to the square of this times the radius have their whole part in the bread, where rows count by ω, not ω²."""

UNSEEN = 1.5
"""By how much a mean of clipped residuals may be moved, in units of threshold × noise in a cell of the histogram that
found it: three such deviations of mass beyond are not seen, and tails of order 3 have half a threshold of excess."""

LEVELS = ("residual level", "calibration level")
"""Steps that find where an intercept's residuals are clipped."""

LEAST = 0.5
"""Least curvature ÷ square slope of a balanced loss of classes, where the odds are even; it is 1 for a logistic one."""

SHORTENED = 0.4
"""By how much the bread of classes grows beside the meat with the share of rows that are shortened: such a row counts
by its weight in the one and by the square of it in the other. Between 0.3 and 0.5 on laws of all kinds."""

WIDE = 10.0
"""Wanted mass beyond the level of the wide gradient, in units of the noise in a cell of the residuals' histogram."""

UNEQUAL = 2.0
"""Squared error of slopes across the line, beside what tight levels took along it, squared."""

LEFT = 0.125
"""What the levels of a calibration still take from the length of slopes, as a part of what tight levels took: between
nothing and a quarter."""

CERTAIN = 1.5
"""So many deviations of a calibrated length are noise and nothing else."""

FARTHEST = 20.0
"""Largest factor of a calibration that is believed."""

Log = list[tuple[Query, Released]]
T = TypeVar("T")


@dataclass(frozen=True)
class Sandwich(Setting):
    """Public numbers: of records, of the grid's bits, and whether one wide gradient is asked for in the end."""

    n: int
    bits: int
    wide: bool = False


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
    curvature, its_noise = yield from _asked("bread", Outer(curvatures, size, setting.bits), setting.n, kept)
    squares, noise = yield from _asked("meat", Outer(gradients, most, setting.bits), setting.n, kept)
    with np.errstate(all="ignore"):  # released values may be anything; what overflows is not known
        meat = shrunk(squares, _multiple(squares, gram), noise)
        ratio = _bread_of_classes(log, setting.n)
        bread = shrunk(curvature, _multiple(curvature, gram) if ratio is None else ratio * meat, its_noise)
        tight = found = _assembled(steps, bread, meat, setting.n)
        if line is not None:
            found = _along(line, found)
        taken = {query.step for query, _ in log}
        if "intercept" in taken and not taken.isdisjoint(LEVELS):
            found = _with_corrected_intercept(found, log, gram, setting.n)
    if setting.wide and line is not None:
        found = yield from _across(line, tight, found, bread, log, setting)
    with np.errstate(all="ignore"):
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
    inverse = inverted(bread)
    centre = weights @ points - inverse @ (weights @ gradients)
    moved = positive(meat) / n + np.eye(len(meat)) / precision.sum()
    return Uncertainty(centre, inverse @ moved @ inverse)


def _along(line: Line, found: Uncertainty) -> Uncertainty:
    """Return the uncertainty of slopes times the factor that gives them the calibrated length.

    Tight levels shorten all slopes by about the same factor where skewed noise grows with the prediction. Along the
    line, the slopes are then as uncertain as the calibrated length; across it, as they were, times the factor.
    """
    r = line.direction.size
    slopes, along = found.centre[:r], float(found.centre[:r] @ line.direction)
    left = LEFT * (line.length - along)
    factor = (line.length + left) / along if along > 0.0 else 0.0
    if not 1.0 / FARTHEST <= factor <= FARTHEST:  # there is no line to speak of
        return found
    across = np.eye(found.centre.size)
    across[:r, :r] = factor * (np.eye(r) - np.outer(slopes / along, line.direction))
    covariance = across @ found.covariance @ across.T
    covariance[:r, :r] += (line.variance + left**2) * np.outer(slopes, slopes) / along**2
    return Uncertainty(np.append(factor * slopes, found.centre[r:]), covariance)


def _across(
    line: Line, tight: Uncertainty, found: Uncertainty, bread: Matrix, log: Log, setting: Sandwich
) -> Generator[Query, Released, Uncertainty]:
    """Ask for the "wide gradient" and return the uncertainty of slopes that tight levels have shortened unequally.

    Where a calibration found slopes shortened, by more than its noise explains, they have not all been shortened by the
    same factor: across the line they may be off by about as much as they were along it, which is an a priori variance.
    One gradient with residuals clipped widely tells by how much each one is, with a known noise. Where slopes had not
    been shortened, nothing is believed of it, and nothing is lost.
    """
    n, last, replies = setting.n, _last_steps(log)[-1][0].statistic, {query.step: reply for query, reply in log}
    assert isinstance(last, Weighted)
    sizes, rows = of_reply(replies["calibration level"], n), of_reply(replies["leverage level"], n)
    limit = max(sizes.beyond(WIDE * sizes.noise), last.limit)
    gradient = replace(_gradient(last), point=held(found.centre))
    reply = yield Query("wide gradient", Weighted(gradient, last.radius, limit, setting.bits))
    with np.errstate(all="ignore"):
        # The derivative has the shape of the bread; how large it is without tight levels, the rows' lengths say.
        size = rows.leverage(last.radius, REACH**2 * last.radius) / max(float(np.trace(bread)), TINY)
        inverse = inverted(bread * size)
        noise = (reply.noise / n) ** 2 * inverse @ inverse + sizes.mean_square(limit) / n * inverse
        return _corrected(found, -inverse @ (reply.value / n), noise, _unequal(line, tight))


def _unequal(line: Line, tight: Uncertainty) -> Matrix:
    """Return the a priori covariance of what tight levels took from slopes across the line."""
    r = line.direction.size
    along = float(tight.centre[:r] @ line.direction)
    lost = max((line.length - along) ** 2 - CERTAIN**2 * line.variance, 0.0)
    return held(UNEQUAL * lost / (r - 1) * (np.eye(r) - np.outer(line.direction, line.direction)))


def _corrected(found: Uncertainty, moved: FloatVector, noise: Matrix, prior: Matrix) -> Uncertainty:
    """Return the uncertainty after a correction of the slopes with this noise, by Bayes."""
    r = len(prior)
    noise = held(noise[:r, :r])
    gain = prior @ np.linalg.pinv(prior + noise, hermitian=True)
    centre, covariance = found.centre.copy(), found.covariance.copy()
    centre[:r] += gain @ held(moved[:r])
    covariance[:r, :r] += gain @ noise
    return Uncertainty(centre, covariance)


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
    matrix = held(query.statistic.matrix(reply.value) / n) * np.outer(kept, kept)
    return shrunk(matrix, np.diag(np.maximum(np.diag(matrix), 0.0)), reply.noise / n)


def _asked(
    step: str, products: Outer, n: int, kept: NDArray[np.bool_]
) -> Generator[Query, Released, tuple[Matrix, float]]:
    """Ask for a matrix of products and return it, without dropped columns, and its noise."""
    reply = yield Query(step, products)
    return held(products.matrix(reply.value) / n) * np.outer(kept, kept), reply.noise / n


def _multiple(matrix: Matrix, gram: Matrix) -> Matrix:
    """Return the multiple of the Gram matrix that fits best."""
    return max(float(np.sum(matrix * gram) / max(np.sum(gram * gram), TINY)), 0.0) * gram


def _bread_of_classes(log: Log, n: int) -> float | None:
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
