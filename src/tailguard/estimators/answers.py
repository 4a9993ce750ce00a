"""What any model says about rows, without an error, a warning or a rounding that would tell of one of them.

Models of other libraries refuse whole tables for one missing value or one level that they do not know, and name it.
Here such a row has no prediction, and all others keep theirs, bit by bit.
"""

import warnings
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix, issparse, spmatrix
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from tailguard.errors import DataError
from tailguard.estimators.encoder import header
from tailguard.statistics.canonical import canonical

__all__ = ["answers"]


def answers(
    model: Any, X: Any, ask: Callable[[Any], NDArray[Any]]
) -> tuple[NDArray[Any] | None, NDArray[np.bool_] | None]:
    """Return what a model says about rows, and which of them it says something about.

    Parameters
    ----------
    model : fitted model
        Names and number of its columns must be among those of X.
    X : table, matrix or path
        The rows.
    ask : callable
        From rows to one entry a row, each of which depends on its own row alone. It may raise on any values.

    Returns
    -------
    values : array or None
        One entry a row, of no meaning where there is no answer; None where there is none at all.
    known : array of bool or None
        Which rows have an answer; None for all of them.
    """
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning would tell of a value
        if isinstance(X, str | PathLike):
            return ask(X), None  # only models of tailguard read files, and no value makes them fail
        _check_columns(model, X)
        if issparse(X):
            X = _rows(X)
        found = _attempt(ask, X, DataError)  # about shapes and names
        return (found, None) if found is not None else _some(ask, X)


def _rows(X: Any) -> csr_array | csr_matrix:
    """Return a sparse matrix by rows: what a library makes of entries given twice may depend on all rows together."""
    indptr, indices, data = (np.array(part) for part in canonical(X))  # models may want arrays that can be written
    return (csr_matrix if isinstance(X, spmatrix) else csr_array)((data, indices, indptr), shape=X.shape)


def _some(ask: Callable[[Any], Any], X: Any) -> tuple[NDArray[Any] | None, NDArray[np.bool_]]:
    """Return the answers where some row makes the model fail."""
    n = _num_samples(X)
    known, parts = np.zeros(n, bool), [np.arange(n)]
    while parts:
        part = parts.pop()
        if _attempt(lambda rows: ask(_safe_indexing(X, rows)), part) is not None:
            known[part] = True
        elif part.size > 1:
            parts += np.array_split(part, 2)
    if not known.any():
        return None, known
    # All at once again, with a good row in each gap: in another number or place a row could be rounded another way,
    # and a single record would move all others.
    filled = np.where(known, np.arange(n), np.argmax(known))
    return _attempt(lambda rows: ask(_safe_indexing(X, rows)), filled), known


def _attempt(ask: Callable[[Any], NDArray[Any]], X: Any, told: type[Exception] | tuple[()] = ()) -> NDArray[Any] | None:
    try:
        return ask(X)
    except told:
        raise
    except Exception:
        return None


def _check_columns(model: Any, X: Any) -> None:
    """Refuse other columns than the model's before a row is looked at."""
    try:
        names, count = header(X)
    except DataError:
        return  # not a table, but texts or anything else that the model may know
    known, wanted = getattr(model, "feature_names_in_", None), getattr(model, "n_features_in_", count)
    if known is not None and names is not None:
        missing = [str(name) for name in known if name not in names]
        if missing:
            raise DataError(f"The records have no column {missing[0]!r}, which the model was fitted on.")
    elif wanted != count:
        raise DataError(f"The model has {wanted} features, the records have {count}.")
