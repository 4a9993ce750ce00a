"""From a file to an engine, by the suffix of its name."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from tailguard import engines
from tailguard.cli.console import check_readable
from tailguard.cli.csv_file import AUTO, CsvFile, text_cells
from tailguard.engines.arrow import decoded, selected
from tailguard.engines.arrow_file import ArrowFileEngine, arrow_header
from tailguard.engines.base import Engine
from tailguard.engines.checks import chosen
from tailguard.engines.columns import ColumnEngine
from tailguard.engines.parquet import ParquetEngine
from tailguard.errors import DataError
from tailguard.estimators.labels import Relabelled, zero_one
from tailguard.statistics.arrays import FloatVector

__all__ = ["Source", "read_to_the_end"]

Kind = Literal["parquet", "arrow", "csv"]
KINDS: dict[str, Kind] = {
    **dict.fromkeys((".parquet", ".pq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    **dict.fromkeys((".csv", ".tsv", ".txt"), "csv"),
}


@dataclass(frozen=True)
class Source:
    """Records in a file, and which of its columns are wanted.

    Parameters
    ----------
    path : path
        A Parquet, Arrow, Feather or CSV file.
    target : str or None
        Column of the targets.
    features : sequence of str or None
        Columns to use; None is all but the target.
    classes : tuple of str or None
        Labels of the target, to be turned into 0, 1, 2 … They are compared as numbers if all are written as numbers,
        and as text otherwise.
    delimiter : str
        Between the cells of a CSV file.
    """

    path: Path
    target: str | None = None
    features: Sequence[str] | None = None
    classes: tuple[str, ...] | None = None
    delimiter: str = AUTO

    def header(self) -> tuple[int, tuple[str, ...]]:
        """Return the number of rows and the names of the features; no value is read."""
        rows, names = self._header()
        return self._some(rows), names

    def rows(self) -> int:
        """Return the number of rows, whatever columns there are; no value is read."""
        return self._some(self._csv.count() if self._kind == "csv" else self._schema()[0])

    def _some(self, rows: int) -> int:
        if rows < 1:
            raise DataError(f"{str(self.path)!r} has no rows.")
        return rows

    def _schema(self) -> tuple[int, pa.Schema]:
        """Return the number of rows, and the columns, of a file that is no CSV."""
        if self._kind != "parquet":
            return arrow_header(self.path)
        with self._parquet() as file:
            return file.metadata.num_rows, file.schema_arrow

    def _header(self) -> tuple[int, tuple[str, ...]]:
        if self._kind == "csv":
            return self._csv.count(), self._names(self._csv.names)
        rows, schema = self._schema()
        names = self._names(schema.names)
        selected(schema, self.target if self._numbers is not None or self.classes is None else None, names)
        return rows, names

    def open(self, quiet: bool = False) -> Engine:
        """Return an engine for the records; a CSV file is read here, with a progress bar unless `quiet`."""
        if self.classes is None:
            return self._numeric(quiet)
        return self._labelled(quiet) if self._numbers is None else Relabelled(self._numeric(quiet), self._numbers)

    def _numeric(self, quiet: bool) -> Engine:
        """Return an engine whose targets, if any, are numbers."""
        if self._kind == "parquet":
            with self._parquet():
                return engines.open(self.path, target=self.target, features=self.features)
        if self._kind == "arrow":
            return ArrowFileEngine(self.path, target=self.target, features=self.features)
        names = self._names(self._csv.names)
        columns = self._csv.read([*names, *([] if self.target is None else [self.target])], quiet=quiet)
        return ColumnEngine(columns[: len(names)], None if self.target is None else columns[-1], names=names)

    def _labelled(self, quiet: bool) -> Engine:
        """Return an engine whose targets are texts turned into 0 and 1, a batch at a time."""
        if self._kind == "csv":
            names = self._names(self._csv.names)
            *columns, targets = self._csv.read(names, (str(self.target), self._recode), quiet=quiet)
            return ColumnEngine(columns, targets, names=names)
        if self._kind == "parquet":
            with self._parquet() as file:
                names = self._names(file.schema_arrow.names)
                self._check_text(file.schema_arrow.field(self.target).type)
            return ParquetEngine(self.path, target=self.target, features=names, recode=self._labels)
        _, schema = arrow_header(self.path)
        names = self._names(schema.names)
        self._check_text(schema.field(self.target).type)
        return ArrowFileEngine(self.path, target=self.target, features=names, recode=self._labels)

    def _recode(self, labels: NDArray[Any]) -> FloatVector:
        return zero_one(labels, np.asarray(self.classes))

    def _check_text(self, kind: Any) -> None:
        if _plain(kind) not in (pa.string(), pa.large_string()):
            raise DataError(f"Column {self.target!r} must hold text where the classes are text.")

    def _labels(self, column: Any) -> FloatVector:
        """Return a column of text as 0 and 1; any other label, and a missing one, is NaN."""
        # A string column may hold bytes that are no text, which only shows when Python reads them.
        return self._recode(text_cells(pc.cast(decoded(column), pa.large_binary())))

    def _names(self, known: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the features."""
        return chosen(known, self.target, self.features)

    @cached_property
    def _kind(self) -> Kind:
        check_readable(self.path)
        kind = KINDS.get(self.path.suffix.lower())
        if kind is None:
            raise DataError(f"The name {str(self.path)!r} must end in .parquet, .csv, .arrow or .feather.")
        return kind

    @cached_property
    def _numbers(self) -> NDArray[np.float64] | None:
        """The classes as numbers, or None where there are none or they are text."""
        try:
            return None if self.classes is None else np.array([float(label) for label in self.classes])
        except ValueError:
            return None

    @cached_property
    def _csv(self) -> CsvFile:
        return CsvFile(self.path, self.delimiter)

    def _parquet(self) -> Any:
        try:
            return pq.ParquetFile(self.path)
        except (pa.ArrowException, OSError):
            raise DataError(f"{str(self.path)!r} is not a Parquet file.") from None


@contextmanager
def read_to_the_end() -> Iterator[None]:
    """Say in one sentence that a file turned out to be broken while it was read."""
    try:
        yield
    except (pa.ArrowException, OSError):
        raise DataError("The data file cannot be read to its end.") from None


def _plain(kind: Any) -> Any:
    """Return the type of the values of a column that may be coded."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind
