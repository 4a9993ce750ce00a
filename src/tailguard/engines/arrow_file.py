"""Records in an Arrow or Feather file, batch by batch: mapped into memory, decompressed piece by piece."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.dataset import dataset

from tailguard.engines.batches import BatchEngine
from tailguard.errors import DataError

__all__ = ["ArrowFileEngine", "arrow_header"]


def arrow_header(path: str | PathLike[str]) -> tuple[int, Any]:
    """Return the number of rows and the schema of a file; no value is looked at."""
    with _opened(path) as file:
        # Counted from the headers of the batches: a reader would unpack each of them.
        return dataset(str(path), format="ipc").count_rows(), file.schema


class ArrowFileEngine(BatchEngine):
    """The numeric columns of one Arrow or Feather file; at no time is more than one batch of it unpacked.

    Parameters
    ----------
    path : str or path
        The file.
    **options
        As for `BatchEngine`: target, features, recode, chunk_bytes, threads.
    """

    def __init__(self, path: str | PathLike[str], **options: Any) -> None:
        self._path = Path(path)
        rows, self._schema = arrow_header(path)
        super().__init__(rows, self._schema, **options)

    def _batches(self, names: list[str]) -> Iterator[Any]:
        with _opened(self._path, [self._schema.names.index(name) for name in names]) as file:
            for k in range(file.num_record_batches):
                batch = file.get_batch(k)
                for start in range(0, batch.num_rows, self.chunk_rows):
                    yield batch.slice(start, self.chunk_rows)


@contextmanager
def _opened(path: str | PathLike[str], columns: list[int] | None = None) -> Iterator[Any]:
    options = pa.ipc.IpcReadOptions(included_fields=columns)
    try:
        with pa.memory_map(str(path)) as source:
            yield pa.ipc.open_file(source, options=options)
    except (pa.ArrowException, OSError):
        raise DataError(f"{str(path)!r} is not an Arrow or Feather file.") from None
