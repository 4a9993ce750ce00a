"""How large a released bread is and which shape it has, by all else that was released of the rows."""

import math
from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

from tailguard.solvers.base import Query, Released
from tailguard.solvers.clip_level import of_reply
from tailguard.solvers.line import REACH
from tailguard.solvers.matrices import TINY, Matrix, Number, held, share_of, shrunk
from tailguard.solvers.step_log import Log, gradient_of, last_steps
from tailguard.solvers.whitening import centred
from tailguard.statistics.fields import Field
from tailguard.statistics.gram import Gram
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.slopes import SquaredLengths
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

__all__ = ["expected_bread", "released_gram", "released_trace", "told_trace", "used_entries", "whitened_gram"]

OFF, CUT = 0.1, 0.03
"""Relative deviation of a mean curvature from what levels and the rows' lengths say of it, and from what is left of it
where the longest rows are cut."""

LONGEST = 3.0
"""Where ω‖z‖² is cut in a mean of it, in squared radii."""

LEAST = 0.7
"""Least mean weight of the rows in a Gram matrix that is believed: no more than the others are shortened."""

FLOOR = 0.05
"""Least second moment of whitened rows that is believed."""


def released_gram(log: Log, n: int, kept: NDArray[np.bool_]) -> Matrix:
    """Return the released Gram matrix, its entries beside the diagonal shrunk by what noise explains of them."""
    query, reply = next(pair for pair in log if pair[0].step == "gram")
    assert isinstance(query.statistic, Gram)
    matrix = held(query.statistic.matrix(reply.value) / n) * np.outer(kept, kept)
    return shrunk(matrix, np.diag(np.maximum(np.diag(matrix), 0.0)), reply.noise / n)


def whitened_gram(log: Log, view: View, n: int) -> Matrix:
    """Return the second moments of whitened rows that are likely, up to a factor.

    They would be the identity if the Gram matrix that whitened them had no noise and no ridge. Noise drives eigenvalues
    λ apart: along an eigenvector of the noisy matrix, the exact one is λᵢ − 2v·Σ 1/(λᵢ − λⱼ) on average, v the variance
    of the entries beside its diagonal (a rotationally invariant estimate, Bun, Bouchaud and Potters 2017).
    """
    query, reply = next(pair for pair in log if pair[0].step == "gram")
    assert isinstance(query.statistic, Gram)
    matrix, d, noise = held(query.statistic.matrix(reply.value) / n), view.dimension_in, reply.noise / n
    square, weight = matrix[:d, :d], 1.0
    if view.intercept:
        square, _, weight = centred(matrix, np.arange(d), noise, LEAST)
    basis, used = np.asarray(view.basis), used_entries(view)[:d]
    lengths = np.sum(np.square(basis[:, used]), axis=0)
    found = np.einsum("ij,ik,kj->j", basis[:, used], square, basis[:, used]) / lengths
    variance, apart = 0.5 * (noise / weight) ** 2, np.subtract.outer(found, found)
    likely = found - 2.0 * variance * np.sum(apart / np.maximum(np.square(apart) + variance, TINY), axis=1)
    moments = np.ones(view.dimension)
    moments[:d][used], moments[:d][~used] = np.maximum(held(likely * lengths), FLOOR), 0.0
    return np.diag(moments)


def used_entries(view: View) -> NDArray[np.bool_]:
    """Return which entries of whitened rows mean anything; empty directions do not."""
    used = np.asarray(view.basis).any(axis=0)
    return np.asarray(np.append(used, True) if view.intercept else used)


def told_trace(curvature: float, log: Log, n: int) -> Number:
    """Return the trace of a bread: the curvature times the mean of ω‖z‖², which a histogram of the rows' lengths tells.

    Residuals may be spread too thinly to be seen where their level is sought: more of them lie beyond it then, as the
    clearer histogram of a calibration tells. The product is off by a tenth where residuals depend on lengths.
    """
    last = last_steps(log)[-1][0].statistic
    assert isinstance(last, Weighted)
    replies = {query.step: of_reply(reply, n) for query, reply in log if isinstance(query.statistic, Octaves)}
    if "calibration level" in replies:
        curvature = gradient_of(last).loss.usual_curvature * replies["calibration level"].within(last.limit)
    value = curvature * replies["leverage level"].leverage(last.radius, REACH**2 * last.radius)
    return Number(value, OFF * value)


def released_trace(curvatures: Field, n: int, bits: int, steps: Log) -> Generator[Query, Released, Number]:
    """Ask for the trace of the bread, a single number, in the place of a wide gradient (step "wide gradient")."""
    last = steps[-1][0].statistic
    assert isinstance(last, Weighted)
    lengths = SquaredLengths(curvatures, curvatures.dimension)
    reply = yield Query("wide gradient", Weighted(lengths, 1.0, LONGEST * last.radius**2, bits))
    value = float(reply.value[-1]) / n
    return Number(value, math.hypot(reply.noise / n, CUT * value))


def expected_bread(bread: Matrix, noise: float, gram: Matrix, trace: Number) -> tuple[Matrix, float]:
    """Return the multiple of the Gram matrix that a bread is, by what was released of it and by its likely trace.

    A noisy matrix of many columns tells far less than that. The second number is the multiple's relative deviation.
    """
    whole = max(float(np.trace(gram)), TINY)
    size = share_of(bread, gram, noise) & Number(trace.value / whole, trace.deviation / whole)
    return max(size.value, 0.0) * gram, size.relative
