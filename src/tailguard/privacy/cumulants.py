"""Cumulants of the privacy loss: bounds K(h) ≥ ln E[exp(h·L)], L = ln(P/Q) under P, which add up under composition.

K(h) = h·D_{1+h}, Rényi's divergence of order 1 + h. Each function returns the pair (K(h), K'(h)) for one kind of event;
the proofs are in the note of the same name.
"""

import math
from typing import TypeAlias

__all__ = ["Cumulant", "concentrated", "pure", "selection", "selection_pair"]

Cumulant: TypeAlias = tuple[float, float]
"""K(h) and its derivative K'(h)."""

_SMALL = 0.1  # below, four terms of a power series are exact to 1e-13


def concentrated(rho: float, h: float) -> Cumulant:
    """ρ-zCDP: K(h) = ρ·h·(1 + h) by definition."""
    return rho * h * (1.0 + h), rho * (1.0 + 2.0 * h)


def pure(epsilon: float, h: float) -> Cumulant:
    """ε-DP: K(h) = ln cosh((2h+1)ε/2) − ln cosh(ε/2), attained by randomised response."""
    half = 0.5 * epsilon
    y = (2.0 * h + 1.0) * half
    return _log_cosh(y) - _log_cosh(half), epsilon * math.tanh(y)


def selection(eta: float, h: float) -> Cumulant:
    """η-bounded range, the worst law at this h: K(h) = (h+1)·S((h+1)η/2) − h·S(hη/2) − S(η/2), S = ln(sinh(y)/y).

    At most (η²/8)·h·(1+h), and at most h·η. Composes with other cumulants, not with an exact Gaussian profile.
    """
    half = 0.5 * eta
    low, high = h * half, (h + 1.0) * half
    rise = half + math.log1p(_sinh_growth(half, low)) - math.log1p(1.0 / h)  # S(high) − S(low) without cancellation
    value = h * rise + _log_sinhc(high) - _log_sinhc(half)
    return value, rise + half + _bernoulli(2.0 * high) - _bernoulli(2.0 * low)


def selection_pair(eta: float, h: float) -> Cumulant:
    """η-bounded range, one pair that dominates all of them: K(h) = S((2h+1)η/2) − S(η/2), at least `selection`.

    A fixed pair, so it may be composed with an exact Gaussian profile, in any adaptive order.
    """
    half = 0.5 * eta
    y = (2.0 * h + 1.0) * half
    return _log_sinhc(y) - _log_sinhc(half), eta * _langevin(y)


def _sinh_growth(step: float, y: float) -> float:
    """Return sinh(y + step)/(sinh(y)·exp(step)) − 1."""
    return -math.expm1(-2.0 * step) * _bernoulli(2.0 * y) / (2.0 * y)


def _bernoulli(y: float) -> float:
    """Return y/(e^y − 1)."""
    return y / math.expm1(y) if y < 700.0 else 0.0


def _log_cosh(y: float) -> float:
    if y < 1.0:
        return math.log1p(2.0 * math.sinh(0.5 * y) ** 2)
    return y + math.log1p(math.exp(-2.0 * y)) - math.log(2.0)


def _log_sinhc(y: float) -> float:
    """Return S(y) = ln(sinh(y)/y)."""
    if y < _SMALL:
        square = y * y
        return square / 6.0 * (1.0 - square / 30.0 * (1.0 - square * 4.0 / 63.0 * (1.0 - square * 3.0 / 40.0)))
    return y + math.log1p(-math.exp(-2.0 * y)) - math.log(2.0 * y)


def _langevin(y: float) -> float:
    """Return S'(y) = coth(y) − 1/y."""
    if y < _SMALL:
        square = y * y
        return y / 3.0 * (1.0 - square / 15.0 * (1.0 - square * 2.0 / 21.0 * (1.0 - square / 10.0)))
    return 1.0 / math.tanh(y) - 1.0 / y
