"""Histograms over any cells, for several scalars at once. Proof: cells.md."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import refuse
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector, frozen
from tailguard.statistics.base import checked_bits, register
from tailguard.statistics.counts import Counts
from tailguard.statistics.scalars import Scalars
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Cells"]


@register
@dataclass(frozen=True, eq=False)
class Cells(Counts):
    """For each scalar, how many records lie in each cell between edges of its own; NaN in none.

    Cell k of a histogram holds the numbers from its edge k − 1 up to, but without, its edge k; the first and the last
    one have no end. A scalar may have several histograms, such as shifted ones.

    Parameters
    ----------
    scalars : Scalars
        Gives q numbers for each record.
    edges : (h, cells − 1) matrix
        Public or released numbers, not NaN, that do not fall along a row. h is a multiple of q: the first h ÷ q rows
        are edges of histograms of the first scalar, and so on.
    folded : vector of bool
        For which of the h histograms the magnitude is counted, not the number.
    bits : int
        A record counts L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other moves, in each histogram, L from one cell to another: at most
    L in every integer, 2Lh in sum and L√(2h) in Euclidean norm.
    """

    kind: ClassVar[str] = "cell counts"

    scalars: Scalars
    edges: FloatMatrix
    folded: NDArray[np.bool_]
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, 1, "Cells")
        edges, count = np.array(self.edges, dtype=np.float64), self.scalars.count
        whole = edges.ndim == 2 and len(edges) > 0 and len(edges) % count == 0
        if not whole or not np.all(edges[:, 1:] >= edges[:, :-1]) or np.isnan(edges).any():
            rule = f"a matrix of numbers that do not fall along rows, and a multiple of {count} rows"
            raise refuse("edges", "Cells", rule, self.edges)
        folded = np.array(self.folded)
        folded.setflags(write=False)
        if folded.shape != (len(edges),) or folded.dtype != np.bool_:
            raise refuse("folded", "Cells", f"a vector of {len(edges)} booleans", self.folded)
        object.__setattr__(self, "edges", frozen(edges))
        object.__setattr__(self, "folded", folded)

    @property
    def cells(self) -> int:
        """Number of cells of one histogram."""
        return int(self.edges.shape[1]) + 1

    @property
    def parts(self) -> int:
        """The number h of histograms: a record has one cell in each."""
        return len(self.edges)

    def _width(self, d: int) -> int:
        return max(d, self.scalars.count)

    def _block(self, X: AnyRows, y: FloatVector | None) -> IntVector:
        columns = passes.dense(self.scalars.values(X, y)).T
        own = np.split(np.arange(self.parts), self.scalars.count)
        counts = [count for values, parts in zip(columns, own, strict=True) for count in self._counts(values, parts)]
        return np.concatenate(counts) << self.bits

    def _counts(self, values: FloatVector, parts: NDArray[np.int64]) -> list[IntVector]:
        """Return the counts of one scalar's histograms."""
        known = values[~np.isnan(values)]
        sizes = np.abs(known) if self.folded[parts].any() else known
        numbers = (sizes if self.folded[part] else known for part in parts)
        places = [np.searchsorted(self.edges[part], x, side="right") for part, x in zip(parts, numbers, strict=True)]
        return [np.bincount(place, minlength=self.cells).astype(np.int64, copy=False) for place in places]
