"""The lines of a CSV file, each of them one row whatever it holds.

A reader of CSV lets quotes reach over the ends of lines, and fails on a line with too many cells: one record could
swallow others, or stop the whole run. Here a line is a record, quotes end with it at the latest, and a line without the
right number of cells becomes one without values, before any reader sees it.
"""

from collections.abc import Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tailguard._compile import compiled

__all__ = ["blocks", "rows_only"]

QUOTE, CARRIAGE_RETURN, NEWLINE = 0x22, 0x0D, 0x0A
START, PLAIN, QUOTED, CLOSED = range(4)


def blocks(file: IO[bytes], size: int, spoilt: bytes) -> Iterator[bytes]:
    """Yield whole lines, about `size` bytes at once; the beginning of a longer one may be replaced by `spoilt`."""
    rest = b""
    while block := file.read(size):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            rest = b""
        rest += block[cut:]
        rest = spoilt if len(rest) > size else rest
    if rest:
        yield rest + b"\n"


def rows_only(lines: bytes, delimiter: bytes, cells: int, longest: int) -> NDArray[np.uint8]:
    """Return lines that every reader takes for one row of `cells` cells each.

    Parameters
    ----------
    lines : bytes
        Whole lines.
    delimiter : bytes
        One byte.
    cells, longest : int
        A line with another number of cells, of more bytes, or inside quotes at its end becomes a row of empty cells.
    """
    text = np.frombuffer(lines, np.uint8)
    blank = ord("\t" if delimiter == b" " else " ")
    room = text.size + (cells + 1) * lines.count(b"\n")
    written = _rows_only(text, np.empty(room, np.uint8), delimiter[0], blank, cells, longest)
    return np.asarray(written)


@compiled
def _rows_only(text: Any, out: Any, delimiter: int, blank: int, cells: int, longest: int) -> Any:
    state, found, start, w = START, 1, 0, 0
    for c in text:
        if c == NEWLINE:
            if state == QUOTED or found != cells or not start < w <= start + longest:
                out[start] = blank
                out[start + 1 : start + cells] = delimiter
                w = start + cells
            out[w] = NEWLINE
            w += 1
            state, found, start = START, 1, w
            continue
        if c == QUOTE:
            # Inside quotes one closes them, unless another one follows: two of them are one that is meant.
            state = QUOTED if state in (START, CLOSED) else CLOSED if state == QUOTED else PLAIN
        elif c == delimiter and state != QUOTED:
            found += 1
            state = START
        elif state != QUOTED:
            state = PLAIN
        out[w] = blank if c == CARRIAGE_RETURN else c
        w += 1
    return out[:w]
