"""Plain NumPy twins of the kernels: the same operations in the same order, so that results are equal to the bit."""

from fractions import Fraction

import numpy as np

from tailguard.statistics.kernels import LANES, LARGEST_SQUARE, SMALLEST_SQUARE, STEEPEST


def dots(rows, point):
    """⟨row, point⟩ in eight lanes, pairwise, then the remainder."""
    whole = LANES * (rows.shape[1] // LANES)
    lanes = np.zeros((len(rows), LANES))
    for j in range(0, whole, LANES):
        lanes = lanes + rows[:, j : j + LANES] * point[..., j : j + LANES]
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    rest = np.zeros(len(rows))
    for j in range(whole, rows.shape[1]):
        rest = rest + rows[:, j] * point[..., j]
    return rest + lanes[:, 0]


def squares(rows):
    """‖row‖² in the same order."""
    return dots(rows, rows)


def scaled_rows(x, centre, rate, intercept):
    """(x − centre)·rate, 0 where the rate is 0, and a column of ones."""
    rows = np.where(rate == 0.0, 0.0, (x - centre) * rate)
    return np.column_stack([rows, np.ones(len(x))]) if intercept else rows


def _safe(slope, square):
    return np.isfinite(slope) & (square >= SMALLEST_SQUARE) & (square <= LARGEST_SQUARE)


def clip_factors(slope, square, unit, bound):
    """The multiplier of each row of a clipped sum."""
    length = np.minimum(np.abs(slope) / unit, bound / np.sqrt(square))
    return np.where(_safe(slope, square), np.copysign(length, slope), 0.0)


def weight_factors(slope, square, limit, scale, bound):
    """The multiplier of each row of a weighted sum."""
    share = np.clip(slope / limit, -1.0, 1.0)
    return np.where(_safe(slope, square), share * np.minimum(scale, bound / np.sqrt(square)), 0.0)


def scaling_factors(slope, unit):
    """The multiplier of each row of a coordinatewise sum."""
    return np.where(np.isfinite(slope), np.clip(slope / unit, -STEEPEST, STEEPEST), 0.0)


def _add(contributions):
    return np.rint(contributions).sum(axis=0)


def add_rows(rows, factor):
    """Σ rint(factor·row)."""
    used = factor != 0.0
    return _add(factor[used, np.newaxis] * rows[used])


def add_clamped(rows, factor, limit):
    """Σ rint(clamp(factor·row))."""
    used = (factor != 0.0)[:, np.newaxis] & np.isfinite(rows)
    return _add(np.where(used, np.clip(factor[:, np.newaxis] * rows, -limit, limit), 0.0))


def add_truncated(rows, factor, limit):
    """Σ rint(factor·row) where it is at most the limit."""
    products = factor[:, np.newaxis] * rows
    used = (factor != 0.0)[:, np.newaxis] & (np.abs(products) <= limit)
    return _add(np.where(used, products, 0.0))


def count_below(scalars, edges):
    """Number of entries at most the edge, column by column."""
    return (scalars <= edges).sum(axis=0).astype(float)


def octave_counts(scalars, low, cells, substeps):
    """Histogram of magnitudes, cell by cell in rational arithmetic."""
    total = np.zeros((scalars.shape[1], cells), np.int64)
    for j, column in enumerate(scalars.T):
        for value in np.abs(column[~np.isnan(column)]):
            total[j, min(max(_cell(value, low, substeps), 0), cells - 1)] += 1
    return total.ravel()


def _cell(value, low, substeps):
    if value == 0.0:
        return -1
    if np.isinf(value):
        return 10**9
    fraction, exponent = np.frexp(value)
    power = (2 * Fraction(float(fraction))) ** substeps
    inside = sum(power >= 2**k for k in range(1, substeps))
    return (int(exponent) - 1 - low) * substeps + inside


def add_gram(rows, factor):
    """Upper triangle of Σ rint(u uᵀ), off-diagonal products times √2 first."""
    used = factor != 0.0
    u = factor[used, np.newaxis] * rows[used]
    above, right = np.triu_indices(rows.shape[1])
    left = np.where(above == right, 1.0, np.sqrt(2.0)) * u[:, above]
    return _add(left * u[:, right])


def shares(slope, limit):
    """clamp(slope/limit, ±1)."""
    return np.where(np.isfinite(slope), np.clip(slope / limit, -1.0, 1.0), 0.0)


def add_shrunken(rows, share, rate, limit):
    """Σ rint(share·clamp(rate·row))."""
    used = (share != 0.0)[:, np.newaxis] & np.isfinite(rows)
    return _add(np.where(used, share[:, np.newaxis] * np.clip(rate * rows, -limit, limit), 0.0))


def add_smoothed(rows, factor, table, scale, limit):
    """Σ rint(clamp(scale·ψ(factor·row))) with ψ from a table."""
    a = factor[:, np.newaxis] * np.where(np.isfinite(rows), rows, 0.0)
    size = np.minimum(np.abs(a), STEEPEST)
    t = size / (1.0 + size)
    position = t * (table.shape[1] - 1)
    cell = np.floor(position).astype(np.int64)
    rest = position - cell
    quotient = table[0, cell] + rest * (table[1, cell] + rest * table[2, cell])
    return _add(np.clip(np.copysign(t, a) * quotient * scale, -limit, limit))
