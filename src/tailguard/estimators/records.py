"""From what users pass to `fit` and `predict` to an engine or a matrix, without ever showing a value.

Shapes, names and types of columns are public, and wrong ones are refused in a sentence. No cell is ever refused: what
is missing, no number or too large for a float is NaN or infinite, and a record with it contributes nothing.
"""

import warnings
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from tailguard import engines
from tailguard.engines import Engine
from tailguard.engines.batches import Recode
from tailguard.errors import DataError
from tailguard.estimators.cells import array_of, as_numbers, column_cells, entries, refuse_mask, table

__all__ = ["matrix", "numbers", "open_records", "products", "target", "vector"]

TABLES = ("pandas", "polars", "pyarrow")


def open_records(estimator: BaseEstimator, X: Any, y: Any = None, recode: Recode | None = None) -> Engine:
    """Return an engine for the records and note the number and names of the features on the estimator.

    `y` is a vector, or the name of the target's column where X is a table or the path of a Parquet file. `recode` makes
    numbers of a column of text in a file.
    """
    if isinstance(y, str) or isinstance(X, str | PathLike):
        if not isinstance(y, str | None):
            raise DataError("y must be the name of a column where X is a file.")
        engine = _texts(X, y, recode) if recode else engines.open(_file_or_numbers(X), target=y)
        named = _has_names(X, y)
    else:
        X = numbers(X, "X")
        _check_shape(X)
        engine = engines.open(X, y)
        validate_data(estimator, X, skip_check_array=True)
        named = hasattr(estimator, "feature_names_in_")
    estimator.n_features_in_ = engine.d
    vars(estimator).pop("feature_names_in_", None)
    if named:
        estimator.feature_names_in_ = np.asarray(engine.names, dtype=object)
    return engine


def _file_or_numbers(X: Any) -> Any:
    return X if isinstance(X, str | PathLike) else numbers(X, "X")


def _texts(path: str | PathLike[str], target: str | None, recode: Recode) -> Engine:
    from tailguard.engines.parquet import ParquetEngine

    engine = ParquetEngine(path, target=target, recode=recode)
    if not engine.text_target:
        raise DataError(f"Column {target!r} must hold text where the classes are text.")
    return engine


def _has_names(X: Any, target: Any) -> bool:
    """Whether all features have names that are strings; as in scikit-learn, others are no names."""
    if isinstance(X, str | PathLike):
        return True
    labels = getattr(X, "column_names", None) or X.columns
    return all(isinstance(label, str) for label in labels if label != target)


def matrix(estimator: BaseEstimator, X: Any) -> Any:
    """Return new rows as a matrix of floats with the features that the estimator was fitted on."""
    check_is_fitted(estimator)
    if isinstance(X, str | PathLike):
        return engines.open(X, features=getattr(estimator, "feature_names_in_", None)).gather()[0]
    X = numbers(X, "X")
    _check_shape(X)
    validate_data(estimator, X, skip_check_array=True, reset=False)
    return X if sparse.issparse(X) else engines.open(X).gather()[0]


def products(rows: Any, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of rows with one or several vectors; a column without a coefficient may be missing."""
    used = np.atleast_2d(coefficients).any(axis=0)
    if not used.all():
        rows = (rows.tocsc() if hasattr(rows, "tocsc") else rows)[:, used]
    with np.errstate(all="ignore"):  # a row of huge numbers is one that a warning would tell of
        return np.asarray(rows @ coefficients[..., used].T)


def target(estimator: BaseEstimator, y: Any) -> Any:
    """Return a regression target as `open_records` takes it: a name, a vector of a table's own type, or an array."""
    if isinstance(y, str):
        return y
    library, dimensions = type(y).__module__.partition(".")[0], len(getattr(y, "shape", "1"))
    if library in TABLES and dimensions == 1:
        return numbers(y, "y")  # engines read missing values there as NaN
    return numbers(vector(estimator, y), "y")


def vector(estimator: BaseEstimator, y: Any, classes: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return a column of labels or targets as a flat array of its own type, a list as one of Python objects.

    Text is refused where the public classes are numbers, and numbers where they are text: no record would have a class.
    """
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    refuse_mask(y, "y")
    if classes is not None:
        _check_kind(y, classes)
    library = type(y).__module__.partition(".")[0]
    if isinstance(y, list | tuple):
        return entries(y)
    array = array_of(y)
    declared = isinstance(getattr(y, "dtype", None), np.dtype)
    if library in TABLES and array.ndim == 1 and array.dtype.kind == "f" and not declared and np.isnan(array).any():
        array = column_cells(y)  # a missing integer has made floats of all others, and large ones are rounded
    if array.ndim == 2 and array.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected."
        warnings.warn(message, DataConversionWarning, stacklevel=4)
        array = array.ravel()
    if array.ndim != 1:
        raise DataError("y must be a vector with one entry a record.")
    return array


def _check_kind(y: Any, classes: NDArray[Any]) -> None:
    """Compare the declared type of the labels with that of the classes; Python objects have none."""
    dtype = getattr(y, "dtype", getattr(y, "type", None))  # Arrow's arrays have a type
    kind, name = getattr(dtype, "kind", ""), str(dtype).lower().removeprefix("large_")
    text = kind in ("U", "S", "T") or name in ("str", "string", "string_view")
    if text and classes.dtype.kind in "biuf":
        raise DataError("y holds text, and the public classes are numbers: list its labels in 'classes'.")
    if name.startswith(("bool", "int", "uint", "float", "double")) and classes.dtype.kind == "U":
        raise DataError("y holds numbers, and the public classes are text: list its labels in 'classes'.")


def numbers(X: Any, name: str) -> Any:
    """Return lists and arrays of Python objects as floats; a failure names the argument, never the value."""
    if hasattr(X, "columns"):
        return _frame(X) if hasattr(X, "isetitem") else X
    refuse_mask(X, name)
    dtype = getattr(X, "dtype", None)
    if getattr(dtype, "kind", "") == "c":
        raise DataError(f"Complex data not supported: {name} must hold real numbers.")
    listed = isinstance(X, list | tuple)
    if not listed and dtype != np.dtype(object):
        return X
    if hasattr(X, "to_list"):
        return _floats(X.to_numpy())
    return _floats(np.asarray(X) if not listed else entries(X) if name == "y" else table(X, name))


def _frame(X: Any) -> Any:
    """Return a pandas frame with its columns of Python objects as floats: one cell may have made objects of all.

    Not even one without any number is refused: whether a single record has one there would show.
    """
    found = [j for j, kind in enumerate(X.dtypes) if kind == np.dtype(object)]
    if not found:
        return X
    frame = X.copy(deep=False)
    for j in found:
        frame.isetitem(j, _floats(X.iloc[:, j].to_numpy()))
    return frame


def _floats(cells: NDArray[Any]) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about cells that are masked, complex or arrays; a warning would tell of one
        return as_numbers(cells)


def _check_shape(X: Any) -> None:
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    if len(shape) != 2:
        raise DataError(
            f"X must have two dimensions, rows and features, not {len(shape)}. Reshape your data: one feature is "
            "X.reshape(-1, 1), one record is X.reshape(1, -1)."
        )
    if shape[1] == 0:
        raise DataError(f"Found 0 feature(s) (shape=({shape[0]}, 0)) while a minimum of 1 is required.")
