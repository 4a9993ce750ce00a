"""Records of another engine, changed one by one on their way to a kernel."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from tailguard.engines.base import Chunk, Engine, Kernel, Records
from tailguard.engines.partition import WHOLE, Block
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatVector, IntVector
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Change", "Changed"]

Change: TypeAlias = Callable[[AnyRows, "FloatVector | None"], Chunk]


class Changed:
    """An engine whose rows and targets are changed chunk by chunk.

    Parameters
    ----------
    engine : Engine
        The records.
    change : callable
        From the rows and targets of a chunk to others, as many; each must depend on its own record alone.
    d : int or None, default=None
        Number of features of the changed rows; None where they keep theirs, names included.
    """

    def __init__(self, engine: Engine, change: Change, d: int | None = None) -> None:
        self._engine, self._change = engine, change
        self.n, self.d, self.has_target = engine.n, engine.d if d is None else d, engine.has_target
        self.names = engine.names if d is None else None

    def map_sum(self, kernel: Kernel, block: Block = WHOLE) -> IntVector:
        """Return the sum of a kernel over the chunks of a block."""
        return self._engine.map_sum(lambda X, y: kernel(*self._change(X, y)), block)

    def gather(self, block: Block = WHOLE) -> Records:
        """Return the records of a block in row order."""
        X, y = self._change(*self._engine.gather(block))
        return passes.dense(X), y

    def chunks(self) -> Iterator[Chunk]:
        """Yield all records in row order."""
        for X, y in self._engine.chunks():
            yield self._change(X, y)
