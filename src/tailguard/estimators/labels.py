"""Public labels to 0, 1, 2 …; anything else becomes NaN, which contributes nothing."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.engines import Engine
from tailguard.engines.base import Chunk, Kernel, Records
from tailguard.engines.partition import WHOLE, Block
from tailguard.statistics.arrays import FloatVector, IntVector
from tailguard.statistics.sparse_rows import AnyRows

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


class Relabelled:
    """An engine whose targets are turned into 0, 1, 2 …, chunk by chunk."""

    def __init__(self, engine: Engine, classes: NDArray[Any]) -> None:
        self._engine = engine
        self._classes = classes
        self.n, self.d, self.has_target, self.names = engine.n, engine.d, engine.has_target, engine.names

    def map_sum(self, kernel: Kernel, block: Block = WHOLE) -> IntVector:
        """Return the sum of a kernel over the chunks of a block."""

        def relabelled(X: AnyRows, y: FloatVector | None) -> IntVector:
            return kernel(X, None if y is None else zero_one(y, self._classes))

        return self._engine.map_sum(relabelled, block)

    def gather(self, block: Block = WHOLE) -> Records:
        """Return the records of a block in row order."""
        X, y = self._engine.gather(block)
        return X, None if y is None else zero_one(y, self._classes)

    def chunks(self) -> Iterator[Chunk]:
        """Yield all records in row order."""
        for X, y in self._engine.chunks():
            yield X, None if y is None else zero_one(y, self._classes)
