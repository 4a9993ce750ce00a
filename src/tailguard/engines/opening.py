"""From whatever holds the records to an engine, by shape and type alone."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import refuse
from tailguard.engines.base import Engine
from tailguard.engines.checks import chosen, is_numeric, not_numeric
from tailguard.engines.columns import ColumnEngine
from tailguard.engines.numpy import NumpyEngine
from tailguard.errors import DataError

__all__ = ["open"]


def open(X: Any, y: Any = None, *, target: str | None = None, features: Sequence[str] | None = None) -> Engine:
    """Return an engine for the records; reads shape, names and types, never a value.

    Parameters
    ----------
    X : array, sparse matrix, pandas or polars frame, Arrow table, or path of a Parquet file
        Records, one a row. Missing values are NaN or null.
    y : vector or None, default=None
        Targets, one a record, unless `target` names a column.
    target : str or None, default=None
        Column of X that holds the targets, for tables and files.
    features : sequence of str or None, default=None
        Columns of X to use, for tables and files; None is all but the target.

    Returns
    -------
    Engine
        Moves the records to kernels.

    Raises
    ------
    DataError
        One sentence about a shape, a type, a name or a file.

    Examples
    --------
    >>> engine = open([[1.0, 2.0], [3.0, 4.0]], [0, 1])
    >>> engine.n, engine.d, engine.has_target
    (2, 2, True)
    """
    if target is not None and y is not None:
        raise refuse("y", "open", "None where 'target' names a column", "both")
    if isinstance(X, str | PathLike):
        return _file(X, y, target, features)
    source = _library(X)
    if source in ("pandas", "polars", "pyarrow"):
        return _table(X, source, y, target, features)
    if target is not None or features is not None:
        raise refuse("X", "open", "a table or a file where columns are named", type(X).__name__)
    if source == "scipy":
        from tailguard.engines.sparse import SparseEngine

        return SparseEngine(X, _vector(y))
    return NumpyEngine(_array(X, "X"), _vector(y))


def _library(source: object) -> str:
    """Return the top package of the type, so that no optional package need be imported to recognise it."""
    return type(source).__module__.partition(".")[0]


def _array(values: Any, name: str) -> NDArray[Any]:
    if isinstance(values, np.ndarray):
        return values
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a table of numbers with rows of equal length.") from None


def _vector(y: Any) -> NDArray[Any] | None:
    if y is None:
        return None
    source = _library(y)
    if source == "pandas":
        return _pandas_column(y, "y") if y.ndim == 1 else _array(y.to_numpy(), "y")
    if source in ("polars", "pyarrow"):
        return _arrow_vector(y, source, "y")
    return _array(y, "y")


def _file(X: str | PathLike[str], y: Any, target: str | None, features: Sequence[str] | None) -> Engine:
    from tailguard.engines.parquet import ParquetEngine

    if y is not None:
        raise refuse("y", "open", "None where X is a file: name its column by 'target'", type(y).__name__)
    return ParquetEngine(X, target=target, features=features)


def _table(X: Any, source: str, y: Any, target: str | None, features: Sequence[str] | None) -> Engine:
    if not (hasattr(X, "columns") or hasattr(X, "column_names")):
        raise DataError("X must be a table with rows and columns, not a single column.")
    labels = list(X.column_names if source == "pyarrow" else X.columns)
    wanted = chosen(labels, target, features)
    places = {label: place for place, label in enumerate(labels)}
    response = _vector(y) if target is None else _column(X, source, places[target], target)
    columns = [_column(X, source, places[label], label) for label in wanted]
    return ColumnEngine(columns, response, names=tuple(str(label) for label in wanted))


def _column(X: Any, source: str, place: int, label: Any) -> NDArray[Any]:
    if source == "pandas":
        return _pandas_column(X.iloc[:, place], label)
    return _arrow_vector(X.to_series(place) if source == "polars" else X.column(place), source, label)


def _pandas_column(series: Any, label: object) -> NDArray[Any]:
    if not is_numeric(series.dtype):
        raise not_numeric(label)
    if isinstance(series.dtype, np.dtype):
        return np.asarray(series.to_numpy())
    with np.errstate(all="ignore"):  # a signalling NaN is cast with a warning
        return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))


def _arrow_vector(column: Any, source: str, label: object) -> NDArray[Any]:
    from tailguard.engines.arrow import arrow_column, is_numeric_type

    if source == "polars":
        if not (column.dtype.is_numeric() or str(column.dtype) == "Boolean"):
            raise not_numeric(label)
        column = column.to_arrow()
    if not is_numeric_type(column.type):
        raise not_numeric(label)
    return arrow_column(column)
