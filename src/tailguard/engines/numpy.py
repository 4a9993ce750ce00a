"""Records in memory as one array."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.engines.base import CHUNK_BYTES, ChunkedEngine, Records
from tailguard.engines.checks import checked_target, is_numeric
from tailguard.engines.partition import Block
from tailguard.errors import DataError
from tailguard.statistics.arrays import IntVector

__all__ = ["NumpyEngine"]


class NumpyEngine(ChunkedEngine["slice | IntVector"]):
    """A NumPy matrix in any order, of any real dtype; only other layouts than C-ordered float64 are copied.

    Parameters
    ----------
    X : (n, d) array
        Records. Read-only memory is fine; nothing is written.
    y : (n,) array or None, default=None
        Targets.
    chunk_bytes : int
        Bytes of float64 records handed to a kernel at once.
    threads : int or None, default=None
        None is the number of processors this process may use.

    Examples
    --------
    >>> engine = NumpyEngine(np.ones((3, 2)))
    >>> engine.map_sum(lambda X, y: X.sum(axis=0).astype(np.int64))
    array([3, 3])
    """

    def __init__(
        self,
        X: NDArray[Any],
        y: NDArray[Any] | None = None,
        *,
        chunk_bytes: int = CHUNK_BYTES,
        threads: int | None = None,
    ) -> None:
        if isinstance(X, np.ma.MaskedArray):
            raise DataError("X must not be a masked array: missing values are NaN.")
        if X.ndim != 2:
            raise DataError(f"X must have two dimensions, rows and features, not {X.ndim}.")
        if not is_numeric(X.dtype):
            raise DataError("X must hold real numbers or booleans.")
        n, d = X.shape
        super().__init__(n, d, has_target=y is not None, chunk_bytes=chunk_bytes, threads=threads)
        self._X = X
        self._y = None if y is None else checked_target(y, n)

    def _pieces(self, block: Block) -> Iterator[slice | IntVector]:
        return self._row_numbers(block)

    def _load(self, piece: slice | IntVector) -> Records:
        with np.errstate(all="ignore"):  # a narrower type may overflow; a warning would tell
            X = np.ascontiguousarray(self._X[piece], dtype=np.float64)
            y = None if self._y is None else np.ascontiguousarray(self._y[piece], dtype=np.float64)
        return X, y
