"""Correlated features with heavy-tailed marginals: a Gaussian copula with AR(1/2) correlation."""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma, log_ndtr, ndtr, stdtrit

__all__ = ["draw_features", "draw_noise", "population"]

Matrix = NDArray[np.float64]


def draw_features(family: str, n: int, d: int, rng: np.random.Generator) -> Matrix:
    """Return n rows of d correlated features: "t3", "lognormal", "weibull" or "gaussian" marginals."""
    Z = rng.standard_normal((n, d))
    for j in range(1, d):
        Z[:, j] = 0.5 * Z[:, j - 1] + np.sqrt(0.75) * Z[:, j]
    if family == "weibull":  # shape 0.6: heavier than exponential, all moments finite
        return np.asarray((-log_ndtr(-Z)) ** (1.0 / 0.6))
    if family == "t3":
        # Through the smaller tail, where the distribution function does not saturate.
        return np.asarray(-np.sign(Z) * stdtrit(3, ndtr(-np.abs(Z))))
    return np.exp(Z) if family == "lognormal" else Z


def draw_noise(family: str, n: int, rng: np.random.Generator) -> Matrix:
    """Return n centred errors of variance 1 with the tail of the family."""
    if family == "t3":
        return np.asarray(rng.standard_t(3, n) / np.sqrt(3.0))
    if family == "weibull":
        mean, second = gamma(1.0 + 1.0 / 0.6), gamma(1.0 + 2.0 / 0.6)
        return np.asarray((rng.weibull(0.6, n) - mean) / np.sqrt(second - mean**2))
    if family == "lognormal":
        return np.asarray((rng.lognormal(size=n) - np.exp(0.5)) / np.sqrt((np.e - 1.0) * np.e))
    return rng.standard_normal(n)


@cache
def population(family: str, d: int) -> tuple[Matrix, Matrix, Matrix]:
    """Return mean, covariance and a large test sample of the features, from a seed of their own."""
    X = draw_features(family, 400_000, d, np.random.default_rng(77))
    return X.mean(axis=0), np.cov(X.T), X[:60_000]
