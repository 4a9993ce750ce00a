"""Records in a file that is read batch by batch: it may be larger than the memory."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tailguard.engines.arrow import arrow_column, is_text, selected
from tailguard.engines.base import CHUNK_BYTES, ChunkedEngine, Records
from tailguard.engines.checks import place
from tailguard.engines.partition import Block
from tailguard.statistics.arrays import FloatVector

__all__ = ["BatchEngine", "Recode"]

Batch: TypeAlias = tuple[Any, "NDArray[np.bool_] | None"]
Recode: TypeAlias = Callable[[Any], FloatVector]


class BatchEngine(ChunkedEngine[Batch]):
    """The numeric columns of a file; at no time is more than a few batches in memory.

    Parameters
    ----------
    rows : int
        Number of rows.
    schema : pyarrow.Schema
        Names and types of the columns.
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

    Attributes
    ----------
    text_target : bool
        Whether the target's column holds text.
    """

    def __init__(
        self,
        rows: int,
        schema: Any,
        *,
        target: str | None = None,
        features: Sequence[str] | None = None,
        recode: Recode | None = None,
        chunk_bytes: int = CHUNK_BYTES,
        threads: int | None = None,
    ) -> None:
        if target is not None:
            place(schema.names, target)
        chosen = [name for name in schema.names if name != target] if features is None else features
        self._features, _ = selected(schema, target if recode is None else None, chosen)
        kind = None if target is None else schema.field(target).type
        self.text_target = kind is not None and is_text(kind.value_type if pa.types.is_dictionary(kind) else kind)
        self._target, self._recode = target, arrow_column if recode is None else recode
        super().__init__(
            rows,
            len(self._features),
            has_target=target is not None,
            names=self._features,
            chunk_bytes=chunk_bytes,
            threads=threads,
        )

    @abstractmethod
    def _batches(self, names: list[str]) -> Iterator[Any]:
        """Yield record batches of these columns, none with more than `chunk_rows` rows, in the order of the file."""

    def _pieces(self, block: Block) -> Iterator[Batch]:
        start = 0
        for batch in self._batches([*self._features, *([] if self._target is None else [self._target])]):
            stop = start + batch.num_rows
            yield batch, None if block.count == 1 else block.mask(start, stop, self.n)
            start = stop

    def _load(self, piece: Batch) -> Records:
        batch, mask = piece
        rows = slice(None) if mask is None else mask
        X = np.column_stack([arrow_column(batch.column(name))[rows] for name in self._features])
        y = None if self._target is None else self._recode(batch.column(self._target))[rows]
        return X, y
