"""The loops over records: loss-free, strict in floating point, exact in their sums.

Kernel A (`dots`, `squares`, `dots_and_squares`) measures rows; kernel B (`add_rows` and its coordinatewise
sisters) adds bounded contributions, rounded to the grid. Between them NumPy applies the loss, so that no
kernel knows one. What is proved about them is in kernels.md.

Two facts make every sum exact and every contribution a function of its own record:

- No fast-math and no fused multiply-add: reductions run in eight explicit lanes, so that a row's dot product
  has the same bits on every processor, in every chunk and on every thread.
- A contribution is an integer of at most 2**40, and a kernel sees at most `MAX_ROWS` rows: its float64
  accumulators hold integers of at most 2**53, which float64 adds exactly in any order.
"""

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tailguard._compile import compiled, inlined
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector

__all__ = [
    "LARGEST_SQUARE",
    "MAX_ROWS",
    "SMALLEST_SQUARE",
    "add_clamped",
    "add_gram",
    "add_rows",
    "add_truncated",
    "clip_factors",
    "combined_rows",
    "count_below",
    "dots",
    "dots_and_squares",
    "octave",
    "octave_counts",
    "scaled_entry",
    "scaled_rows",
    "scaling_factors",
    "squares",
    "weight_factors",
]

MAX_ROWS = 2**13
SMALLEST_SQUARE = 1e-280
LARGEST_SQUARE = 1e300
LANES = 8
STEEPEST = 1e300


def _lane_sums_code(_: Any, left: Any, right: Any, groups: Any) -> Any:
    """Return (Σ left·right, Σ left·left) over the first 8·groups entries, in eight lanes added at the end.

    numba leaves scalar accumulators scalar. Vectors of eight doubles, which LLVM splits where a processor has
    shorter ones, give the same bits everywhere and more than twice the speed.
    """
    if left.layout != "C" or right.layout != "C":
        return None  # numba then refuses to compile: the loads below assume neighbours in memory
    signature = types.UniTuple(types.float64, 2)(left, right, groups)  # type: ignore[no-untyped-call]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.DoubleType(), LANES)
        zero = ir.Constant(vector, [0.0] * LANES)
        starts = [
            context.make_array(kind)(context, builder, value).data
            for kind, value in zip(signature.args[:2], arguments[:2], strict=True)
        ]
        sums = [cgutils.alloca_once(builder, vector) for _ in starts]  # type: ignore[no-untyped-call]
        for total in sums:
            builder.store(zero, total)
        with cgutils.for_range(builder, arguments[2]) as loop:
            offset = builder.mul(loop.index, ir.Constant(loop.index.type, LANES))
            x, w = (_load(builder, vector, start, offset) for start in starts)
            for total, factor in zip(sums, (w, x), strict=True):
                builder.store(builder.fadd(builder.load(total), builder.fmul(x, factor)), total)
        lanes = [_pairwise(builder, builder.load(total)) for total in sums]
        return context.make_tuple(builder, signature.return_type, lanes)

    return signature, generate


_lane_sums: Any = intrinsic(_lane_sums_code)


def _load(builder: Any, vector: Any, start: Any, offset: Any) -> Any:
    address = builder.bitcast(builder.gep(start, [offset]), vector.as_pointer())
    value = builder.load(address)
    value.align = 8  # rows of a C-ordered matrix are aligned to one double, not to a vector
    return value


def _pairwise(builder: Any, vector: Any) -> Any:
    parts = [builder.extract_element(vector, ir.Constant(ir.IntType(32), k)) for k in range(LANES)]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [builder.fadd(parts[k], parts[k + half]) for k in range(half)]
    return parts[0]


@inlined
def _row_sums(row: FloatVector, point: FloatVector) -> tuple[float, float]:
    groups = row.size // LANES
    dot = 0.0
    square = 0.0
    for j in range(LANES * groups, row.size):
        dot += row[j] * point[j]
        square += row[j] * row[j]
    lanes = _lane_sums(row, point, groups)
    return dot + lanes[0], square + lanes[1]


@compiled
def dots_and_squares(rows: FloatMatrix, point: FloatVector) -> tuple[FloatVector, FloatVector]:
    """Return ⟨row, point⟩ and ‖row‖² of each row, in one pass."""
    m = rows.shape[0]
    dot = np.empty(m)
    square = np.empty(m)
    for i in range(m):
        dot[i], square[i] = _row_sums(rows[i], point)
    return dot, square


