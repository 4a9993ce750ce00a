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

import numpy as np
from numpy.typing import NDArray

from tailguard.solvers.base import FloatVector, Query, Released, Setting, Uncertainty
from tailguard.solvers.bread import (
    expected_bread,
    released_gram,
    released_trace,
    told_trace,
    used_entries,
    whitened_gram,
)
from tailguard.solvers.class_shapes import CERTAIN, ClassShapes, class_shapes
from tailguard.solvers.clip_level import of_reply
from tailguard.solvers.line import REACH, Line, across, along
from tailguard.solvers.matrices import Matrix, held, inverted, multiple, positive, share_of, shrunk
from tailguard.solvers.preconditioner import kept_entries
from tailguard.solvers.step_log import Log, gradient_of, last_steps, middle, recorded
from tailguard.solvers.tails import leaning, mean_excess
from tailguard.statistics.base import Statistic
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.curvature import BoundedCurvatures, BoundedGradient, Curvatures
from tailguard.statistics.fields import Field, Gradient
from tailguard.statistics.outer import Outer
from tailguard.statistics.slopes import Leveraged, Slopes
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

__all__ = ["UNSEEN", "Line", "Log", "Sandwich", "recorded", "sandwich"]

FLOOR = 0.05
"""Least share of the records that are believed to have a mean row."""

UNSEEN = 1.5
"""By how much a mean of clipped residuals may be moved, in units of threshold × noise in a cell of the histogram that
found it: three such deviations of mass beyond are not seen, and tails of order 3 have half a threshold of excess."""

UNRESOLVED = 0.5
"""Relative deviation of a derivative beyond which nothing is known: it may as well be none."""

LEVELS = ("residual level", "calibration level")
"""Steps that find where an intercept's residuals are clipped."""


@dataclass(frozen=True)
class Sandwich(Setting):
    """Public numbers: of records, of the grid's bits, and whether one wide gradient is asked for in the end."""

    n: int
    bits: int
    wide: bool = False


def sandwich(
    setting: Sandwich, log: Log, line: Line | None = None, curvature: float | None = None
) -> Generator[Query, Released, Uncertainty]:
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
    curvature : float or None, default=None
        The mean curvature of the loss within the levels of residuals, where rows are whitened and it is known.
    """
    steps = last_steps(log)
    curvatures, gradients, (size, most) = _fields(steps[-1][0].statistic, middle(steps))
    view = gradients.view
    kept = kept_entries(view) if view.basis is None else used_entries(view)
    curved, its_noise = yield from _asked("bread", Outer(curvatures, size, setting.bits), setting.n, kept)
    squares, noise = yield from _asked("meat", Outer(gradients, most, setting.bits), setting.n, kept)
    trace = None
    if setting.wide and line is None:  # there is nothing to correct; a trace says how large the bread is
        trace = yield from released_trace(curvatures, setting.n, setting.bits, steps)
    with np.errstate(all="ignore"):  # released values may be anything; what overflows is not known
        gram = released_gram(log, setting.n, kept) if view.basis is None else whitened_gram(log, view, setting.n)
        if curvature is None:
            gradient = replace(gradient_of(steps[-1][0].statistic), point=middle(steps))
            shapes = class_shapes(gradient, gram, log, setting.n)
            bread, meat, doubt = _pair((curved, its_noise), (squares, noise), shapes, gram)
        else:
            meat = shrunk(squares, multiple(squares, gram), noise)
            trace = trace or told_trace(curvature, log, setting.n)
            likely, doubt = expected_bread(curved, its_noise, gram, trace)
            bread = shrunk(curved, likely, its_noise)
        tight = found = _doubted(_assembled(steps, bread, meat, setting.n), doubt)
        if line is not None:
            found = along(line, found)
        if _settled(log):
            found = _with_corrected_intercept(found, log, gram, setting.n)
    if setting.wide and line is not None:
        found = yield from across(line, tight, found, bread, log, (setting.n, setting.bits))
    with np.errstate(all="ignore"):
        return _in_raw_units(view, found)


def _pair(
    bread: tuple[Matrix, float], meat: tuple[Matrix, float], shapes: ClassShapes | None, gram: Matrix
) -> tuple[Matrix, Matrix, float]:
    """Return released matrices of bread and meat, each with its noise, shrunk by what noise explains of them.

    The third number is the relative deviation of the bread's size.
    """
    if shapes is None:
        size = share_of(bread[0], gram, bread[1])
        meats = shrunk(meat[0], multiple(meat[0], gram), meat[1])
        return shrunk(bread[0], multiple(bread[0], gram), bread[1]), meats, size.relative
    target, size = shapes.meat.fitted(meat[0], gram, meat[1], shapes.told)
    squares = shrunk(meat[0], target, meat[1])
    if shapes.ratio is None:
        size = shapes.bread.fitted(bread[0], gram, bread[1])[1]
    return shrunk(bread[0], shapes.curved(bread[0], squares, gram), bread[1], CERTAIN), squares, size.relative


def _doubted(found: Uncertainty, doubt: float) -> Uncertainty:
    """Return the uncertainty where the size of the bread has a relative deviation.

    Errors in units of a standard error are that much larger or smaller, so that their mean square is 1 + doubt².
    """
    if doubt < UNRESOLVED:
        return replace(found, covariance=(1.0 + doubt**2) * found.covariance)
    return replace(found, covariance=np.diag(np.full(found.centre.size, np.inf)))


def _fields(statistic: Statistic | None, point: FloatVector) -> tuple[Field, Field, tuple[float, float]]:
    """Return the fields of bread and meat for steps like this one, taken at the point, and their largest lengths."""
    last = gradient_of(statistic)
    gradient, root = Gradient(last.view, last.loss, point), math.sqrt(last.loss.smoothness or 1.0)
    if isinstance(statistic, Weighted):
        radius, limit = statistic.radius, statistic.limit
        bounded = BoundedCurvatures(gradient, radius, limit), BoundedGradient(gradient, radius, limit)
        return *bounded, (REACH * radius * root, radius * limit)
    assert isinstance(statistic, Clipped)
    assert isinstance(statistic.field, Leveraged)
    radius, threshold = statistic.field.radius, statistic.threshold
    return Curvatures(gradient, radius, threshold), Leveraged(gradient, radius), (radius * root, threshold)


def _assembled(steps: Log, bread: Matrix, meat: Matrix, n: int) -> Uncertainty:
    """Return the weighted least squares of all the steps' equations, and its covariance."""
    points = np.array([gradient_of(query.statistic).point for query, _ in steps])
    gradients = np.array([reply.value / n for _, reply in steps])
    precision = np.array([(n / reply.noise) ** 2 for _, reply in steps])
    weights = precision / precision.sum()
    inverse = inverted(bread)
    centre = weights @ points - inverse @ (weights @ gradients)
    moved = positive(meat) / n + np.eye(len(meat)) / precision.sum()
    return Uncertainty(centre, inverse @ moved @ inverse)


