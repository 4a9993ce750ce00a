"""The exact profile of Gaussians composed with dominating pairs of other events, by an inverse Laplace transform.

The privacy loss L of such a composition has a cumulant κ(z) = ln E[exp(z·L)] in closed form, for complex z as well.
Since (1 − e^{−u})₊ is the inverse Laplace transform of 1/(z(z+1)),

    δ(ε) = E[(1 − e^{ε−L})₊] = 1/(2πi) ∫ exp(κ(z) − zε)/(z(z+1)) dz      along Re z = h > 0.

The Gaussian makes the integrand fall like exp(−μ²y²/2); the trapezoidal rule then converges exponentially, and its
error is positive (Poisson summation), so on the safe side. The note of the same name has the details.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tailguard.privacy.branches import Branch

__all__ = ["inverted_epsilon"]

Complex = NDArray[np.complex128]

_ORDERS = np.exp(np.linspace(math.log(1e-9), math.log(1e15), 600))
_MOST_TERMS = 500_000  # of the rule, times the number of different events


@lru_cache(maxsize=128)  # a plan is verified when it is made, run and certified
def inverted_epsilon(branch: Branch, delta: float, high: float) -> float:
    """Return ε(δ) of the composed pairs if it is below `high`, else infinity.

    Parameters
    ----------
    branch : Branch
        With at least one Gaussian; its `distance` is ignored.
    delta : float
        δ > 0.
    high : float
        Any bound on ε that is known.
    """
    from scipy.optimize import brentq

    real_cumulant = _cumulant(branch, _ORDERS.astype(complex)).real

    def excess(epsilon: float) -> float:
        return _log_delta(branch, real_cumulant, epsilon) - math.log(delta)

    if excess(high) > 0.0:
        return math.inf
    return 0.0 if excess(0.0) <= 0.0 else float(brentq(excess, 0.0, high, xtol=1e-13 * high, rtol=1e-13))


def _log_delta(branch: Branch, real_cumulant: NDArray[np.float64], epsilon: float) -> float:
    exponent = real_cumulant - _ORDERS * epsilon - np.log(_ORDERS) - np.log1p(_ORDERS)
    saddle = int(np.argmin(exponent))
    h, peak = float(_ORDERS[saddle]), float(exponent[saddle])
    # The first alias is e^{−2πh/step} at most: forty e-folds below δ.
    step = 2.0 * math.pi * h / (max(0.0, -peak) + 40.0)
    terms = math.ceil(9.5 / math.sqrt(branch.precision) / step)
    if terms * (1 + len(branch.pure) + len(branch.ranges)) > _MOST_TERMS:
        return math.inf
    z: Complex = np.asarray(h + 1j * step * np.arange(terms + 1), dtype=np.complex128)
    values = np.exp(_cumulant(branch, z) - z * epsilon - peak) / (z * (z + 1.0))
    total = float(values.real.sum()) - 0.5 * float(values[0].real)
    return peak + math.log(step / math.pi * total) if total > 0.0 else math.inf


def _cumulant(branch: Branch, z: Complex) -> Complex:
    total = 0.5 * branch.precision * z * (z + 1.0)
    for epsilon, count in branch.pure:
        total += count * _randomised_response(epsilon, z)
    for eta, count in branch.ranges:
        total += count * _bounded_range(eta, z)
    return total


def _randomised_response(epsilon: float, z: Complex) -> Complex:
    """Return ln(cosh((z + ½)ε)/cosh(ε/2))."""
    value: Complex = z * epsilon + np.log1p(np.exp(-(2.0 * z + 1.0) * epsilon)) - math.log1p(math.exp(-epsilon))
    return value


def _bounded_range(eta: float, z: Complex) -> Complex:
    """Return ln(sinh((z + ½)η)/((2z + 1)·sinh(η/2)))."""
    ratio = np.expm1(-(2.0 * z + 1.0) * eta) / (math.expm1(-eta) * (2.0 * z + 1.0))
    value: Complex = z * eta + np.log(ratio)
    return value
