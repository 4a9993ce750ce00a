"""Arrow columns as float64 vectors: nulls become NaN, and no value makes a conversion fail."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tailguard.engines.checks import chosen, not_numeric
from tailguard.statistics.arrays import FloatVector

__all__ = ["arrow_column", "decoded", "is_dated", "is_numeric_type", "is_text", "python_cells", "selected"]


def selected(schema: Any, target: str | None, features: Sequence[str] | None) -> tuple[tuple[str, ...], str | None]:
    """Return the names of the features and of the target, each of them checked to exist and be numeric."""
    names = chosen(schema.names, target, features)
    for name in (*(() if target is None else (target,)), *names):
        if not is_numeric_type(schema.field(name).type):
            raise not_numeric(name)
    return names, target


def arrow_column(column: Any) -> FloatVector:
    """Return an Arrow array or chunked array as float64; nulls become NaN."""
    numbers = pc.cast(column, pa.float64(), safe=False)  # a safe cast fails on integers above 2**53
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def decoded(column: Any) -> Any:
    """Return a column of codes as one of its values; any other as it is.

    Arrow turns a missing code of a chunked array into the last value of its dictionary, which other rows decide, and
    raises about a code that no dictionary has. Both are missing values here.
    """
    if not pa.types.is_dictionary(column.type):
        return column
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return pa.chunked_array([_values(chunk) for chunk in chunks], type=column.type.value_type)


def _values(chunk: Any) -> Any:
    codes = pc.cast(chunk.indices, pa.int64(), safe=False)
    inside = pc.and_(pc.greater_equal(codes, 0), pc.less(codes, len(chunk.dictionary)))
    return chunk.dictionary.take(pc.if_else(inside, codes, pa.scalar(None, pa.int64())))


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type holds text."""
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def is_dated(kind: Any) -> bool:
    """Return whether an Arrow type holds what NumPy has a type of dates for."""
    return any(test(kind) for test in (pa.types.is_date32, pa.types.is_timestamp, pa.types.is_duration))


def python_cells(column: Any) -> list[Any]:
    """Return the cells of a column as Python objects, None where there is none.

    Arrow looks into no text and no date before Python wants it. What is no UTF-8 is mended then, and what Python cannot
    hold, as a date beyond the year 9999, is None: an error would tell of it.
    """
    column = decoded(column)
    if is_text(column.type):
        cells = pc.cast(column, pa.large_binary()).to_pylist()
        return [None if cell is None else cell.decode("utf-8", "replace") for cell in cells]
    if is_numeric_type(column.type):
        return list(column.to_pylist())
    return [_python(cell) for cell in column]


def _python(cell: Any) -> Any:
    try:
        return cell.as_py()
    except Exception:
        return None


def is_numeric_type(kind: Any) -> bool:
    """Return whether an Arrow type holds real numbers or booleans."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    return any(test(kind) for test in tests)
