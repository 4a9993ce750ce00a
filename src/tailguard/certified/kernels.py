"""Two loops over records: rows brought to unit length, and predictions in twice the working precision.

No fast-math and no fused multiply-add, so a row's numbers have the same bits wherever the row stands, and
the error-free sums and products below are error-free. What is proved about them is in minimise.md.
"""

import numpy as np
from numpy.typing import NDArray

from tailguard._compile import compiled, inlined

__all__ = ["LARGEST", "SMALLEST", "exact_predictions", "unit_rows"]

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]

LARGEST = 1e100  # a longer row, or a target beyond it, counts as not finite
SMALLEST = 1e-100  # a shorter row counts as zero
SPLITTER = 134217729.0  # 2²⁷ + 1, Dekker's constant


@compiled
def unit_rows(rows: FloatMatrix) -> tuple[FloatMatrix, FloatVector]:
    """Return x/‖x‖ and ‖x‖ of each row x, divided by a little more so that no quotient is longer than 1.

    A row that is not finite or longer than `LARGEST`, and one shorter than `SMALLEST`, gives zeros.
    """
    m, d = rows.shape
    units = np.zeros((m, d))
    norms = np.zeros(m)
    slack = 1.0 + (d + 8) * 2.0**-52
    for i in range(m):
        square = 0.0
        for j in range(d):
            square += rows[i, j] * rows[i, j]
        norm = np.sqrt(square) * slack
        if SMALLEST <= norm <= LARGEST:
            norms[i] = norm
            for j in range(d):
                units[i, j] = rows[i, j] / norm
    return units, norms


@inlined
def _two_sum(a: float, b: float) -> tuple[float, float]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inlined
def _two_product(a: float, b: float) -> tuple[float, float]:
    product = a * b
    shifted = SPLITTER * a
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    shifted = SPLITTER * b
    b_high = shifted - (shifted - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


@compiled
def exact_predictions(units: FloatMatrix, norms: FloatVector, offsets: FloatVector, point: FloatVector) -> FloatVector:
    """Return norm·⟨unit, point⟩ − offset of each record, as if computed in twice the precision and rounded."""
    m, d = units.shape
    result = np.empty(m)
    for i in range(m):
        high = 0.0
        low = 0.0
        for j in range(d):
            product, error = _two_product(units[i, j], point[j])
            high, carry = _two_sum(high, product)
            low += error + carry
        product, error = _two_product(high, norms[i])
        total, carry = _two_sum(product, -offsets[i])
        result[i] = total + (carry + (error + low * norms[i]))
    return result
