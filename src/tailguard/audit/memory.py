"""Records that are read once for each question, however often it is put."""

from collections.abc import Iterator

from tailguard.engines.base import Chunk, Engine, Kernel, Records
from tailguard.engines.partition import WHOLE, Block
from tailguard.statistics.arrays import IntVector

__all__ = ["Remembering"]


class Remembering:
    """An engine that remembers the sums of the last kernel: neighbours of it cost no pass of their own.

    Parameters
    ----------
    engine : Engine
        The data.

    Examples
    --------
    >>> import numpy as np
    >>> from tailguard import engines
    >>> engine = Remembering(engines.open([[1.0, 2.0], [3.0, 4.0]]))
    >>> engine.map_sum(lambda X, y: X.sum(axis=0).astype(np.int64))
    array([4, 6])
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.n, self.d, self.has_target, self.names = engine.n, engine.d, engine.has_target, engine.names
        self._kernel: Kernel | None = None
        self._sums: dict[Block, IntVector] = {}

    def map_sum(self, kernel: Kernel, block: Block = WHOLE) -> IntVector:
        """Return the sum of a kernel over the chunks of a block."""
        if kernel != self._kernel:
            self._kernel, self._sums = kernel, {}
        if block not in self._sums:
            self._sums[block] = self._engine.map_sum(kernel, block)
        return self._sums[block].copy()

    def gather(self, block: Block = WHOLE) -> Records:
        """Return the records of a block in row order."""
        return self._engine.gather(block)

    def chunks(self) -> Iterator[Chunk]:
        """Yield all records in row order."""
        return self._engine.chunks()
