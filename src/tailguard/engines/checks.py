"""Checks of shape and type that every engine shares. None of them looks at a value."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.errors import DataError

__all__ = ["checked_target", "is_numeric", "not_numeric"]


def is_numeric(dtype: Any) -> bool:
    """Return whether a NumPy or pandas dtype holds real numbers or booleans."""
    return getattr(dtype, "kind", "O") in "biuf"


def not_numeric(name: object) -> DataError:
    """Return the sentence about a column of another type."""
    return DataError(f"Column {name!r} must hold real numbers or booleans.")


def checked_target(y: NDArray[Any], n: int) -> NDArray[Any]:
    """Return y as a vector of n numbers; a single column counts as one."""
    vector = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    if vector.ndim != 1:
        raise DataError("y must have one dimension.")
    if isinstance(vector, np.ma.MaskedArray) or not is_numeric(vector.dtype):
        raise DataError("y must hold real numbers or booleans.")
    if vector.shape[0] != n:
        raise DataError(f"X has {n} rows and y has {vector.shape[0]}.")
    return vector