@compiled
def dots(rows: FloatMatrix, point: FloatVector) -> FloatVector:
    """Return ⟨row, point⟩ of each row, with the bits of `dots_and_squares`."""
    dot = np.empty(rows.shape[0])
    for i in range(dot.size):
        dot[i] = _row_sums(rows[i], point)[0]
    return dot


@compiled
def squares(rows: FloatMatrix) -> FloatVector:
    """Return ‖row‖² of each row, with the bits of `dots_and_squares`."""
    square = np.empty(rows.shape[0])
    for i in range(square.size):
        square[i] = _row_sums(rows[i], rows[i])[1]
    return square


@inlined
def scaled_entry(x: float, centre: float, rate: float, limit: float) -> float:
    """Return (x − centre)·rate, shrunk to ±limit, and exactly 0 where the rate is 0."""
    z = (x - centre) * rate
    z = limit if z > limit else (-limit if z < -limit else z)
    return z if rate != 0.0 else 0.0


@compiled
def scaled_rows(x: FloatMatrix, centre: FloatVector, rate: FloatVector, limit: float, intercept: bool) -> FloatMatrix:
    """Return (x − centre)·rate, exactly 0 where the rate is 0, shrunk to ±limit, with a column of ones if asked."""
    m, d = x.shape
    rows = np.empty((m, d + (1 if intercept else 0)))
    for i in range(m):
        for j in range(d):
            rows[i, j] = scaled_entry(x[i, j], centre[j], rate[j], limit)
        if intercept:
            rows[i, d] = 1.0
    return rows


@compiled
def combined_rows(
    x: FloatMatrix, centre: FloatVector, rate: FloatVector, limit: float, basis: FloatMatrix, intercept: bool
) -> FloatMatrix:
    """Return the products of scaled and shrunk rows with the columns of a basis, and a column of ones if asked.

    Products are added column by column of x, so that a row's result depends on nothing but the row.
    """
    m, d = x.shape
    k = basis.shape[1]
    rows = np.zeros((m, k + (1 if intercept else 0)))
    for i in range(m):
        total = rows[i, :k]
        for j in range(d):
            if rate[j] != 0.0:
                z = scaled_entry(x[i, j], centre[j], rate[j], limit)
                for c in range(k):
                    total[c] += z * basis[j, c]
        if intercept:
            rows[i, k] = 1.0
    return rows


@compiled
def clip_factors(slope: FloatVector, square: FloatVector, unit: float, bound: float) -> FloatVector:
    """Return slope/unit, shortened so that its product with the row has at most the norm `bound`."""
    factor = np.zeros(slope.size)
    for i in range(slope.size):
        if abs(slope[i]) < np.inf and SMALLEST_SQUARE <= square[i] <= LARGEST_SQUARE:
            length = min(abs(slope[i]) / unit, bound / np.sqrt(square[i]))
            factor[i] = np.copysign(length, slope[i])
    return factor


@compiled
def weight_factors(slope: FloatVector, square: FloatVector, limit: float, scale: float, bound: float) -> FloatVector:
    """Return clamp(slope, ±limit)/limit · min(scale, bound/‖row‖)."""
    factor = np.zeros(slope.size)
    for i in range(slope.size):
        if abs(slope[i]) < np.inf and SMALLEST_SQUARE <= square[i] <= LARGEST_SQUARE:
            share = max(-1.0, min(1.0, slope[i] / limit))
            factor[i] = share * min(scale, bound / np.sqrt(square[i]))
    return factor


@compiled
def scaling_factors(slope: FloatVector, unit: float) -> FloatVector:
    """Return slope/unit, held inside ±1e300 so that its product with a finite entry is never NaN."""
    factor = np.zeros(slope.size)
    for i in range(slope.size):
        if abs(slope[i]) < np.inf:
            factor[i] = max(-STEEPEST, min(STEEPEST, slope[i] / unit))
    return factor


@compiled
def add_rows(rows: FloatMatrix, factor: FloatVector) -> FloatVector:
    """Return Σ rint(factor·row) over the rows with a factor other than 0."""
    m, d = rows.shape
    total = np.zeros(d)
    for i in range(m):
        c = factor[i]
        if c != 0.0:
            for j in range(d):
                total[j] += np.rint(c * rows[i, j])
    return total


