"""Records in a Parquet file, read batch by batch: the file may be larger than the memory."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tailguard.engines.batches import BatchEngine
from tailguard.errors import DataError

__all__ = ["ParquetEngine"]

STREAM_BYTES = 2**20
"""How much of a compressed column is read at once; a row group may be as large as the file."""


class ParquetEngine(BatchEngine):
    """The numeric columns of one Parquet file; at no time is more than a few batches in memory.

    Parameters
    ----------
    path : str or path
        The file.
    **options
        As for `BatchEngine`: target, features, recode, chunk_bytes, threads.
    """

    def __init__(self, path: str | PathLike[str], **options: Any) -> None:
        self._path = Path(path)
        if not self._path.is_file():
            raise DataError(f"There is no file {str(path)!r}.")
        try:
            with pq.ParquetFile(self._path) as file:
                self._metadata, schema = file.metadata, file.schema_arrow
        except pa.ArrowException:
            raise DataError(f"{str(path)!r} is not a Parquet file.") from None
        super().__init__(self._metadata.num_rows, schema, **options)

    def _batches(self, names: list[str]) -> Iterator[Any]:
        # Without these options pyarrow reads ahead until the whole file is in memory.
        streamed = {"pre_buffer": False, "buffer_size": STREAM_BYTES}
        with pq.ParquetFile(self._path, metadata=self._metadata, **streamed) as file:
            yield from file.iter_batches(self.chunk_rows, columns=names)
