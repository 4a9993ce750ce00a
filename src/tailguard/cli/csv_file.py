"""CSV files without type inference: the first line names the columns, and a cell is a number or it is missing.

Guessing types would make the type of a column, and every error about it, depend on the values. Here each cell is
taken as bytes; what is not written as a decimal number is NaN, and the number of rows is the number of lines.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
from numpy.typing import NDArray

from tailguard._validate import refuse
from tailguard.errors import DataError
from tailguard.statistics.arrays import FloatVector

__all__ = ["CsvFile", "text_cells"]

NUMBER = r"^[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*$"
BLOCK_BYTES = 2**24


class CsvFile:
    """A CSV file whose header was read, and nothing else yet.

    Parameters
    ----------
    path : path
        The file.
    delimiter : str
        One character between cells.
    """

    def __init__(self, path: Path, delimiter: str) -> None:
        if len(delimiter) != 1 or delimiter in '"\r\n' or ord(delimiter) > 127:
            raise refuse("delimiter", "a CSV file", "one character other than a quote or a line break", delimiter)
        self._path, self._delimiter = path, delimiter
        self.names = self._header()

    def _header(self) -> tuple[str, ...]:
        try:
            with self._path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
                cells = next(csv.reader(file, delimiter=self._delimiter), [])
        except (OSError, csv.Error):
            raise self._unreadable() from None
        names = tuple(cell.strip() for cell in cells)
        if not any(names) or all(re.match(NUMBER, name) for name in names):
            raise DataError(f"The first line of {str(self._path)!r} must hold the names of the columns.")
        return names

    def count(self) -> int:
        """Return the number of rows; no cell is interpreted."""
        return sum(batch.num_rows for batch in self._batches([0]))

    def read(self, numbers: Sequence[str], text: str | None = None) -> tuple[list[FloatVector], NDArray[Any] | None]:
        """Return columns of numbers, and one more column as text where it is asked for."""
        wanted = [*numbers, *([] if text is None else [text])]
        parts: list[list[NDArray[Any]]] = [[] for _ in wanted]
        for batch in self._batches([self._place(name) for name in wanted]):
            for k, cells in enumerate(batch.columns):
                parts[k].append(_numbers(cells) if k < len(numbers) else text_cells(cells))
        columns = [np.concatenate(part) if part else np.empty(0) for part in parts]
        return columns[: len(numbers)], None if text is None else columns[-1]

    def _place(self, name: str) -> int:
        found = self.names.count(name)
        if found != 1:
            raise DataError(f"There must be exactly one column {name!r}, not {found}.")
        return self.names.index(name)

    def _batches(self, places: Sequence[int]) -> Iterator[Any]:
        """Yield the chosen columns as bytes, batch by batch, without the header."""
        chosen = [f"f{place}" for place in places]
        bytes_only = pv.ConvertOptions(include_columns=chosen, column_types=dict.fromkeys(chosen, pa.binary()))
        # An empty line is a row without values: how many rows there are must not depend on their content.
        lines = pv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True, ignore_empty_lines=False)
        plain = pv.ReadOptions(autogenerate_column_names=True, block_size=BLOCK_BYTES)
        header = 1
        try:
            for batch in pv.open_csv(self._path, plain, lines, bytes_only):
                yield batch.slice(header)
                header = 0
        except (pa.ArrowException, OSError) as error:
            raise self._explain(str(error)) from None  # Arrow quotes the row

    def _explain(self, text: str) -> DataError:
        path, ragged = str(self._path), re.search(r"Expected (\d+) columns, got (\d+)", text)
        if ragged:
            return DataError(f"A row of {path!r} has {ragged[2]} cells where the first line has {ragged[1]}.")
        return DataError(f"{path!r} has no rows.") if "Empty CSV" in text else self._unreadable()

    def _unreadable(self) -> DataError:
        return DataError(f"{str(self._path)!r} cannot be read as a CSV file.")


def _numbers(cells: Any) -> FloatVector:
    """Return cells as float64, NaN where a cell is not a decimal number."""
    written = pc.if_else(pc.match_substring_regex(cells, NUMBER), cells, pa.scalar(None, pa.binary()))
    numbers = pc.cast(pc.ascii_trim_whitespace(pc.cast(written, pa.string())), pa.float64())
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def text_cells(cells: Any) -> NDArray[Any]:
    """Return cells as text without spaces around it; what is no text becomes replacement characters.

    As Python objects: in an array of fixed width a single long cell would multiply the memory of all, until it fails.
    """
    return np.array([(cell or b"").decode("utf-8", "replace").strip() for cell in cells.to_pylist()], dtype=object)
