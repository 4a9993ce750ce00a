"""The loop of shrunken sums: strict in floating point and exact in its sum, as all kernels are (kernels.md)."""

import numpy as np

from tailguard.statistics.arrays import FloatMatrix, FloatVector
from tailguard.statistics.kernels import compiled

__all__ = ["add_shrunken", "shares"]


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
