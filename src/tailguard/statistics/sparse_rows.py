"""Rows of which only some entries are stored: the others are 0."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tailguard.statistics import sparse_layout
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector, frozen

__all__ = ["AnyRows", "Indices", "SparseRows"]

Indices: TypeAlias = NDArray[np.int32] | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows in compressed form: row i has the entries data[k] in the columns indices[k], indptr[i] ≤ k < indptr[i+1].

    Whoever makes one guarantees what the kernels rely on without looking: offsets ascend, and the columns of a row
    ascend strictly, from 0 to dimension − 1. `engines.sparse` checks it for the records, all else here keeps it.

    Parameters
    ----------
    indptr : vector of m + 1 offsets
        They need not begin at 0: a slice of the rows shares the entries of all.
    indices : vector of int
        Columns of the stored entries.
    data : vector
        Stored entries; any float, 0 and NaN among them.
    dimension : int
        Number of columns.
    """

    indptr: IntVector
    indices: Indices
    data: FloatVector
    dimension: int

    def __post_init__(self) -> None:
        for name in ("indptr", "indices", "data"):
            array = getattr(self, name).view()
            array.flags.writeable = False  # so that one compiled version serves all, as for dense rows
            object.__setattr__(self, name, array)

    def __len__(self) -> int:
        return self.indptr.size - 1

    def __getitem__(self, part: slice) -> "SparseRows":
        """Return some neighbouring rows, without a copy."""
        start, stop, _ = part.indices(len(self))
        return SparseRows(self.indptr[start : max(start, stop) + 1], self.indices, self.data, self.dimension)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self), self.dimension

    @property
    def arrays(self) -> tuple[IntVector, Indices, FloatVector, int]:
        """What a kernel takes."""
        return self.indptr, self.indices, self.data, self.dimension

    def dense(self, columns: IntVector | None = None) -> FloatMatrix:
        """Return all columns, or these in this order, as an array."""
        if columns is None:
            return frozen(sparse_layout.dense(*self.arrays))
        order = np.argsort(columns, kind="stable")
        return frozen(sparse_layout.picked(*self.arrays, columns[order], order))

    def scaled(self, centre: FloatVector, rate: FloatVector, limit: float, intercept: bool) -> "SparseRows":
        """Return (x − centre)·rate, shrunk to ±limit, for the stored entries, and a last column of ones if asked.

        Only where the image of 0 is 0: entries that are not stored stay so.
        """
        indptr, indices, data = sparse_layout.scaled(*self.arrays, centre, rate, limit, intercept)
        return SparseRows(indptr, indices, data, self.dimension + intercept)

    def combined(
        self, centre: FloatVector, rate: FloatVector, limit: float, basis: FloatMatrix, intercept: bool
    ) -> FloatMatrix:
        """Return the products of the scaled rows with the columns of a basis; only where the image of 0 is 0."""
        return frozen(sparse_layout.combined(*self.arrays, centre, rate, limit, basis, intercept))


AnyRows: TypeAlias = FloatMatrix | SparseRows
