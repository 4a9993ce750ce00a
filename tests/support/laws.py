"""Laws of noise in closed form, and a chi-squared test whose power is computed and not hoped for."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2, ncx2

Vector = NDArray[np.float64]


def discrete_gaussian(scale: float) -> tuple[NDArray[np.int64], Vector]:
    """Return the integers within 40 scales and their discrete Gaussian probabilities."""
    k = np.arange(-int(40 * scale), int(40 * scale) + 1)
    weight = np.exp(-((k / scale) ** 2) / 2)
    return k, weight / weight.sum()


def discrete_laplace(scale: float) -> tuple[NDArray[np.int64], Vector]:
    """Return the integers within 60 scales and their discrete Laplace probabilities."""
    k = np.arange(-int(60 * scale), int(60 * scale) + 1)
    weight = np.exp(-np.abs(k) / scale)
    return k, weight / weight.sum()


def cell_probabilities(support: NDArray[np.int64], probabilities: Vector, edges: Sequence[float]) -> Vector:
    """Return the probability of each cell between consecutive edges, the two unbounded ones included."""
    return np.bincount(np.searchsorted(edges, support), weights=probabilities, minlength=len(edges) + 1)


def softmax(scores: ArrayLike) -> Vector:
    """Return the exponential mechanism's probabilities for scores in units of its scale."""
    weight = np.exp(np.asarray(scores, dtype=float) - np.max(scores))
    return weight / weight.sum()


def favourite_rank(gap: float, others: int, picks: int) -> Vector:
    """Return P(first pick), …, P(last pick), P(never) of one candidate `gap` scales above `others` equals."""
    rank, unseen = [], 1.0
    for taken in range(picks):
        win = 1.0 / (1.0 + (others - taken) * np.exp(-gap))
        rank.append(unseen * win)
        unseen *= 1.0 - win
    return np.array([*rank, unseen])


def laplace_favourite(gap: int, others: int, picks: int, scale: float) -> Vector:
    """Return P(chosen), P(not) for the leader of a Laplace peeling that wins ties: a sum over its noise."""
    k, p = discrete_laplace(scale)
    below = np.interp(k + gap, k, np.cumsum(p), left=0.0, right=1.0)
    unseen = np.prod([1.0 - p @ below ** (others - taken) for taken in range(picks)])
    return np.array([1.0 - unseen, unseen])


def p_value(counts: ArrayLike, probabilities: Vector) -> float:
    """Return Pearson's chi-squared p-value of cell counts."""
    observed = np.asarray(counts, dtype=float)
    expected = observed.sum() * probabilities
    assert expected.min() > 20, "cells too small for the chi-squared law"
    return float(chi2.sf(((observed - expected) ** 2 / expected).sum(), observed.size - 1))


def miss_probability(draws: int, truth: Vector, hypothesis: Vector, level: float) -> float:
    """Return the probability that the chi-squared test accepts a wrong hypothesis."""
    freedom = truth.size - 1
    excess = draws * ((truth - hypothesis) ** 2 / hypothesis).sum()
    return float(ncx2.cdf(chi2.isf(level, freedom), freedom, excess))
