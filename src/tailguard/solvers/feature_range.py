"""Where the rows are: how far out a linear model is believed, read off the histogram of the rows' lengths.

A slope is learned where most rows are, and a row ten thousand times as long is predicted ten thousand times as far off.
Such a row is drawn back towards the centre, to the length beyond which the released histogram leaves room for hardly
any: all columns by one factor, so that a prediction comes nearer to that of the centre.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Setting, Solve
from tailguard.solvers.clip_level import SUBSTEPS
from tailguard.solvers.preparation import units
from tailguard.solvers.target_range import reach
from tailguard.statistics.canonical import canonical
from tailguard.statistics.fields import Rows
from tailguard.statistics.judged import drawn_back
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Norm
from tailguard.statistics.sparse_rows import AnyRows, SparseRows
from tailguard.statistics.view import View

__all__ = ["FeatureRange", "doubtful_rows", "feature_range", "with_feature_range"]

S = TypeVar("S")

FARTHEST, SEEN_FARTHEST = 10.0, 40.0
"""Rows that differ from the centre by more than so many scales of doubtful columns, in root mean square, are predicted
as if they ended there; and times a usual length of rows that have something in them, where that was seen."""

BLOCK = 2**22
"""Numbers that are looked at together."""


@dataclass(frozen=True)
class FeatureRange(Setting):
    """Rows whose entries rate·(x − centre) have a Euclidean norm of at most `radius`; released.

    Parameters
    ----------
    centres : tuple of float
        One for each column.
    rates : tuple of float
        1 ÷ scale; 0 for a column that the model does not look at.
    radius : float
        The longest row.
    """

    centres: tuple[float, ...]
    rates: tuple[float, ...]
    radius: float

    @property
    def view(self) -> View:
        """The rows whose lengths count."""
        with np.errstate(divide="ignore"):
            return View(len(self.centres), centre=self.centres, scale=1.0 / np.array(self.rates))

    def of(self, columns: Sequence[int]) -> "FeatureRange":
        """Return the same for some of the columns; others must have no rate."""
        centres, rates = (tuple(numbers[column] for column in columns) for numbers in (self.centres, self.rates))
        return FeatureRange(centres, rates, self.radius)

    def among(self, d: int, columns: Sequence[int]) -> "FeatureRange":
        """Return the same for d columns, of which these are the ones that it knows."""
        wide = np.zeros((2, d))
        wide[:, list(columns)] = self.centres, self.rates
        return FeatureRange(tuple(wide[0].tolist()), tuple(wide[1].tolist()), self.radius)

    def held(self, X: Any, scores: FloatVector, coefficients: FloatVector, intercept: float) -> FloatVector:
        """Return a model's values with those of long rows drawn back; the others are as they were.

        Parameters
        ----------
        X : matrix, dense or sparse
            Raw rows.
        scores : vector
            X @ coefficients + intercept.
        coefficients, intercept : vector, float
            The model.
        """
        with np.errstate(all="ignore"):
            middle = float(coefficients @ np.array(self.centres) + intercept)
            return drawn_back(scores, self._lengths(X), self.radius, middle)

    def _lengths(self, X: Any) -> FloatVector:
        """Return the lengths of the rows as a fit sees them."""
        rows, step = _rows(X), max(1, BLOCK // max(len(self.centres), 1))
        norm = Norm(Rows(self.view))
        blocks = (rows[start : start + step] for start in range(0, rows.shape[0], step))
        return np.concatenate([np.empty(0), *(np.asarray(norm.values(block, None))[:, 0] for block in blocks)])


def _rows(X: Any) -> AnyRows:
    """Return raw rows, dense or sparse, as statistics take them."""
    if not hasattr(X, "tocsr"):
        return np.ascontiguousarray(X, dtype=np.float64)
    indptr, indices, data = canonical(X)
    return SparseRows(indptr, indices, data.astype(np.float64), X.shape[1])


def with_feature_range(solve: Callable[[S], Solve]) -> Callable[[S], Solve]:
    """Make a solver's `solve` return the range of its rows with the model, where it asks for "row level"."""

    @wraps(solve)
    def ranged(self: S) -> Solve:
        return _watched(solve(self))

    return ranged


def _watched(solve: Solve) -> Solve:
    query, answer = next(solve), None
    while True:
        reply = yield query
        if query.step == "row level":
            answer = query, reply
        try:
            query = solve.send(reply)
        except StopIteration as stop:
            estimate: Estimate = stop.value
            found = None if answer is None else feature_range(*answer, estimate.coefficients)
            return replace(estimate, feature_range=found)


def feature_range(query: Query, reply: Released, coefficients: FloatVector) -> FeatureRange | None:
    """Return where the rows are, by a released histogram of their lengths: None where it does not say.

    Columns without a coefficient do not count: new rows need not have them.

    Parameters
    ----------
    query, reply : Query, Released
        The histogram's question, which holds centres and scales, and its answer.
    coefficients : vector
        Of the model.
    """
    statistic = query.statistic
    assert isinstance(statistic, Octaves)
    assert isinstance(statistic.scalars, Norm)
    assert isinstance(statistic.scalars.field, Rows)
    view = statistic.scalars.field.view
    noise = reply.noise * (math.sqrt(2.0) if reply.exponential else 1.0)
    length = reach(reply.value, noise, statistic.edges, exponential=reply.exponential, substeps=SUBSTEPS, atoms=False)
    radius = math.sqrt(max(length**2 - bool(view.intercept), 0.0))  # the intercept is an entry of every row
    return _rows_within(view, coefficients, radius)


def doubtful_rows(
    view: View, coefficients: FloatVector, doubtful: NDArray[np.bool_], usual: float = 0.0
) -> FeatureRange | None:
    """Return the rows that are believed where scales of some columns may be far too small; None where none of them is.

    Parameters
    ----------
    view : View
        Prepared.
    coefficients : vector
        Of the model.
    doubtful : bool vector
        Which columns may have such a scale; the others do not count in the length of a row.
    usual : float, default=0.0
        A usual length of the rows that have something in these columns, public or released; 0 where nobody knows it.
    """
    seen = np.where(doubtful, coefficients, 0.0)
    farthest = max(FARTHEST * math.sqrt(np.count_nonzero(seen)), SEEN_FARTHEST * usual)
    return _rows_within(view, seen, farthest)


def _rows_within(view: View, coefficients: FloatVector, radius: float) -> FeatureRange | None:
    """Return the rows of a prepared view that are no longer than a radius; None where nothing depends on it."""
    if not (math.isfinite(radius) and radius > 0.0 and np.any(coefficients)):
        return None
    centre, scale = units(view)
    centre = np.zeros(scale.size) if view.centre is None else centre
    rates = np.where(coefficients == 0.0, 0.0, 1.0 / scale)
    return FeatureRange(tuple(centre.tolist()), tuple(rates.tolist()), radius)
