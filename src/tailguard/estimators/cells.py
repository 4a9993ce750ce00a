"""Python objects as numbers, cell by cell: what one cell holds decides nothing about any other.

NumPy looks into the cells of lists to find a shape and a type for all of them. A single list, string or large number
among them would be an error, or an array of another type, and either of them tells of a record.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.errors import DataError

__all__ = ["array_of", "as_numbers", "column_cells", "entries", "refuse_mask", "table", "written_numbers"]

CONTAINERS = (list, tuple, np.ndarray)
NO_ROWS = (str, bytes, dict, set, frozenset)
"""What can be run through and is no row of cells."""

_UNEQUAL = "{} must be a table of numbers with rows of equal length."


def as_numbers(cells: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array of Python objects as floats of the same shape."""
    return np.fromiter(map(_number, cells.flat), np.float64, cells.size).reshape(cells.shape)


def _number(cell: Any) -> float:
    """Return one Python object as a float: what is too large is infinite, what is no number is NaN.

    Nothing is refused here: an error would tell that some record holds a string.
    """
    if isinstance(cell, str | bytes | np.complexfloating):
        return np.nan
    try:
        return _size(cell)
    except Exception:  # None, missing values, containers, Decimal("sNaN"), tensors; any object may raise anything
        return np.nan


def _size(cell: Any) -> float:
    try:
        return float(cell)
    except OverflowError:
        return np.inf if cell > 0 else -np.inf


def written_numbers(cells: NDArray[Any]) -> NDArray[np.float64]:
    """Return an array of text as floats, NaN where a cell does not spell a number: NumPy would raise, and quote it."""
    return as_numbers(np.array([_spelt(cell) for cell in cells.ravel().tolist()], object).reshape(cells.shape))


def _spelt(cell: str | bytes) -> float | None:
    try:
        return float(cell)
    except (TypeError, ValueError):  # a missing text is no text
        return None


def table(rows: Iterable[Any], name: str) -> NDArray[Any]:
    """Return a list of rows as a matrix of Python objects; where the rows are none, a vector of them."""
    listed = list(rows)
    try:
        lists = [None if isinstance(row, NO_ROWS) or not np.iterable(row) else list(row) for row in listed]
    except Exception:  # a row that cannot be read to its end has no length
        raise DataError(_UNEQUAL.format(name)) from None
    whole = [row for row in lists if row is not None]
    if len(whole) < len(lists):
        return _objects(listed)
    if len({len(row) for row in whole}) > 1:
        raise DataError(_UNEQUAL.format(name))
    cells = _objects(list(chain.from_iterable(whole)))
    if cells.size and all(isinstance(cell, CONTAINERS) for cell in cells):
        raise DataError(f"{name} must have two dimensions, rows and features: its cells must not be lists.")
    return cells.reshape(len(whole), -1) if whole else cells


def entries(cells: Sequence[Any]) -> NDArray[Any]:
    """Return a list of targets or labels as a vector of Python objects; a list of one entry is that entry."""
    lengths = [_length(cell) for cell in cells]
    if None not in lengths and any(length != 1 for length in lengths):
        raise DataError("y must be a vector with one entry a record.")
    return _objects([cell[0] if length == 1 else cell for cell, length in zip(cells, lengths, strict=True)])


def _length(cell: Any) -> int | None:
    """Return how many entries a cell has that is a row of a table; None for any other cell."""
    if isinstance(cell, np.ndarray):
        return len(cell) if cell.ndim == 1 else None
    return len(cell) if isinstance(cell, list | tuple) else None


def refuse_mask(values: Any, name: str) -> None:
    """Refuse a masked array: what turns it into another one uses the numbers behind the mask."""
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(f"{name} must not be a masked array: missing values are NaN.")


def array_of(column: Any) -> NDArray[Any]:
    """Return a column as an array; text and what is nested cell by cell.

    NumPy gives every cell of text the width of the longest, and of what Arrow holds it reads one after the other until
    one cannot be read.
    """
    held = _held_by_arrow(column)
    if held is None:
        return np.asarray(column)
    from tailguard.engines.arrow import decoded, is_dated, is_numeric_type, python_cells

    held = decoded(held)
    zoned = hasattr(column, "array") and getattr(held.type, "tz", None) is not None  # NumPy has no zones, pandas has
    plain = is_numeric_type(held.type) or (is_dated(held.type) and not zoned)
    return np.asarray(held) if plain else _objects(python_cells(held))


def column_cells(column: Any) -> NDArray[Any]:
    """Return the cells of a column, each as it is: one missing integer makes floats of all others in an array."""
    if isinstance(column, np.ndarray):
        return column
    held = _held_by_arrow(column)
    if held is None:
        return _objects(column.to_list())
    from tailguard.engines.arrow import python_cells

    return _objects(python_cells(held))


def _held_by_arrow(column: Any) -> Any:
    """Return a column of a table as the Arrow array behind it; None where NumPy or Python hold it.

    Levels of a pandas category may be held by Arrow too.
    """
    library, dtype = type(column).__module__.partition(".")[0], str(getattr(column, "dtype", ""))
    if library == "pyarrow":
        return column
    if library == "polars":
        return None if dtype == "Object" else column.to_arrow()
    values = getattr(column, "array", None) if library == "pandas" else None
    if values is None:
        return None
    if any(base.__name__ == "ArrowExtensionArray" for base in type(values).__mro__):
        return values.__arrow_array__()
    levels = _held_by_arrow(values.categories) if dtype == "category" else None
    return None if levels is None else _coded(values.codes, levels)


def _coded(codes: NDArray[Any], levels: Any) -> Any:
    """Return a column of codes, of which negative ones are missing."""
    import pyarrow as pa

    whole = levels.combine_chunks() if isinstance(levels, pa.ChunkedArray) else levels
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), whole, safe=False)


def _objects(cells: list[Any]) -> NDArray[Any]:
    """Return a vector of the cells, none of which is looked into."""
    return np.fromiter(cells, object, len(cells))
