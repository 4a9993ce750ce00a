"""Arrow columns as float64 vectors: nulls become NaN, and no value makes a conversion fail."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tailguard.engines.checks import chosen, not_numeric
from tailguard.statistics.arrays import FloatVector

__all__ = ["arrow_column", "decoded", "is_numeric_type", "selected"]


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

    Arrow turns a missing code of a chunked array into the last value of its dictionary, which other rows decide.
    """
    return pc.cast(column, column.type.value_type) if pa.types.is_dictionary(column.type) else column


def is_numeric_type(kind: Any) -> bool:
    """Return whether an Arrow type holds real numbers or booleans."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal)
    return any(test(kind) for test in tests)
