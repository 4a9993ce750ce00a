"""From what users pass to `fit` and `predict` to an engine or a matrix, without ever showing a value."""

import warnings
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from tailguard import engines
from tailguard.engines import Engine
from tailguard.errors import DataError

__all__ = ["matrix", "open_records", "vector"]


def open_records(estimator: BaseEstimator, X: Any, y: Any = None) -> Engine:
    """Return an engine for the records and note the number and names of the features on the estimator.

    `y` is a vector, or the name of the target's column where X is a table or the path of a Parquet file.
    """
    if isinstance(y, str):
        engine = engines.open(X, target=y)
    elif isinstance(X, str | PathLike):
        engine = engines.open(X)
    else:
        X = _numbers(X, "X")
        engine = engines.open(X, y)
        if not isinstance(X, np.ndarray) or X.ndim == 2:
            validate_data(estimator, X, skip_check_array=True)
    estimator.n_features_in_ = engine.d
    if engine.names is not None:
        estimator.feature_names_in_ = np.asarray(engine.names, dtype=object)
    return engine


def matrix(estimator: BaseEstimator, X: Any) -> Any:
    """Return new rows as a matrix of floats with the features that the estimator was fitted on."""
    check_is_fitted(estimator)
    X = _numbers(X, "X")
    validate_data(estimator, X, skip_check_array=True, reset=False)
    if sparse.issparse(X):
        return X
    engine = engines.open(X)
    return engine.gather()[0]


def vector(y: Any, name: str = "y") -> NDArray[Any]:
    """Return a column of labels or targets as a flat array of its own type."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        warnings.warn(f"A column-vector {name} was passed where a flat vector was expected.", stacklevel=3)
        array = array.ravel()
    if array.ndim != 1:
        raise DataError(f"{name} must be a vector with one entry a record.")
    return array


def _numbers(X: Any, name: str) -> Any:
    """Return lists and arrays of Python objects as floats; a failure names the argument, never the value."""
    if not isinstance(X, list | tuple) and getattr(X, "dtype", None) != np.dtype(object):
        return X
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a table of numbers with rows of equal length.") from None
