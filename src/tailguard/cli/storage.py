"""Where the columns of a text file are kept while they are needed: in memory, or beyond it in a file without a name."""

import os
import tempfile

import numpy as np

from tailguard.errors import DataError
from tailguard.statistics.arrays import FloatVector

__all__ = ["allocate"]

MEMORY_BYTES = 2**29
"""Columns that need more than this are mapped from a temporary file."""


def allocate(rows: int, count: int) -> list[FloatVector]:
    """Return columns to be filled.

    The temporary file lies where `TMPDIR` says, has no name that another user could open (on POSIX systems), and goes
    with the process.
    """
    if 8 * rows * count <= MEMORY_BYTES or not rows:
        return [np.empty(rows) for _ in range(count)]
    try:
        with tempfile.TemporaryFile(prefix="tailguard-") as file:
            if hasattr(os, "posix_fallocate"):  # a full disk must fail here, and not when a page is written
                os.posix_fallocate(file.fileno(), 0, 8 * rows * count)
            table = np.memmap(file, dtype=np.float64, mode="w+", shape=(count, rows))
    except OSError:
        raise DataError(f"There is no room for {count} columns of {rows} rows in the temporary folder.") from None
    return list(table)
