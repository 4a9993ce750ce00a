"""Records in memory as a sparse matrix, made dense chunk by chunk."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.engines.base import CHUNK_BYTES, ChunkedEngine, Records
from tailguard.engines.checks import checked_target, is_numeric
from tailguard.engines.partition import Block
from tailguard.errors import DataError
from tailguard.statistics.arrays import IntVector

__all__ = ["SparseEngine"]


class SparseEngine(ChunkedEngine["slice | IntVector"]):
    """A SciPy sparse matrix or array of any format; entries given twice are added, as SciPy means them.

    Parameters
    ----------
    X : sparse matrix or array
        Records. It is not changed; another format than canonical CSR is copied.
    y : (n,) array or None, default=None
        Targets.
    chunk_bytes : int
        Bytes of dense float64 records handed to a kernel at once.
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
        self._X = _canonical(X)
        self._y = None if y is None else checked_target(y, n)

    def _pieces(self, block: Block) -> Iterator[slice | IntVector]:
        return self._row_numbers(block)

    def _load(self, piece: slice | IntVector) -> Records:
        with np.errstate(all="ignore"):
            X = np.ascontiguousarray(self._X[piece].toarray(), dtype=np.float64)
            y = None if self._y is None else np.ascontiguousarray(self._y[piece], dtype=np.float64)
        return X, y


def _canonical(X: Any) -> Any:
    rows = X.tocsr()
    if not rows.has_canonical_format:
        rows = rows.copy() if rows is X else rows
        rows.sum_duplicates()
    return rows
