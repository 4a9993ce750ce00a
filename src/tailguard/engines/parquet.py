"""Records in a Parquet file, read batch by batch: the file may be larger than the memory."""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tailguard.engines.arrow import arrow_column, selected
from tailguard.engines.base import CHUNK_BYTES, ChunkedEngine, Records
from tailguard.engines.partition import Block
from tailguard.errors import DataError
from tailguard.statistics.arrays import FloatVector

__all__ = ["ParquetEngine"]

Batch = tuple[Any, "NDArray[np.bool_] | None"]


class ParquetEngine(ChunkedEngine[Batch]):
    """The numeric columns of one Parquet file; at no time is more than a few batches in memory.

    Parameters
    ----------
    path : str or path
        The file.
    target : str or None, default=None
        Column with the targets.
    features : sequence of str or None, default=None
        Columns to use, in this order; None is all but the target.
    recode : callable or None, default=None
        Turns the Arrow array of a target that is no number into one number a row.
    chunk_bytes : int
        Bytes of float64 records handed to a kernel at once.
    threads : int or None, default=None
        None is the number of processors this process may use.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        recode: Callable[[Any], FloatVector] | None = None,
        chunk_bytes: int = CHUNK_BYTES,
        threads: int | None = None,
    ) -> None:
        self._path = Path(path)
        if not self._path.is_file():
            raise DataError(f"There is no file {str(path)!r}.")
        try:
            with pq.ParquetFile(self._path) as file:
                self._metadata, schema = file.metadata, file.schema_arrow
        except pa.ArrowException:
            raise DataError(f"{str(path)!r} is not a Parquet file.") from None
        chosen = [name for name in schema.names if name != target] if features is None else features
        self._features, _ = selected(schema, target if recode is None else None, chosen)
        self._target, self._recode = target, arrow_column if recode is None else recode
        super().__init__(
            self._metadata.num_rows,
            len(self._features),
            has_target=target is not None,
            names=self._features,
            chunk_bytes=chunk_bytes,
            threads=threads,
        )

    def _pieces(self, block: Block) -> Iterator[Batch]:
        names = [*self._features, *([] if self._target is None else [self._target])]
        start = 0
        with pq.ParquetFile(self._path, metadata=self._metadata) as file:
            for batch in file.iter_batches(self.chunk_rows, columns=names):
                stop = start + batch.num_rows
                yield batch, None if block.count == 1 else block.mask(start, stop, self.n)
                start = stop

    def _load(self, piece: Batch) -> Records:
        batch, mask = piece
        rows = slice(None) if mask is None else mask
        X = np.column_stack([arrow_column(batch.column(name))[rows] for name in self._features])
        y = None if self._target is None else self._recode(batch.column(self._target))[rows]
        return X, y
