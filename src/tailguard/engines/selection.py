"""The records of one block, as a statistic asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailguard.engines.base import Engine, Kernel, Records
from tailguard.engines.partition import Block
from tailguard.statistics.arrays import FloatVector, IntVector
from tailguard.statistics.sparse_rows import AnyRows, SparseRows

__all__ = ["Selection"]


@dataclass(frozen=True, eq=False)
class Selection:
    """The records of a block, which can be summed over or split further by row number alone.

    Parameters
    ----------
    engine : Engine
        Where the records are.
    block : Block
        Which of them.
    """

    engine: Engine
    block: Block

    @property
    def size(self) -> int:
        """Number of records."""
        return self.block.size(self.engine.n)

    def total(self, kernel: Kernel) -> IntVector:
        """Return the sum of a kernel over the records."""
        columns = self.block.columns
        return self.engine.map_sum(kernel if columns is None else _Narrowed(kernel, columns), self.block)

    def gather(self) -> Records:
        """Return all records at once, in row order."""
        X, y = self.engine.gather(self.block)
        return (X if self.block.columns is None else np.ascontiguousarray(X[:, self.block.columns])), y

    def split(self, count: int) -> Sequence["Selection"]:
        """Return `count` disjoint parts that cover the selection; sizes differ by at most one."""
        first, blocks, columns = self.block.index * count, self.block.count * count, self.block.columns
        return [Selection(self.engine, Block(first + part, blocks, columns)) for part in range(count)]


@dataclass(frozen=True)
class _Narrowed:
    """A kernel that sees some of the columns."""

    kernel: Kernel
    columns: tuple[int, ...]

    def __call__(self, X: AnyRows, y: FloatVector | None) -> IntVector:
        seen = np.array(self.columns)
        return self.kernel(X.dense(seen) if isinstance(X, SparseRows) else np.ascontiguousarray(X[:, seen]), y)
