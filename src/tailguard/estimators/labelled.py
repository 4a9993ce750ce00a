"""Records with public labels, as an engine whose targets are 0, 1, 2 and so on."""

from functools import partial
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tailguard.engines import Engine
from tailguard.engines.checks import place
from tailguard.errors import DataError
from tailguard.estimators.cells import column_cells
from tailguard.estimators.labels import Relabelled, zero_one
from tailguard.estimators.records import open_records, vector
from tailguard.statistics.arrays import FloatVector

__all__ = ["open_labelled"]


def open_labelled(estimator: BaseEstimator, X: Any, y: Any, classes: NDArray[Any]) -> Engine:
    """Return an engine for records with labels, and note the number and names of the features on the estimator.

    Parameters
    ----------
    estimator : estimator
        Whose records they are.
    X : table, matrix or path
        The rows.
    y : vector or str
        The labels, or the name of their column where X is a table or a Parquet file.
    classes : array
        The public labels; their numbers are the targets, and any other label is NaN.
    """
    if not isinstance(y, str):
        return open_records(estimator, X, zero_one(vector(estimator, y, classes), classes))
    if classes.dtype.kind in "biuf":
        return Relabelled(open_records(estimator, X, y), classes)
    if isinstance(X, str | PathLike):
        return open_records(estimator, X, y, recode=partial(_numbers, classes))
    labels, rest = _apart(X, y)
    return open_records(estimator, rest, zero_one(vector(estimator, labels, classes), classes))


def _numbers(classes: NDArray[Any], column: Any) -> FloatVector:
    return zero_one(column_cells(column), classes)


def _apart(X: Any, name: str) -> tuple[Any, Any]:
    """Return a table's column and the table without it."""
    names = getattr(X, "column_names", None) or getattr(X, "columns", None)
    if names is None:
        raise DataError("y must be a vector of labels where X is no table and no file.")
    at = place(list(names), name)
    if hasattr(X, "iloc"):
        return X.iloc[:, at], X.iloc[:, np.arange(len(names)) != at]
    others = [other for other in names if other != name]
    return (X.column(at) if hasattr(X, "column_names") else X[name]), X.select(others)
