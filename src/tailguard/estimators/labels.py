"""Public labels to 0, 1, 2 …; anything else becomes NaN, which contributes nothing."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.engines import Engine
from tailguard.engines.changed import Changed

__all__ = ["Relabelled", "equal", "zero_one"]


def zero_one(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    """Return 0.0 for the first class, 1.0 for the second, and so on, and NaN for every other label."""
    numbers = np.full(labels.shape, np.nan)
    for number, label in enumerate(classes):
        numbers[equal(labels, label)] = number
    return numbers


def equal(labels: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    """Return which labels are this one; a missing value, or one of a type that does not compare, is not."""
    if labels.dtype == object:
        return np.fromiter((_same(cell, label) for cell in labels), bool, labels.size)
    with np.errstate(all="ignore"):  # a signalling NaN is cast with a warning
        found = np.asarray(labels == label, dtype=bool)
    return found if found.shape == labels.shape else np.zeros(labels.shape, bool)


def _same(cell: Any, label: Any) -> bool:
    try:
        return bool(cell == label)
    except Exception:  # pandas.NA and Decimal("sNaN") are neither equal nor different; any object may raise anything
        return False


class Relabelled(Changed):
    """An engine whose targets are turned into 0, 1, 2 and so on."""

    def __init__(self, engine: Engine, classes: NDArray[Any]) -> None:
        super().__init__(engine, lambda X, y: (X, None if y is None else zero_one(y, classes)))
