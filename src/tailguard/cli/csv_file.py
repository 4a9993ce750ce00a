"""CSV files without type inference: the first line names the columns, and a cell is a number or it is missing.

Guessing types would make the type of a column, and every error about it, depend on the values. Here each cell is
taken as bytes; what is not written as a decimal number is NaN, and the number of rows is the number of lines: no line,
whatever is in it, raises or moves another one.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
from numpy.typing import NDArray

from tailguard._validate import refuse
from tailguard.cli.console import progress
from tailguard.cli.csv_lines import blocks, rows_only
from tailguard.cli.storage import allocate
from tailguard.engines.checks import place
from tailguard.errors import DataError
from tailguard.statistics.arrays import FloatVector

__all__ = ["CsvFile", "text_cells"]

NUMBER = r"^[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*$"
BLOCK_BYTES = 2**24
AUTO, COMMON = "auto", ",;\t|"
"""Delimiters that are looked for in the first line, the usual one first."""

Recode: TypeAlias = Callable[[NDArray[Any]], FloatVector]


class CsvFile:
    """A CSV file whose header was read, and nothing else yet.

    Parameters
    ----------
    path : path
        The file.
    delimiter : str, default="auto"
        One character between cells. "auto" takes the one of comma, semicolon, tab and bar that makes most names of the
        first line; no other line is looked at.
    """

    def __init__(self, path: Path, delimiter: str = AUTO) -> None:
        first = _first_line(path)
        self._start = len(first)
        line = first.decode("utf-8-sig", "replace")
        if delimiter == AUTO:
            delimiter = max(COMMON, key=lambda common: len(_cells(line, common)[0]))
        if len(delimiter) != 1 or delimiter in '"\r\n' or ord(delimiter) > 127:
            raise refuse("delimiter", "a CSV file", "one character other than a quote or a line break", delimiter)
        self._path, self._delimiter = path, delimiter
        self.names = self._header(line)

    def _header(self, line: str) -> tuple[str, ...]:
        cells, closed = _cells(line, self._delimiter)
        names = tuple(cell.strip() for cell in cells)
        if not closed:
            raise DataError(f"The first line of {str(self._path)!r} ends inside quotes.")
        numbers = [name for name in names if re.match(NUMBER, name)]
        # Years and places are names, "34.5" is not: in a file without a first line of names it is somebody's.
        if not any(names) or len(numbers) == len(names) or not all(name.isdigit() for name in numbers):
            raise DataError(f"The first line of {str(self._path)!r} must hold the names of the columns.")
        return names

    def count(self, tell: Callable[[int], None] = lambda _: None) -> int:
        """Return the number of lines below the first; `tell` is called with the bytes of every block."""
        return sum(lines.count(b"\n") for lines in self._blocks(tell))

    def read(
        self, numbers: Sequence[str], labels: tuple[str, Recode] | None = None, *, quiet: bool = True
    ) -> list[FloatVector]:
        """Return columns of numbers; and one more, if labels are asked for by name, with what makes numbers of them."""
        with progress("Reading", 2 * self._path.stat().st_size, quiet) as tell:
            return self._read(numbers, labels, tell)

    def _read(
        self, numbers: Sequence[str], labels: tuple[str, Recode] | None, tell: Callable[[int], None]
    ) -> list[FloatVector]:
        columns = [(place(self.names, name), _numbers) for name in numbers]
        if labels is not None:
            name, recode = labels
            columns.append((place(self.names, name), lambda cells: recode(text_cells(cells))))
        filled, start = allocate(self.count(tell), len(columns)), 0
        for batch in self._batches([index for index, _ in columns], tell):
            stop = start + batch.num_rows
            for column, (_, turn), cells in zip(filled, columns, batch.columns, strict=True):
                column[start:stop] = turn(cells)
            start = stop
        return filled

    def _batches(self, places: Sequence[int], tell: Callable[[int], None]) -> Iterator[Any]:
        """Yield the chosen columns as bytes, batch by batch, without the header."""
        chosen, cells, delimiter = [f"f{place}" for place in places], len(self.names), self._delimiter.encode()
        bytes_only = pv.ConvertOptions(include_columns=chosen, column_types=dict.fromkeys(chosen, pa.binary()))
        form = pv.ParseOptions(delimiter=self._delimiter, ignore_empty_lines=False)
        # A line of our own comes first: what begins a block must not be taken for a byte order mark.
        head = (delimiter * (cells - 1) or b"0") + b"\n"
        for lines in self._blocks(tell):
            rows = rows_only(head + lines, delimiter, cells, BLOCK_BYTES)
            plain = pv.ReadOptions(autogenerate_column_names=True, block_size=rows.size)  # longer than any line of it
            yield pv.read_csv(pa.BufferReader(pa.py_buffer(rows)), plain, form, bytes_only).slice(1)

    def _blocks(self, tell: Callable[[int], None]) -> Iterator[bytes]:
        """Yield the lines below the first, as they are."""
        spoilt = self._delimiter.encode() * len(self.names)  # one cell too many, whatever follows
        try:
            with self._path.open("rb") as file:
                file.seek(self._start)
                for lines in blocks(file, BLOCK_BYTES, spoilt):
                    yield lines
                    tell(BLOCK_BYTES)
        except OSError:
            raise _unreadable(self._path) from None


def _first_line(path: Path) -> bytes:
    """Return the first line with its end, and nothing of any other.

    Lines that end in returns alone are refused: whether a first record begins with a newline would say how a whole file
    is read.
    """
    try:
        with path.open("rb") as file:
            first = file.readline(BLOCK_BYTES)
    except OSError:
        raise _unreadable(path) from None
    if b"\r" in first.removesuffix(b"\r\n"):
        raise DataError(f"The lines of {str(path)!r} must end in newlines, with or without returns before them.")
    return first


def _cells(line: str, delimiter: str) -> tuple[list[str], bool]:
    """Return the cells of a line, and whether its quotes are closed: if not, the reader asks for another line."""
    reader = csv.reader([line, ""], delimiter=delimiter)
    try:
        return next(reader, []), reader.line_num == 1
    except csv.Error:  # a name of more than a hundred thousand characters
        return [], True


def _unreadable(path: Path) -> DataError:
    return DataError(f"{str(path)!r} cannot be read as a CSV file.")


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
