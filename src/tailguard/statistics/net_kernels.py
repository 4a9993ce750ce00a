"""Loops over records and the points of a net; what is proved about them is what kernels.md proves about its own."""

import numpy as np

from tailguard._compile import compiled
from tailguard.statistics.arrays import FloatMatrix, FloatVector
from tailguard.statistics.kernels import LARGEST_SQUARE, SMALLEST_SQUARE

__all__ = ["add_clipped", "products"]


@compiled
def products(rows: FloatMatrix, points: FloatMatrix) -> FloatMatrix:
    """Return ⟨row, point⟩ of every pair, added in the order of the columns: bits that depend on row and point alone."""
    m, k = rows.shape
    total = np.zeros((m, points.shape[0]))
    for i in range(m):
        for j in range(points.shape[0]):
            for c in range(k):
                total[i, j] += rows[i, c] * points[j, c]
    return total


@compiled
def add_clipped(rows: FloatMatrix, squares: FloatVector, slopes: FloatMatrix, unit: float, bound: float) -> FloatMatrix:
    """Return for every point Σ rint(f·row), f = slope/unit shortened so that f·row has at most the norm `bound`.

    The arithmetic of `clip_factors` and `add_rows`, for a column of slopes at each point.
    """
    m, k = rows.shape
    total = np.zeros((slopes.shape[1], k))
    for i in range(m):
        if SMALLEST_SQUARE <= squares[i] <= LARGEST_SQUARE:
            limit = bound / np.sqrt(squares[i])
            for j in range(slopes.shape[1]):
                slope = slopes[i, j]
                if abs(slope) < np.inf:
                    factor = np.copysign(min(abs(slope) / unit, limit), slope)
                    for c in range(k):
                        total[j, c] += np.rint(factor * rows[i, c])
    return total
