"""Records in memory as a sparse matrix, which stay sparse on their way to the kernels."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.engines.base import CHUNK_BYTES, Chunk, ChunkedEngine
from tailguard.engines.checks import checked_target, is_numeric
from tailguard.engines.partition import Block
from tailguard.errors import DataError
from tailguard.statistics.arrays import IntVector
from tailguard.statistics.canonical import canonical
from tailguard.statistics.kernels import MAX_ROWS
from tailguard.statistics.sparse_rows import SparseRows

__all__ = ["SparseEngine"]

ENTRY_BYTES = 16
"""Of a stored entry: a float64 and at most an int64."""

DENSE_SHARE = 0.25
"""Chunks with more stored entries are made dense: the loops over arrays are that much faster an entry."""


class SparseEngine(ChunkedEngine["slice | IntVector"]):
    """A SciPy sparse matrix or array of any format; entries given twice are added, in the order in which they stand.

    Parameters
    ----------
    X : sparse matrix or array
        Records. It is not changed, and must not be while the engine is in use; another format than canonical CSR is
        copied.
    y : (n,) array or None, default=None
        Targets.
    chunk_bytes : int
        Bytes of stored entries handed to a kernel at once, about.
    threads : int or None, default=None
        None is the number of processors this process may use.
    """

    def __init__(
        self,
        X: Any,
        y: NDArray[Any] | None = None,
        *,
        chunk_bytes: int = CHUNK_BYTES,
        threads: int | None = None,
    ) -> None:
        if X.ndim != 2:
            raise DataError(f"X must have two dimensions, rows and features, not {X.ndim}.")
        if not is_numeric(X.dtype):
            raise DataError("X must hold real numbers or booleans.")
        n, d = X.shape
        super().__init__(n, d, has_target=y is not None, chunk_bytes=chunk_bytes, threads=threads)
        self._indptr, self._indices, self._data = canonical(X)
        self._y = None if y is None else checked_target(y, n)
        self._chunk_entries = max(1, chunk_bytes // ENTRY_BYTES)
        entries_a_row = max(1, int(self._indptr[-1]) // n)
        self.chunk_rows = min(MAX_ROWS, max(1, self._chunk_entries // entries_a_row))  # on average

    def _pieces(self, block: Block) -> Iterator[slice | IntVector]:
        """Yield the rows of a block in pieces of `MAX_ROWS` rows and of `chunk_bytes` at most, or of one row."""
        rows = None if block.count == 1 else block.rows(self.n)
        ends = self._indptr if rows is None else _offsets(self._indptr, rows)
        start, size = 0, block.size(self.n)
        while start < size:
            full = int(np.searchsorted(ends, ends[start] + self._chunk_entries, side="right")) - 1
            stop = min(max(full, start + 1), start + MAX_ROWS, size)
            yield slice(start, stop) if rows is None else rows[start:stop]
            start = stop

    def _load(self, piece: slice | IntVector) -> Chunk:
        with np.errstate(all="ignore"):  # a narrower type may overflow; a warning would tell
            X = self._slice(piece) if isinstance(piece, slice) else self._rows(piece)
            y = None if self._y is None else np.ascontiguousarray(self._y[piece], dtype=np.float64)
        return X if X.indptr[-1] - X.indptr[0] <= DENSE_SHARE * len(X) * self.d else X.dense(), y

    def _slice(self, rows: slice) -> SparseRows:
        indptr = self._indptr[rows.start : rows.stop + 1]
        return self._sparse(indptr - indptr[0], slice(indptr[0], indptr[-1]))

    def _rows(self, rows: IntVector) -> SparseRows:
        indptr = _offsets(self._indptr, rows)
        shifts = np.repeat(self._indptr[rows] - indptr[:-1], np.diff(indptr))
        return self._sparse(indptr, shifts + np.arange(indptr[-1]))

    def _sparse(self, indptr: IntVector, entries: slice | IntVector) -> SparseRows:
        index: Any = np.int32 if self.d < 2**31 - 1 else np.int64  # a column of ones may follow the last
        indices = np.ascontiguousarray(self._indices[entries], dtype=index)
        return SparseRows(indptr, indices, np.ascontiguousarray(self._data[entries], dtype=np.float64), self.d)


def _offsets(indptr: IntVector, rows: IntVector) -> IntVector:
    """Return the offsets of these rows, put one after the other."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(indptr[rows + 1] - indptr[rows])])
