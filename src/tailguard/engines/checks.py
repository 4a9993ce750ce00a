"""Checks of shape and type that every engine shares. None of them looks at a value."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.errors import DataError

__all__ = ["checked_target", "chosen", "is_numeric", "not_numeric", "place"]

SHOWN = 8
"""So many names are listed where one is not found."""


def is_numeric(dtype: Any) -> bool:
    """Return whether a NumPy or pandas dtype holds real numbers or booleans."""
    return getattr(dtype, "kind", "O") in "biuf"


def not_numeric(name: object) -> DataError:
    """Return the sentence about a column of another type."""
    return DataError(f"Column {name!r} must hold real numbers or booleans.")


def place(names: Sequence[Any], name: object) -> int:
    """Return where the only column of a name is; none, or several, are refused."""
    found = list(names).count(name)
    if found > 1 and _are_names(names):
        raise DataError(f"There are {found} columns {name!r}; there must be one.")
    if found > 1:
        raise DataError("There are several columns of one name; there must be one of each.")
    if found == 0:
        known = [repr(other) for other in names[:SHOWN]] + ["…"] * (len(names) > SHOWN)
        raise DataError(f"There is no column {name!r}" + (f" among {', '.join(known)}." if _are_names(names) else "."))
    return list(names).index(name)


def _are_names(names: Sequence[Any]) -> bool:
    """Whether no name reads as a number: a table without names may have a record in their place, which is not shown."""
    return not any(isinstance(name, str) and name.strip().isdigit() for name in names)


def chosen(names: Sequence[Any], target: object, features: Sequence[Any] | None) -> tuple[Any, ...]:
    """Return the columns that are features, all but the target by default; every one must be there, once."""
    wanted = tuple(name for name in names if name != target) if features is None else tuple(features)
    if not wanted:
        raise DataError("The records must have at least one feature.")
    known, asked = Counter(names), Counter(wanted)
    for name in (*([] if target is None else [target]), *wanted):
        if known[name] != 1:
            place(names, name)  # says so
        if asked[name] > 1:
            raise DataError(f"Column {name!r} is asked for more than once.")
    if target in asked:
        raise DataError(f"Column {target!r} is the target, and cannot be a feature too.")
    return wanted


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
