"""The records of one block, as a statistic asks for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailguard.engines.base import Engine, Kernel, Records
from tailguard.engines.partition import Block
from tailguard.statistics.arrays import IntVector

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
        return self.engine.map_sum(kernel, self.block)

    def gather(self) -> Records:
        """Return all records at once, in row order."""
        return self.engine.gather(self.block)

    def split(self, count: int) -> Sequence["Selection"]:
        """Return `count` disjoint parts that cover the selection; sizes differ by at most one."""
        first = self.block.index * count
        return [Selection(self.engine, Block(first + part, self.block.count * count)) for part in range(count)]