def _settled(log: Log) -> bool:
    """Return whether the intercept had the last word, by a mean of residuals whose level was sought."""
    taken = {query.step: query.statistic for query, _ in log}
    last = taken.get("intercept")
    alone = isinstance(last, Clipped | Weighted) and isinstance(last.field, Slopes)
    return alone and not taken.keys().isdisjoint(LEVELS)


def _with_corrected_intercept(found: Uncertainty, log: Log, gram: Matrix, n: int) -> Uncertainty:
    """Return the uncertainty where the intercept b makes the mean residual 0: b = mean(t) − ⟨mean(z), slopes⟩.

    The mean residual has an error of its own; that of the slopes reaches b through the mean row, the Gram matrix's last
    column, because centres are medians.
    """
    means = gram[-1, :-1] / max(float(gram[-1, -1]), FLOOR)
    (query, reply), sizes = (next(pair for pair in log if pair[0].step in steps) for steps in (("intercept",), LEVELS))
    assert isinstance(query.statistic, Clipped | Weighted)
    threshold = query.statistic.threshold if isinstance(query.statistic, Clipped) else query.statistic.limit
    histogram = of_reply(sizes[1], n)
    slopes, at = found.centre[:-1], gradient_of(query.statistic).point
    offset = at[-1] - float(reply.value[-1]) / (n * histogram.present) - means @ (slopes - at[:-1])
    spread, lost = histogram.mean_square(threshold), mean_excess(histogram, threshold)
    lean = float(leaning(np.array([offset - found.centre[-1]]), np.array([spread]), reply.noise / n)[0])
    inward, outward = lean**2 * lost.deviation**2, lean**2 * lost.far**2
    moved = (inward + outward) / 2.0 + (1.0 - lean**2) * (UNSEEN * histogram.noise * threshold) ** 2
    lift = np.vstack([np.eye(means.size), -means])
    covariance = lift @ found.covariance[:-1, :-1] @ lift.T
    covariance[-1, -1] += spread / n + (reply.noise / n) ** 2 + moved
    upward = np.append(np.zeros(means.size), np.sign(lean) * (outward - inward))
    return Uncertainty(np.append(slopes, offset + lean * lost.mean), covariance, upward)


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
    variance = np.diag(covariance)  # no error is 0: where nothing was seen, nothing is known
    unknown = ~np.append(kept, np.ones(view.dimension - d, bool)) | ~(variance > 0.0) | ~np.isfinite(variance + centre)
    covariance[unknown, unknown] = np.inf
    upward = None if found.upward is None else np.where(unknown, 0.0, np.diag(change) ** 2 * found.upward)
    return Uncertainty(np.where(np.isfinite(centre), centre, 0.0), covariance, upward)


def _asked(
    step: str, products: Outer, n: int, kept: NDArray[np.bool_]
) -> Generator[Query, Released, tuple[Matrix, float]]:
    """Ask for a matrix of products and return it, without dropped columns, and its noise."""
    reply = yield Query(step, products)
    return held(products.matrix(reply.value) / n) * np.outer(kept, kept), reply.noise / n
