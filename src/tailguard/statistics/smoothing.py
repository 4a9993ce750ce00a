"""The bounded function behind Catoni's estimator: ψ_β(a) = E φ(a + |a|η/√β), η standard normal. Proofs: catoni.md.

φ(x) = x − x³/6 inside ±√2 and ±2√2/3 beyond (Hu et al. 2022, (2)). ψ_β is odd and increasing from 0 to `bound`.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, ndtr

from tailguard.statistics.arrays import FloatVector

__all__ = ["CELLS", "LARGEST_BETA", "SMALLEST_BETA", "bound", "integrated", "table"]

SMALLEST_BETA, LARGEST_BETA = 0.01, 1e4
CELLS = 1024
TOP = 2.0 * math.sqrt(2.0) / 3.0
QUADRATURE = 128
REACH = 13.0
"""Standard deviations beyond which the normal law has less mass than a float could notice."""


def bound(beta: float) -> float:
    """Return sup |ψ_β| = (2√2/3)(2Φ(√β) − 1), rounded down.

    Examples
    --------
    >>> round(bound(1.0), 6)
    0.643646
    """
    # A relative 2⁻⁵⁰ is more than the error of the three factors.
    return float(TOP * erf(math.sqrt(beta / 2.0)) * (1.0 - 2.0**-50))


def integrated(a: FloatVector, beta: float) -> FloatVector:
    """Return ψ_β(a) for positive a by quadrature, to some 14 digits of its own size.

    With the density p of u = 1 + η/√β and φ odd, ψ_β(a) = ∫₀^∞ φ(au)(p(u) − p(−u)) du: every term is positive, so that
    nothing cancels, unlike in the closed form.
    """
    root = math.sqrt(beta)
    kink = math.sqrt(2.0) / a
    low, high = max(0.0, 1.0 - REACH / root), 1.0 + REACH / root
    half = (np.clip(kink, low, high) - low) / 2.0
    nodes, weights = np.polynomial.legendre.leggauss(QUADRATURE)
    u = low + half[:, np.newaxis] * (1.0 + nodes)
    x = np.minimum(a[:, np.newaxis] * u, math.sqrt(2.0))
    density = root / math.sqrt(2.0 * math.pi) * np.exp(-beta * (u - 1.0) ** 2 / 2.0) * -np.expm1(-2.0 * beta * u)
    inside = half * ((x - x**3 / 6.0) * density @ weights)
    far = np.maximum(kink, low)
    return np.asarray(inside + TOP * (ndtr((far + 1.0) * root) - ndtr((far - 1.0) * root)))


@lru_cache(maxsize=32)
def table(beta: float) -> NDArray[np.float64]:
    """Return the coefficients of the quadratics that are ψ_β(a)/t at t = a/(1 + a), cell by cell, as columns.

    In cell k, r = CELLS·t − k: column k gives c₀ + r(c₁ + r·c₂), which meets the function at both ends and in the
    middle; the last column is the value at t = 1. ψ/t runs from 1 to `bound`, so that the product with t keeps its
    relative accuracy down to the smallest a.
    """
    t = np.arange(1, 2 * CELLS + 1) / (2 * CELLS)
    a = t / np.maximum(1.0 - t, 1e-300)
    quotient = np.concatenate([[1.0], integrated(a, beta) / t])
    left, middle, right = quotient[:-2:2], quotient[1::2], quotient[2::2]
    cells = np.stack([left, 4.0 * middle - 3.0 * left - right, 2.0 * (left + right - 2.0 * middle)])
    coefficients = np.column_stack([cells, [quotient[-1], 0.0, 0.0]])
    coefficients.flags.writeable = False
    return coefficients
