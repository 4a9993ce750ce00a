"""Loops over entries that are shrunken or smoothed: strict in floating point, exact in their sums.

They keep the rules of `kernels`: a record's contribution is a function of that record alone, and an integer.
"""

import numpy as np
from numpy.typing import NDArray

from tailguard._compile import compiled
from tailguard.statistics.arrays import FloatMatrix, FloatVector
from tailguard.statistics.kernels import STEEPEST

__all__ = ["add_shrunken", "add_smoothed", "locate", "look_up", "shares"]


@compiled
def shares(slope: FloatVector, limit: float) -> FloatVector:
    """Return clamp(slope/limit, ±1), and 0 for a slope that is not finite."""
    share = np.zeros(slope.size)
    for i in range(slope.size):
        if abs(slope[i]) < np.inf:
            share[i] = max(-1.0, min(1.0, slope[i] / limit))
    return share


@compiled
def add_shrunken(rows: FloatMatrix, share: FloatVector, rate: float, limit: float) -> FloatVector:
    """Return Σ rint(share·clamp(rate·row, ±limit)), entry by entry; one that is not finite adds 0."""
    m, d = rows.shape
    total = np.zeros(d)
    for i in range(m):
        c = share[i]
        if c != 0.0:
            for j in range(d):
                x = rows[i, j]
                value = np.rint(c * min(max(rate * x, -limit), limit))
                total[j] += value if abs(x) < np.inf else 0.0
    return total


@compiled
def add_smoothed(rows: FloatMatrix, factor: FloatVector, table: FloatMatrix, scale: float, limit: float) -> FloatVector:
    """Return Σ rint(clamp(scale·ψ(factor·row), ±limit)) with ψ from `smoothing.table`; entries not finite add 0.

    Three passes over a row, because only the middle one, which reads the table, has to be done entry by entry: 1.3 ns
    an entry, 2.1 in one pass.
    """
    m, d = rows.shape
    total = np.zeros(d)
    place, rest, quotient = np.empty(d), np.empty(d), np.empty(d)
    cell = np.empty(d, np.uint64)  # unsigned: no index counts from the end
    for i in range(m):
        if factor[i] != 0.0:
            locate(rows[i], factor[i], table.shape[1] - 1, place, rest, cell)
            look_up(table, rest, cell, quotient)
            for j in range(d):
                total[j] += np.rint(min(max(place[j] * quotient[j] * scale, -limit), limit))
    return total


@compiled
def locate(
    row: FloatVector, factor: float, cells: int, place: FloatVector, rest: FloatVector, cell: NDArray[np.uint64]
) -> None:
    """Find ±t, t = |a|/(1 + |a|) for each a = factor·entry, its cell of the table and where in the cell it lies."""
    for j in range(row.size):
        a = factor * (row[j] if abs(row[j]) < np.inf else 0.0)
        size = min(abs(a), STEEPEST)  # an infinite one would be nowhere
        t = size / (1.0 + size)
        k = np.int64(t * cells)
        place[j] = np.copysign(t, a)
        rest[j] = t * cells - k
        cell[j] = k


@compiled
def look_up(table: FloatMatrix, rest: FloatVector, cell: NDArray[np.uint64], quotient: FloatVector) -> None:
    """Find ψ(a)/t by the parabola of the cell."""
    for j in range(rest.size):
        k, r = cell[j], rest[j]
        quotient[j] = table[0, k] + r * (table[1, k] + r * table[2, k])
