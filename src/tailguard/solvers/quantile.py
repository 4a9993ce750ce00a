"""Private quantiles by bisection with noisy counts: no sort, and no bound on the data.

A quantile is sought on a public logarithmic grid. Each question is one count per scalar, "how many records are at
most this edge?"; a released count decides which half to keep. The number of questions is fixed by the grid.
"""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tailguard.solvers.base import FloatVector, Query, Released, Setting
from tailguard.statistics.below import Below
from tailguard.statistics.scalars import Scalars

__all__ = ["LogGrid", "quantile"]


@dataclass(frozen=True)
class LogGrid(Setting):
    """Edges ±2^(low + k/substeps), k = 1 … (high − low)·substeps, and 0; without the negative ones if not signed.

    Parameters
    ----------
    low, high : int
        Octaves covered. A value of smaller magnitude than 2^low counts as 0.
    substeps : int
        Edges an octave: the relative resolution is 2^(1/substeps).
    signed : bool
        Whether negative values are sought too.
    """

    low: int
    high: int
    substeps: int
    signed: bool

    @property
    def size(self) -> int:
        """Number of edges above 0."""
        return (self.high - self.low) * self.substeps

    @property
    def depth(self) -> int:
        """Number of counts that a bisection takes."""
        return int((2 * self.size if self.signed else self.size) - 1).bit_length()

    @property
    def inverse(self) -> "LogGrid":
        """The grid of the reciprocals."""
        return LogGrid(-self.high, -self.low, self.substeps, self.signed)

    def edge(self, index: NDArray[np.int64]) -> FloatVector:
        """Return the edges of the given indices, which run from −size (or 0) to size."""
        magnitude = np.exp2(self.low + np.abs(index) / self.substeps)
        return np.asarray(np.where(index == 0, 0.0, np.sign(index) * magnitude))


def quantile(
    step: str, scalars: Scalars, level: float, n: int, bits: int, grid: LogGrid
) -> Generator[Query, Released, FloatVector]:
    """Ask for the `level`-quantile of each scalar and return the upper edge of its cell, or 0 beyond the grid.

    Parameters
    ----------
    step : str
        The plan's step; it must have `grid.depth` releases of as many counts as there are scalars.
    scalars : Scalars
        The per-record numbers.
    level : float
        Between 0 and 1.
    n, bits : int
        Number of records, and bits of the grid of counts.
    grid : LogGrid
        Where to look.

    Notes
    -----
    *Accuracy.* The rank of the answer is off by about the noise of one count; a cell that holds an atom of the
    distribution is found exactly once the atom outweighs that noise.
    """
    low = np.full(scalars.count, -grid.size if grid.signed else 0, np.int64)
    high = np.full(scalars.count, grid.size, np.int64)
    for _ in range(grid.depth):
        middle = (low + high) // 2
        reply = yield Query(step, Below(scalars, grid.edge(middle), bits))
        below = reply.value < level * n
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    # Where the bisection ran off the grid, most records are missing or absurd: 0 then does no harm.
    bottom = -grid.size if grid.signed else -1
    return np.where((low > bottom) & (high < grid.size), grid.edge(high), 0.0)
