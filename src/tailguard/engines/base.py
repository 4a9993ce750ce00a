"""What an engine is: it moves records to kernels and adds what comes back. It never decides anything."""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Generic, Protocol, TypeAlias, TypeVar

import numpy as np

from tailguard._validate import integer
from tailguard.engines.partition import WHOLE, Block
from tailguard.errors import DataError
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector
from tailguard.statistics.base import Kernel
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["CHUNK_BYTES", "Chunk", "ChunkedEngine", "Engine", "Kernel", "Records"]

Records: TypeAlias = tuple[FloatMatrix, FloatVector | None]
Chunk: TypeAlias = tuple[AnyRows, FloatVector | None]
Piece = TypeVar("Piece")

CHUNK_BYTES = 2**22
"""Bytes of float64 records handed to a kernel at once."""


class Engine(Protocol):
    """Records that can be summed over. n, d and the names of the columns are public; the records are not."""

    @property
    def n(self) -> int:
        """Number of records."""

    @property
    def d(self) -> int:
        """Number of features of a record."""

    @property
    def has_target(self) -> bool:
        """Whether records have a target."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the features, if the source has any."""

    def map_sum(self, kernel: Kernel, block: Block = WHOLE) -> IntVector:
        """Return the sum of a kernel over the chunks of a block: the same integers however it is cut."""

    def gather(self, block: Block = WHOLE) -> Records:
        """Return the records of a block in row order, as float64."""

    def chunks(self) -> Iterator[Chunk]:
        """Yield all records in row order, a piece at a time."""


class ChunkedEngine(ABC, Generic[Piece]):
    """An engine that cuts a block into pieces and loads one piece at a time, on several threads.

    Parameters
    ----------
    n, d : int
        Numbers of records and features, both at least 1.
    has_target : bool
        Whether records have a target.
    names : tuple of str or None
        Names of the features.
    chunk_bytes : int
        Bytes of float64 records in a piece.
    threads : int or None
        None is the number of processors this process may use. Kernels release the global lock.
    """

    def __init__(
        self,
        n: int,
        d: int,
        *,
        has_target: bool,
        names: tuple[str, ...] | None = None,
        chunk_bytes: int = CHUNK_BYTES,
        threads: int | None = None,
    ) -> None:
        if n < 1 or d < 1:
            raise DataError(f"The records must have at least one row and one feature, not {n} and {d}.")
        self.n = n
        self.d = d
        self.has_target = has_target
        self.names = names
        self.chunk_rows = max(1, integer("chunk_bytes", chunk_bytes, type(self).__name__) // (8 * d))
        self.threads = _processors() if threads is None else integer("threads", threads, type(self).__name__)

    @abstractmethod
    def _pieces(self, block: Block) -> Iterator[Piece]:
        """Yield what `_load` needs, cheaply: one thread at a time asks for the next piece."""

    @abstractmethod
    def _load(self, piece: Piece) -> Chunk:
        """Return the records of a piece, C-ordered float64 or sparse; several threads load at the same time."""

    def map_sum(self, kernel: Kernel, block: Block = WHOLE) -> IntVector:
        """Return the sum of a kernel over the chunks of a block: the same integers however it is cut."""
        pieces = _Shared(self._pieces(block))
        workers = min(self.threads, -(-block.size(self.n) // self.chunk_rows))
        if workers < 2:
            return self._drain(kernel, pieces)
        with ThreadPoolExecutor(workers) as pool:
            parts = [pool.submit(self._drain, kernel, pieces) for _ in range(workers)]
            total = parts[0].result()
            for part in parts[1:]:
                total += part.result()
            return total

    def _drain(self, kernel: Kernel, pieces: Iterator[Piece]) -> IntVector:
        first = next(pieces, None)
        if first is None:  # another thread took the last piece
            return kernel(np.empty((0, self.d)), np.empty(0) if self.has_target else None)
        total = kernel(*self._load(first))
        for piece in pieces:
            total += kernel(*self._load(piece))
        return total

    def gather(self, block: Block = WHOLE) -> Records:
        """Return the records of a block in row order, as float64."""
        empty = (np.empty((0, self.d)), np.empty(0) if self.has_target else None)
        loaded = [empty, *(self._load(piece) for piece in self._pieces(block))]
        X = np.concatenate([passes.dense(rows) for rows, _ in loaded])
        y = np.concatenate([target for _, target in loaded if target is not None]) if self.has_target else None
        return X, y

    def chunks(self) -> Iterator[Chunk]:
        """Yield all records in row order, a piece at a time."""
        return map(self._load, self._pieces(WHOLE))

    def _row_numbers(self, block: Block) -> Iterator[slice | IntVector]:
        """Yield the rows of a block in pieces of at most `chunk_rows`; slices where the block is whole."""
        rows = None if block.count == 1 else block.rows(self.n)
        for start in range(0, block.size(self.n), self.chunk_rows):
            part = slice(start, min(start + self.chunk_rows, self.n))
            yield part if rows is None else rows[part]


class _Shared(Generic[Piece]):
    """An iterator that several threads may ask."""

    def __init__(self, source: Iterator[Piece]) -> None:
        self._source = source
        self._lock = Lock()

    def __iter__(self) -> Iterator[Piece]:
        return self

    def __next__(self) -> Piece:
        with self._lock:
            return next(self._source)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
