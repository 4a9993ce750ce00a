"""Transformations of one row at a time that learn nothing: known by their types, carried out so that no record shows.

What scikit-learn's transformers keep from a fit is here the number and names of columns, taken from a row of zeros. A
record with a value that one of them would raise or warn at is a row without numbers.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer, PolynomialFeatures
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from tailguard import engines
from tailguard._validate import refuse
from tailguard.errors import DataError
from tailguard.estimators.cells import refuse_mask, table
from tailguard.estimators.encoder import PublicOneHotEncoder, header
from tailguard.estimators.records import numbers

__all__ = ["RowWise", "check_rowwise", "tabular"]

_PLAIN = (PolynomialFeatures, Normalizer, Binarizer)
"""Their fit looks at the number of columns, and their transform at one row at a time."""

_RULE = (
    "pipelines of PublicOneHotEncoder, PolynomialFeatures, Normalizer, Binarizer, FunctionTransformer of a NumPy "
    "function of one number, or ColumnTransformer of these by public columns, and a linear model of tailguard: others "
    "learn from the records, or could tell of one"
)


def check_rowwise(transformer: Any, owner: str) -> None:
    """Refuse a transformer that could learn from records, or raise or warn by one of them; by its type alone."""
    kind = type(transformer)
    if kind is Pipeline:
        parts = [step for _, step in transformer.steps]
    elif kind is ColumnTransformer:
        if any(callable(columns) for *_, columns in transformer.transformers):  # it would be shown the records
            raise refuse("candidates", owner, _RULE, "ColumnTransformer with columns by a function")
        parts = [part for _, part, _ in transformer.transformers] + [transformer.remainder]
    else:
        if not _known(transformer):
            raise refuse("candidates", owner, _RULE, kind.__name__)
        return
    for part in parts:
        check_rowwise(part, owner)


def _known(transformer: Any) -> bool:
    if isinstance(transformer, str | None):
        return transformer in ("passthrough", "drop", None)
    if type(transformer) is FunctionTransformer:
        return not transformer.kw_args and (transformer.func is None or _elementwise(transformer.func))
    return type(transformer) in (PublicOneHotEncoder, *_PLAIN)


def _elementwise(function: Any) -> bool:
    """Whether a function is a compiled one of NumPy's, from numbers to numbers, entry by entry."""
    return isinstance(function, np.ufunc) and (function.nin, function.nout) == (1, 1) and "d->d" in function.types


def tabular(X: Any) -> Any:
    """Return records that transformers can take columns of: a table, or an array of two dimensions."""
    if not hasattr(X, "shape") and not isinstance(X, list | tuple):
        raise DataError("X must be a table in memory where candidates are pipelines.")
    refuse_mask(X, "X")
    X = table(X, "X") if isinstance(X, list | tuple) else X.toarray() if hasattr(X, "toarray") else X
    header(X)  # two dimensions
    return X


class RowWise:
    """Transformers in a row, as scikit-learn's `Pipeline` has them before an estimator.

    Parameters
    ----------
    steps : sequence of (str, transformer)
        Checked by `check_rowwise`; they are cloned.
    X : table or matrix
        Only its type and the number and names of its columns are looked at.

    Attributes
    ----------
    steps : list of (str, transformer)
        Fitted, on a row of zeros.
    width : int
        Number of columns that come out.
    names : list of str or None
        Their names, if they have any.
    """

    def __init__(self, steps: Sequence[tuple[str, Any]], X: Any) -> None:
        self.steps = [(name, step if isinstance(step, str | None) else clone(step)) for name, step in steps]
        self._seen: list[Any] = []
        row = _zeros(X)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the logarithm of 0
            for _, step in self.steps:
                row = row if isinstance(step, str | None) else step.fit(row).transform(row)
                self._seen.append(row)
        self.names, self.width = header(row)

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """Return the transformed records; a row that is not finite on its way is NaN where it is not."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning would tell of a value
            for (_, step), seen in zip(self.steps, self._seen, strict=True):
                X = X if isinstance(step, str | None) else _like(seen, _changed(step, X))
            return _floats(X)


def _changed(step: Any, X: Any) -> NDArray[np.float64]:
    """Return what a fitted transformer makes of the records."""
    if isinstance(step, PublicOneHotEncoder):
        return np.asarray(step.transform(X), dtype=np.float64)  # it takes any cells
    if isinstance(step, Pipeline):
        return RowWise(step.steps, X)(X)
    if isinstance(step, ColumnTransformer):
        return _joined(step, X)
    rows = _floats(X)
    good = np.isfinite(rows).all(axis=1, keepdims=True)
    made = step.transform(np.where(good, rows, 0.0))
    found = np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=np.float64)
    return np.where(good, found, np.nan)


def _joined(step: ColumnTransformer, X: Any) -> NDArray[np.float64]:
    """Return the parts of a fitted `ColumnTransformer` side by side."""
    parts = []
    for name, part, _ in step.transformers_:
        places = step._transformer_to_input_indices[name]
        if len(places) and not (isinstance(part, str) and part == "drop"):
            chosen = X.select(places) if hasattr(X, "column_names") else _safe_indexing(X, places, axis=1)
            parts.append((step.transformer_weights or {}).get(name, 1.0) * _changed(part, chosen))
    return np.column_stack(parts) if parts else np.empty((_num_samples(X), 0))


def _floats(X: Any) -> NDArray[np.float64]:
    return engines.open(numbers(X, "X")).gather()[0]


def _zeros(X: Any) -> Any:
    """Return a row of zeros in a container like that of the records."""
    names, count = header(X)
    return _like(X, np.zeros((1, count))) if names is not None or hasattr(X, "iloc") else np.zeros((1, count))


def _like(seen: Any, rows: NDArray[np.float64]) -> Any:
    """Return rows in a container like one that has the same columns."""
    if hasattr(seen, "iloc"):
        return type(seen)(rows, columns=seen.columns)
    if hasattr(seen, "column_names"):
        return type(seen).from_pydict(dict(zip(seen.column_names, rows.T, strict=True)))
    if hasattr(seen, "columns"):
        return type(seen)(rows, schema=list(seen.columns), orient="row")
    return rows
