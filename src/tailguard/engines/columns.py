"""Records in memory as columns: pandas, polars and Arrow tables."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.engines.base import CHUNK_BYTES, ChunkedEngine, Records
from tailguard.engines.checks import checked_target
from tailguard.engines.partition import Block
from tailguard.errors import DataError
from tailguard.statistics.arrays import IntVector

__all__ = ["ColumnEngine"]


class ColumnEngine(ChunkedEngine["slice | IntVector"]):
    """Columns of equal length, each of its own real dtype; only the chunk at hand is put together.

    Parameters
    ----------
    columns : sequence of vectors
        The features.
    y : vector or None, default=None
        Targets.
    names : tuple of str or None, default=None
        Names of the features.
    chunk_bytes : int
        Bytes of float64 records handed to a kernel at once.
    threads : int or None, default=None
        None is the number of processors this process may use.
    """

    def __init__(
        self,
        columns: Sequence[NDArray[Any]],
        y: NDArray[Any] | None = None,
        *,
        names: tuple[str, ...] | None = None,
        chunk_bytes: int = CHUNK_BYTES,
        threads: int | None = None,
    ) -> None:
        if not columns:
            raise DataError("The records must have at least one feature.")
        n, d = len(columns[0]), len(columns)
        if any(column.shape != (n,) for column in columns):
            raise DataError("All columns must have the same number of rows.")
        super().__init__(n, d, has_target=y is not None, names=names, chunk_bytes=chunk_bytes, threads=threads)
        self._columns = tuple(columns)
        self._y = None if y is None else checked_target(y, n)

    def _pieces(self, block: Block) -> Iterator[slice | IntVector]:
        return self._row_numbers(block)

    def _load(self, piece: slice | IntVector) -> Records:
        with np.errstate(all="ignore"):  # a narrower type may overflow; a warning would tell
            X = np.column_stack([column[piece].astype(np.float64, copy=False) for column in self._columns])
            y = None if self._y is None else np.ascontiguousarray(self._y[piece], dtype=np.float64)
        return X, y
