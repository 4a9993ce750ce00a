"""Checks of the public numbers that describe a domain.

Lengths are kept within 1e-100 … 1e100, so that no formula of a domain can overflow or vanish on its own
numbers.
"""

from typing import Any

import numpy as np

from tailguard._validate import real, refuse

__all__ = ["LARGEST_LENGTH", "SMALLEST_LENGTH", "length", "matrix", "vector"]

SMALLEST_LENGTH = 1e-100
LARGEST_LENGTH = 1e100


def length(name: str, value: Any, owner: str) -> float:
    """Return `value` as a positive length."""
    return real(name, value, owner, at_least=SMALLEST_LENGTH, at_most=LARGEST_LENGTH)


def vector(name: str, value: Any, owner: str, size: int | None = None) -> tuple[float, ...]:
    """Return `value` as a tuple of floats, of the given size if there is one."""
    array = _array(value)
    wrong = array is None or array.ndim != 1 or not array.size or not _fits(array)
    if wrong or size not in (None, array.size):
        count = "numbers" if size is None else f"{size} numbers"
        raise refuse(name, owner, f"a sequence of {count} of size at most {LARGEST_LENGTH:g}", value)
    return tuple(array.tolist())


def matrix(name: str, value: Any, owner: str, limit: float = LARGEST_LENGTH) -> tuple[tuple[float, ...], ...]:
    """Return `value` as a tuple of rows of equal length."""
    array = _array(value)
    if array is None or array.ndim != 2 or not array.size or not _fits(array, limit):
        raise refuse(name, owner, f"rows of equal length with numbers of size at most {limit:g}", value)
    return tuple(tuple(row) for row in array.tolist())


def _array(value: Any) -> Any:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _fits(array: Any, limit: float = LARGEST_LENGTH) -> bool:
    return bool((np.abs(array) <= limit).all())
