"""How sparse rows are checked, scaled, combined and made dense."""

from typing import Any

import numpy as np

from tailguard._compile import compiled
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector
from tailguard.statistics.kernels import scaled_entry

__all__ = ["combined", "dense", "picked", "scaled", "structure"]


@compiled
def scaled(
    indptr: IntVector,
    indices: Any,
    data: FloatVector,
    dimension: int,
    centre: FloatVector,
    rate: FloatVector,
    limit: float,
    intercept: bool,
) -> tuple[IntVector, Any, FloatVector]:
    """Return offsets, columns and values of the scaled and shrunk entries, and of a last column of ones if asked."""
    m = indptr.size - 1
    ones = 1 if intercept else 0
    starts = np.zeros(m + 1, np.int64)
    columns = np.empty(indptr[m] - indptr[0] + ones * m, indices.dtype)
    values = np.empty(columns.size)
    place = 0
    for i in range(m):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            columns[place] = j
            values[place] = scaled_entry(data[k], centre[j], rate[j], limit)
            place += 1
        if intercept:
            columns[place] = dimension
            values[place] = 1.0
            place += 1
        starts[i + 1] = place
    return starts, columns, values


@compiled
def combined(
    indptr: IntVector,
    indices: Any,
    data: FloatVector,
    dimension: int,  # noqa: ARG001
    centre: FloatVector,
    rate: FloatVector,
    limit: float,
    basis: FloatMatrix,
    intercept: bool,
) -> FloatMatrix:
    """Return the products of scaled and shrunk rows with the columns of a basis, and a column of ones if asked."""
    k_out = basis.shape[1]
    rows = np.zeros((indptr.size - 1, k_out + (1 if intercept else 0)))
    for i in range(rows.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if rate[j] != 0.0:
                z = scaled_entry(data[k], centre[j], rate[j], limit)
                for c in range(k_out):
                    rows[i, c] += z * basis[j, c]
        if intercept:
            rows[i, k_out] = 1.0
    return rows


@compiled
def dense(indptr: IntVector, indices: Any, data: FloatVector, dimension: int) -> FloatMatrix:
    """Return the rows with their zeros."""
    rows = np.zeros((indptr.size - 1, dimension))
    for i in range(rows.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            rows[i, indices[k]] = data[k]
    return rows


@compiled
def picked(
    indptr: IntVector,
    indices: Any,
    data: FloatVector,
    dimension: int,  # noqa: ARG001
    columns: IntVector,
    order: IntVector,
) -> FloatMatrix:
    """Return some columns with their zeros; `columns` ascends, and its entry c goes to column order[c]."""
    rows = np.zeros((indptr.size - 1, columns.size))
    for i in range(rows.shape[0]):
        k, stop = indptr[i], indptr[i + 1]
        for c in range(columns.size):
            while k < stop and indices[k] < columns[c]:
                k += 1
            if k < stop and indices[k] == columns[c]:
                rows[i, order[c]] = data[k]
    return rows


@compiled
def structure(indptr: IntVector, indices: Any, dimension: int) -> tuple[bool, bool]:
    """Return whether offsets and columns are inside their arrays, and whether columns ascend strictly in each row."""
    inside = indptr[0] >= 0 and indptr[-1] <= indices.size
    ascending = True
    for i in range(indptr.size - 1):
        inside = inside and indptr[i] <= indptr[i + 1] <= indices.size
        for k in range(indptr[i], indptr[i + 1] if inside else indptr[i]):
            inside = inside and 0 <= indices[k] < dimension
            ascending = ascending and (k == indptr[i] or indices[k - 1] < indices[k])
    return inside, ascending