@compiled
def add_clamped(rows: FloatMatrix, factor: FloatVector, limit: float) -> FloatVector:
    """Return Σ rint(clamp(factor·row, ±limit)), entry by entry; one that is not finite adds 0."""
    m, d = rows.shape
    total = np.zeros(d)
    for i in range(m):
        c = factor[i]
        if c != 0.0:
            for j in range(d):
                x = rows[i, j]
                value = np.rint(min(max(c * x, -limit), limit))
                total[j] += value if abs(x) < np.inf else 0.0
    return total


@compiled
def add_truncated(rows: FloatMatrix, factor: FloatVector, limit: float) -> FloatVector:
    """Return Σ rint(factor·row) over the entries with |factor·row| ≤ limit, coordinate by coordinate."""
    m, d = rows.shape
    total = np.zeros(d)
    for i in range(m):
        c = factor[i]
        if c != 0.0:
            for j in range(d):
                value = c * rows[i, j]
                total[j] += np.rint(value) if abs(value) <= limit else 0.0
    return total


@compiled
def count_below(scalars: FloatMatrix, edges: FloatVector) -> FloatVector:
    """Return for each column the number of entries that are at most its edge; NaN is not."""
    m, q = scalars.shape
    total = np.zeros(q)
    if q == 1:  # an integer in a register: the only form of a single column's loop that becomes vector code
        count = 0
        for i in range(m):
            count += 1 if scalars[i, 0] <= edges[0] else 0
        total[0] = count
        return total
    for i in range(m):
        for j in range(q):
            total[j] += 1.0 if scalars[i, j] <= edges[j] else 0.0
    return total


@inlined
def octave(pattern: int, low: int, cells: int, cuts: IntVector) -> int:
    """Return the cell of a magnitude from the bit pattern of its float64, −1 for NaN.

    `cuts` holds the fraction bits of 2**(k/substeps), k = 1 … substeps − 1. The patterns of floats
    from 0 up are ordered like the floats, so no logarithm is taken and no cell depends on one.
    """
    magnitude = pattern & 0x7FFFFFFFFFFFFFFF
    cell = ((magnitude >> 52) - 1023 - low) * (cuts.size + 1)
    for k in range(cuts.size):
        cell += (magnitude & 0xFFFFFFFFFFFFF) >= cuts[k]
    return min(max(cell, 0), cells - 1) if magnitude <= 0x7FF0000000000000 else -1


@compiled
def octave_counts(bits: Any, low: int, cells: int, cuts: IntVector) -> IntVector:
    """Return for each column a histogram of magnitudes, from the bit patterns of its float64 entries."""
    m, q = bits.shape
    total = np.zeros((q, cells), np.int64)
    for i in range(m):
        for j in range(q):
            cell = octave(bits[i, j], low, cells, cuts)
            if cell >= 0:
                total[j, cell] += 1
    return total.ravel()


@compiled
def add_gram(rows: FloatMatrix, factor: FloatVector) -> FloatVector:
    """Return the upper triangle of Σ rint(u uᵀ), u = factor·row, off-diagonal products times √2 first.

    Four rows at a time, because the triangle is larger than the first-level cache: 0.12 ns an entry and row.
    """
    m, d = rows.shape
    total = np.zeros(d * (d + 1) // 2)
    u = np.zeros((4, d))
    for start in range(0, m, 4):
        _fill_four(u, rows, factor, start)
        _add_four(total, u)
    return total


@compiled
def _fill_four(u: FloatMatrix, rows: FloatMatrix, factor: FloatVector, start: int) -> None:
    m, d = rows.shape
    for k in range(4):
        c = factor[start + k] if start + k < m else 0.0
        for j in range(d):
            u[k, j] = c * rows[start + k, j] if c != 0.0 else 0.0


@compiled
def _add_four(total: FloatVector, u: FloatMatrix) -> None:
    root = np.sqrt(2.0)
    first = 0
    for j in range(u.shape[1]):
        p, q, r, s = u[0, j:], u[1, j:], u[2, j:], u[3, j:]
        entries = total[first : first + p.size]  # slices from 0 on, or the loop below stays scalar
        entries[0] += (np.rint(p[0] * p[0]) + np.rint(q[0] * q[0])) + (np.rint(r[0] * r[0]) + np.rint(s[0] * s[0]))
        a, b, c, e = root * p[0], root * q[0], root * r[0], root * s[0]
        for k in range(1, p.size):
            entries[k] += (np.rint(a * p[k]) + np.rint(b * q[k])) + (np.rint(c * r[k]) + np.rint(e * s[k]))
        first += p.size
