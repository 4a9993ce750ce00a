"""How loops over records are compiled."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["compiled", "inlined"]

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile without the global lock, cached on disk where some cache directory can be written."""
    try:
        return cast(F, njit(nogil=True, cache=True, error_model="numpy")(function))
    except RuntimeError:  # numba found no writable cache directory
        return cast(F, njit(nogil=True, error_model="numpy")(function))


def inlined(function: F) -> F:
    """Make a function part of each kernel that calls it."""
    return cast(F, njit(nogil=True, inline="always")(function))
