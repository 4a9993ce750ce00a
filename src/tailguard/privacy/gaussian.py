"""The privacy profile of a Gaussian: N(μ, 1) against N(0, 1), in logarithms that neither cancel nor overflow.

With a = x/μ − μ/2 and b = x/μ + μ/2 the hockey-stick divergence at eˣ (Balle and Wang 2018, Theorem 5) is

    δ(x) = Φ(−a) − eˣ Φ(−b) = φ(a) · (M(a) − M(b)),     M(t) = Φ(−t)/φ(t),  the Mills ratio.

The second form has no large factors; for small μ the difference is the integral of −M' = 1 − t·M(t) > 0.
"""

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfcx, log_ndtr, ndtr

__all__ = ["hazard", "log_delta"]

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)
_UNDERFLOW = 1e8  # standard deviations beyond which δ is nothing, even in logarithms
_SERIES = 200.0  # from here on three terms of the asymptotic series of 1 − t·M(t) are exact to 1e-11


def log_delta(mu: float, x: float) -> float:
    """Return ln δ(x): the smallest δ for which μ-GDP implies (x, δ)-DP, for any real x.

    Parameters
    ----------
    mu : float
        μ > 0.
    x : float
        ε; negative values are meaningful and needed by the composition bound.

    Examples
    --------
    >>> round(math.exp(log_delta(1.0, 1.0)), 6)
    0.126937
    """
    if x < 0.0:  # δ(x) = 1 − eˣ + eˣ δ(−x): a sum of positive terms
        return math.log(-math.expm1(x) + math.exp(x + log_delta(mu, -x)))
    a, b = x / mu - 0.5 * mu, x / mu + 0.5 * mu
    if a > _UNDERFLOW:
        return -math.inf
    if mu > 1.0 and a <= 0.0:
        return math.log(float(ndtr(-a)) - math.exp(_log_slope(mu, x)))
    gap = _mills_drop(x / mu, 0.5 * mu) if mu <= 1.0 else _mills(a) - _mills(b)
    return math.log(gap) - 0.5 * a * a - _LOG_SQRT_2PI


def hazard(mu: float, x: float) -> float:
    """Return −d ln δ(x)/dx, which increases from 0 to infinity because δ is log-concave in x."""
    return math.exp(_log_slope(mu, x) - log_delta(mu, x))


def _log_slope(mu: float, x: float) -> float:
    """Return ln(−dδ/dx) = x + ln Φ(−b)."""
    a, b = x / mu - 0.5 * mu, x / mu + 0.5 * mu
    if b <= 0.0:
        return x + float(log_ndtr(-b))
    return math.log(_mills(b)) - 0.5 * a * a - _LOG_SQRT_2PI


def _mills(t: float) -> float:
    return math.sqrt(0.5 * math.pi) * float(erfcx(t / math.sqrt(2.0)))


def _mills_drop(centre: float, half: float) -> float:
    """Return M(centre − half) − M(centre + half) as an integral: relative accuracy for any width up to one."""
    t = centre + half * _NODES
    return half * float(_WEIGHTS @ _mills_fall(t))


def _mills_fall(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return −M'(t) = 1 − t·M(t)."""
    if t[0] > _SERIES:
        square = 1.0 / (t * t)
        return square * (1.0 - 3.0 * square * (1.0 - 5.0 * square))
    return 1.0 - t * math.sqrt(0.5 * math.pi) * erfcx(t / math.sqrt(2.0))
