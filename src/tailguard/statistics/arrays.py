"""The array types of a statistic, and the one way in which an array becomes part of one."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["FloatMatrix", "FloatVector", "IntVector", "frozen", "public_vector"]

FloatMatrix = NDArray[np.float64]
FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


def frozen(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return a read-only C-ordered float64 view of `array`, or a copy where there is no such view.

    Kernels see read-only arrays only, so that one compiled version serves the user's own memory and ours.
    """
    if array.dtype == np.float64 and array.flags.c_contiguous and not array.flags.writeable:
        return array
    view = np.ascontiguousarray(array, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def public_vector(values: ArrayLike, length: int) -> FloatVector | None:
    """Return a read-only copy of public numbers as a vector of this length, or None if they are not one."""
    try:
        vector = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        return None
    vector.flags.writeable = False
    return vector if vector.shape == (length,) else None
