"""Sparse matrices row by row: what one row's entries are, and in which order they are stored, is its own affair.

SciPy adds entries that are given twice only after it has looked at all rows together: if a single one is not sorted,
all are sorted anew, by a sort that changes the order of entries with the same place. Sums depend on the order. So one
record could change the numbers of all others, by as much as 1e300 and −1e300 cancel in one order and not in another.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.errors import DataError
from tailguard.statistics import sparse_layout
from tailguard.statistics.arrays import IntVector
from tailguard.statistics.sparse_rows import Indices

__all__ = ["canonical"]

Arrays = tuple[IntVector, Indices, NDArray[Any]]

OUTSIDE = "X must be a sparse matrix whose indices lie within its shape."


def canonical(X: Any) -> Arrays:
    """Return offsets, columns and entries of a sparse matrix by rows, with strictly ascending columns in each row.

    Entries that are given twice are added as float64 numbers, in the order in which they are stored; of booleans it
    is whether there is any. Without such, entries keep their type. Kernels and sensitivities rely on the layout, so it
    is looked up: SciPy's own flag may be older than the arrays.

    Parameters
    ----------
    X : sparse matrix or array
        Of any format, two-dimensional; never changed.

    Raises
    ------
    DataError
        If an index lies outside.
    """
    indptr, indices, data = _by_rows(X)
    inside, ascending = sparse_layout.structure(indptr, indices, X.shape[1])
    if not inside or indptr.size != X.shape[0] + 1 or data.size < indptr[-1]:
        raise DataError(OUTSIDE)
    return (indptr, indices, data) if ascending else _added(indptr, indices, data)


def _by_rows(X: Any) -> Arrays:
    """Return offsets, columns and entries by rows; in each row as they are stored."""
    if X.format not in ("coo", "bsr"):  # which SciPy would add up on the way
        rows = X.tocsr()
        indptr, indices = np.array(rows.indptr, dtype=np.int64), np.ascontiguousarray(rows.indices).view()
        indptr.flags.writeable = indices.flags.writeable = False
        return indptr, indices, np.asarray(rows.data)
    entries = X.tocoo(copy=False)
    row = np.asarray(entries.row, dtype=np.int64)
    if row.size and not 0 <= row.min() <= row.max() < X.shape[0]:
        raise DataError(OUTSIDE)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(row, minlength=X.shape[0]))])
    order = np.argsort(row, kind="stable")
    return indptr, np.ascontiguousarray(entries.col)[order], np.asarray(entries.data)[order]


def _added(indptr: IntVector, indices: Indices, data: NDArray[Any]) -> Arrays:
    """Return rows whose columns ascend, with entries of the same place added."""
    row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    columns, entries = indices[indptr[0] : indptr[-1]], data[indptr[0] : indptr[-1]]
    order = np.lexsort((columns, row))  # a stable sort
    row, columns = row[order], columns[order]
    first = np.ones(row.size, bool)
    first[1:] = (np.diff(row) != 0) | (columns[1:] != columns[:-1])
    with np.errstate(all="ignore"):  # a warning would tell of an entry
        numbers = entries.astype(np.float64)[order]
        sums = numbers[first]
        np.add.at(sums, np.cumsum(first)[~first] - 1, numbers[~first])
    sums = np.minimum(sums, 1.0) if entries.dtype == np.bool_ else sums
    counts = np.bincount(row[first], minlength=indptr.size - 1)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]), columns[first], sums
