"""Laws of one column: a map from a standard normal variable, with exact mean and variance, and its tail in words."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, stdtrit

__all__ = ["LAWS", "Law"]

Array = NDArray[np.float64]
NODES = np.linspace(-9.0, 9.0, 20_001)


@dataclass(frozen=True)
class Law:
    """The law of g(Z) for a standard normal Z; correlated Z give correlated columns (a Gaussian copula).

    Parameters
    ----------
    name, tail : str
        As printed.
    map : callable
        g, non-decreasing.
    finite : bool, default=True
        Whether it has a variance; without one it serves as noise alone, in units of its quartiles.
    """

    name: str
    tail: str
    map: Callable[[Array], Array]
    finite: bool = True

    def sample(self, rng: np.random.Generator, size: int | tuple[int, int]) -> Array:
        """Return independent draws."""
        return self.map(rng.standard_normal(size))

    def noise(self, rng: np.random.Generator, size: int) -> Array:
        """Return draws with mean 0 and variance 1; without a variance, with quartiles ±1 as they come."""
        return (self.sample(rng, size) - self.mean) / (self.deviation if self.finite else 1.0)

    @cached_property
    def mean(self) -> float:
        return float(self._coefficients[0]) if self.finite else 0.0

    @cached_property
    def deviation(self) -> float:
        return float(np.sqrt(self._covariance(1.0)))

    def covariances(self, correlations: Array) -> Array:
        """Return Cov(g(Z), g(Z')) for each correlation of Z and Z'."""
        distinct, places = np.unique(correlations, return_inverse=True)
        values = np.array([self._covariance(float(correlation)) for correlation in distinct])
        return np.asarray(values[places].reshape(correlations.shape))

    def _covariance(self, correlation: float) -> float:
        if correlation == 1.0:  # the series converges slowly there, the integral does not
            density = _density()
            return float(np.sum(density * (self.map(NODES) - self._coefficients[0]) ** 2))
        powers = correlation ** np.arange(1, len(self._coefficients))
        return float(powers @ self._coefficients[1:] ** 2)

    @cached_property
    def _coefficients(self) -> Array:
        """Coefficients of g in the normalised Hermite polynomials: Cov = Σ a_k² ρ^k over k ≥ 1."""
        return np.asarray(_hermite() @ (_density() * self.map(NODES)))


@cache
def _density() -> Array:
    weights = np.exp(-0.5 * NODES**2)
    return np.asarray(weights / weights.sum())


@cache
def _hermite(terms: int = 120) -> Array:
    """Return the first normalised Hermite polynomials at the nodes: h_k = (x h_{k−1} − √(k−1) h_{k−2}) / √k."""
    rows = [np.ones_like(NODES), NODES]
    for k in range(2, terms):
        rows.append((NODES * rows[-1] - np.sqrt(k - 1.0) * rows[-2]) / np.sqrt(k))
    return np.array(rows)


@cache
def _student_table(freedom: float) -> Array:
    # Through the smaller tail, where the distribution function does not saturate.
    return np.asarray(np.arcsinh(-np.sign(NODES) * stdtrit(freedom, ndtr(-np.abs(NODES)))))


def _student(freedom: float, variance: bool = True) -> Law:
    def map(z: Array) -> Array:  # a table, since the quantile function costs a microsecond a number
        return np.sinh(np.interp(z, NODES, _student_table(freedom)))

    return Law(f"t{freedom:g}", f"index {freedom:g}", map, variance)


def _lognormal(sigma: float) -> Law:
    return Law(f"lognormal{sigma:g}", "all moments", lambda z: np.exp(sigma * z))


def _zero_inflated(z: Array) -> Array:
    """Seven in ten are 0; the others log-logistic."""
    excess = (ndtr(z) - 0.7) / 0.3
    return np.where(excess > 0.0, (np.maximum(excess, 1e-300) / np.maximum(1.0 - excess, 1e-16)) ** 0.3, 0.0)


LAWS = {
    law.name: law
    for law in (
        Law("gaussian", "light", lambda z: z),
        _student(1.5, variance=False),
        _student(3.0),
        _student(5.0),
        _lognormal(0.6),
        _lognormal(1.0),
        _lognormal(2.0),
        Law("pareto2.5", "index 2.5", lambda z: np.expm1(-log_ndtr(-z) / 2.5)),
        Law("weibull0.6", "all moments", lambda z: (-log_ndtr(-z)) ** (1.0 / 0.6)),
        Law("log-logistic3", "index 3", lambda z: np.exp((log_ndtr(z) - log_ndtr(-z)) / 3.0)),
        Law("zero-inflated", "index 3.3 and 70 % zeros", _zero_inflated),
    )
}
