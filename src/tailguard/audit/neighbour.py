"""A neighbouring data set without a copy of the data: the same records, one of them replaced."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from tailguard._validate import integer
from tailguard.engines.base import Chunk, Engine, Kernel, Records
from tailguard.engines.partition import WHOLE, Block
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector

__all__ = ["Neighbour"]


class Neighbour:
    """The records of an engine with one of them replaced.

    A kernel is a sum over records: that over the neighbour is that over the data, less what the old record adds, plus
    what the new one does.

    Parameters
    ----------
    engine : Engine
        The data.
    row : int
        Number of the record, 0 for the first.
    x : float
        Every feature of the new record; any value, NaN and infinities included.
    y : float, default=nan
        Its target.

    Examples
    --------
    >>> from tailguard import engines
    >>> X, _ = Neighbour(engines.open([[1.0, 2.0], [3.0, 4.0]]), 1, 1e308).gather()
    >>> X.tolist()
    [[1.0, 2.0], [1e+308, 1e+308]]
    """

    def __init__(self, engine: Engine, row: int, x: float, y: float = np.nan) -> None:
        self._engine = engine
        self.row = integer("row", row, "Neighbour", at_least=0, at_most=engine.n - 1)
        self.n, self.d, self.has_target, self.names = engine.n, engine.d, engine.has_target, engine.names
        self._new: Records = np.full((1, self.d), x), np.full(1, y) if self.has_target else None

    def map_sum(self, kernel: Kernel, block: Block = WHOLE) -> IntVector:
        """Return the sum of a kernel over the chunks of a block."""
        total = self._engine.map_sum(kernel, block)
        if block.mask(self.row, self.row + 1, self.n)[0]:
            total = total - kernel(*self._old) + kernel(*self._new)
        return total

    def gather(self, block: Block = WHOLE) -> Records:
        """Return the records of a block in row order."""
        X, y = self._engine.gather(block)
        if block.mask(self.row, self.row + 1, self.n)[0]:
            self._put(X, y, int(np.searchsorted(block.rows(self.n), self.row)))
        return X, y

    def chunks(self) -> Iterator[Chunk]:
        """Yield all records in row order."""
        start = 0
        for rows, y in self._engine.chunks():
            X = np.array(passes.dense(rows))
            y = None if y is None else y.copy()
            if start <= self.row < start + len(X):
                self._put(X, y, self.row - start)
            start += len(X)
            yield X, y

    def _put(self, X: FloatMatrix, y: FloatVector | None, place: int) -> None:
        x_new, y_new = self._new
        X[place] = x_new[0]
        if y is not None and y_new is not None:
            y[place] = y_new[0]

    @cached_property
    def _old(self) -> Records:
        start = 0
        for rows, y in self._engine.chunks():
            X = passes.dense(rows)
            place = self.row - start
            if place < len(X):
                return np.array(X[place : place + 1]), None if y is None else y[place : place + 1].copy()
            start += len(X)
        raise AssertionError("an engine has as many records as it says")
