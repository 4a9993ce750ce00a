"""The loops of `kernels` and `coordinate_kernels` over the stored entries of sparse rows alone, with the same results.

An entry that is not stored is 0. It adds ±0 to sums that began at +0, which leaves every bit of them as it is, so
skipping it changes nothing; what is stored is added in the order of the dense loops (kernels.md, Lemma 6).
"""

from typing import Any

import numpy as np

from tailguard._compile import compiled, inlined
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector
from tailguard.statistics.coordinate_kernels import locate, look_up
from tailguard.statistics.kernels import LANES, octave

__all__ = [
    "add_clamped",
    "add_rows",
    "add_shrunken",
    "add_smoothed",
    "add_truncated",
    "count_below",
    "dots",
    "dots_and_squares",
    "largest",
    "octave_counts",
    "squares",
]


@inlined
def _total(lanes: FloatVector) -> Any:
    """Return the remainder, which is kept last, plus the eight lanes pairwise: the order of the dense loops."""
    even = (lanes[0] + lanes[4]) + (lanes[2] + lanes[6])
    odd = (lanes[1] + lanes[5]) + (lanes[3] + lanes[7])
    return lanes[8] + (even + odd)


@compiled
def dots(indptr: IntVector, indices: Any, data: FloatVector, dimension: int, point: FloatVector) -> FloatVector:
    """Return ⟨row, point⟩ of each row."""
    whole = LANES * (dimension // LANES)
    dot = np.empty(indptr.size - 1)
    lanes = np.empty(LANES + 1)
    for i in range(dot.size):
        lanes[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            lanes[j & (LANES - 1) if j < whole else LANES] += data[k] * point[j]
        dot[i] = _total(lanes)
    return dot


@compiled
def squares(indptr: IntVector, indices: Any, data: FloatVector, dimension: int) -> FloatVector:
    """Return ‖row‖² of each row."""
    whole = LANES * (dimension // LANES)
    square = np.empty(indptr.size - 1)
    lanes = np.empty(LANES + 1)
    for i in range(square.size):
        lanes[:] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            lanes[j & (LANES - 1) if j < whole else LANES] += data[k] * data[k]
        square[i] = _total(lanes)
    return square


@compiled
def dots_and_squares(
    indptr: IntVector, indices: Any, data: FloatVector, dimension: int, point: FloatVector
) -> tuple[FloatVector, FloatVector]:
    """Return ⟨row, point⟩ and ‖row‖² of each row."""
    return dots(indptr, indices, data, dimension, point), squares(indptr, indices, data, dimension)


@compiled
def largest(indptr: IntVector, indices: Any, data: FloatVector, dimension: int) -> FloatVector:  # noqa: ARG001
    """Return max |row_j| of each row, NaN where an entry is."""
    top = np.zeros(indptr.size - 1)
    for i in range(top.size):
        for k in range(indptr[i], indptr[i + 1]):
            size = abs(data[k])
            if not size <= top[i] and not np.isnan(top[i]):
                top[i] = size
    return top


@compiled
def add_rows(indptr: IntVector, indices: Any, data: FloatVector, dimension: int, factor: FloatVector) -> FloatVector:
    """Return Σ rint(factor·row) over the rows with a factor other than 0."""
    total = np.zeros(dimension)
    for i in range(indptr.size - 1):
        c = factor[i]
        if c != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                total[indices[k]] += np.rint(c * data[k])
    return total


@compiled
def add_clamped(
    indptr: IntVector, indices: Any, data: FloatVector, dimension: int, factor: FloatVector, limit: float
) -> FloatVector:
    """Return Σ rint(clamp(factor·row, ±limit)), entry by entry; one that is not finite adds 0."""
    total = np.zeros(dimension)
    for i in range(indptr.size - 1):
        c = factor[i]
        if c != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                x = data[k]
                value = np.rint(min(max(c * x, -limit), limit))
                total[indices[k]] += value if abs(x) < np.inf else 0.0
    return total


@compiled
def add_truncated(
    indptr: IntVector, indices: Any, data: FloatVector, dimension: int, factor: FloatVector, limit: float
) -> FloatVector:
    """Return Σ rint(factor·row) over the entries with |factor·row| ≤ limit, coordinate by coordinate."""
    total = np.zeros(dimension)
    for i in range(indptr.size - 1):
        c = factor[i]
        if c != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                value = c * data[k]
                total[indices[k]] += np.rint(value) if abs(value) <= limit else 0.0
    return total


@compiled
def add_shrunken(
    indptr: IntVector, indices: Any, data: FloatVector, dimension: int, share: FloatVector, rate: float, limit: float
) -> FloatVector:
    """Return Σ rint(share·clamp(rate·row, ±limit)), entry by entry; one that is not finite adds 0."""
    total = np.zeros(dimension)
    for i in range(indptr.size - 1):
        c = share[i]
        if c != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                x = data[k]
                value = np.rint(c * min(max(rate * x, -limit), limit))
                total[indices[k]] += value if abs(x) < np.inf else 0.0
    return total


@compiled
def add_smoothed(
    indptr: IntVector,
    indices: Any,
    data: FloatVector,
    dimension: int,
    factor: FloatVector,
    table: FloatMatrix,
    scale: float,
    limit: float,
) -> FloatVector:
    """Return Σ rint(clamp(scale·ψ(factor·row), ±limit)) with ψ from `smoothing.table`; entries not finite add 0."""
    total = np.zeros(dimension)
    longest = 0
    for i in range(indptr.size - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    place, rest, quotient = np.empty(longest), np.empty(longest), np.empty(longest)
    cell = np.empty(longest, np.uint64)
    for i in range(indptr.size - 1):
        if factor[i] != 0.0:
            entries = data[indptr[i] : indptr[i + 1]]
            locate(entries, factor[i], table.shape[1] - 1, place, rest, cell)
            look_up(table, rest[: entries.size], cell, quotient)
            for k in range(entries.size):
                total[indices[indptr[i] + k]] += np.rint(min(max(place[k] * quotient[k] * scale, -limit), limit))
    return total


@compiled
def count_below(indptr: IntVector, indices: Any, data: FloatVector, dimension: int, edges: FloatVector) -> FloatVector:
    """Return for each column the number of entries at most its edge: all as if 0, then the stored set right."""
    m = indptr.size - 1
    total = np.zeros(dimension)
    for j in range(dimension):
        total[j] = m if edges[j] >= 0.0 else 0.0
    for k in range(indptr[0], indptr[m]):
        j = indices[k]
        total[j] += (1.0 if data[k] <= edges[j] else 0.0) - (1.0 if edges[j] >= 0.0 else 0.0)
    return total


@compiled
def octave_counts(
    indptr: IntVector, indices: Any, data: FloatVector, dimension: int, low: int, cells: int, cuts: IntVector
) -> IntVector:
    """Return for each column a histogram of magnitudes: all in the first cell, as 0 is, then the stored set right."""
    m = indptr.size - 1
    bits = data.view(np.int64)
    total = np.zeros((dimension, cells), np.int64)
    for j in range(dimension):
        total[j, 0] = m
    for k in range(indptr[0], indptr[m]):
        j = indices[k]
        cell = octave(bits[k], low, cells, cuts)
        total[j, 0] -= 1
        if cell >= 0:
            total[j, cell] += 1
    return total.ravel()
