"""Exact composition of pure events: a closed form over the atoms of randomised responses.

Randomised response dominates every ε-differentially private event, and the loss of a composition of them has finitely
many values. With A_j and B_j the masses of the j largest values under P and under Q,

    δ(ε) = max_j (A_j − e^ε·B_j),   so that   ε(δ) = max_j ln((A_j − δ)/B_j)   over the j with A_j > δ

(Kairouz, Oh and Viswanath 2015, Theorem 3.3, for equal events). The note of the same name has the proof.
"""

import math
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tailguard.privacy.branches import Costs

__all__ = ["MOST_ATOMS", "atoms", "responses_epsilon"]

MOST_ATOMS = 2**16
"""Beyond, the cumulants answer: they lose little with so many events."""


def atoms(costs: Costs) -> int:
    """Return how many values the loss can have: one for each number of unfavourable answers of each kind of event."""
    return math.prod(count + 1 for _, count in costs)


def responses_epsilon(costs: Costs, log_delta: float) -> float:
    """Return the smallest ε for which all compositions of these ε_i-DP events are (ε, δ)-DP.

    Parameters
    ----------
    costs : tuple of (epsilon, count)
        Pure events, with at most `MOST_ATOMS` atoms.
    log_delta : float
        ln δ.
    """
    log_p, log_q = reduce(_product, [_binomial(cost, count) for cost, count in costs])
    order = np.argsort(log_q - log_p)  # largest loss first
    above_p = np.logaddexp.accumulate(log_p[order])
    above_q = np.logaddexp.accumulate(log_q[order])
    enough = above_p > log_delta
    if not enough.any():
        return 0.0
    rest = above_p[enough] + np.log(-np.expm1(log_delta - above_p[enough]))
    return max(0.0, float(np.max(rest - above_q[enough])))


def _binomial(cost: float, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ln P and ln Q of k = 0 … count responses that speak for P, each with odds e^cost under P."""
    k = np.arange(count + 1)
    ways = gammaln(count + 1.0) - gammaln(k + 1.0) - gammaln(count - k + 1.0)
    whole = count * math.log1p(math.exp(-cost))
    return ways - (count - k) * cost - whole, ways - k * cost - whole


def _product(
    one: tuple[NDArray[np.float64], NDArray[np.float64]], other: tuple[NDArray[np.float64], NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.add.outer(one[0], other[0]).ravel(), np.add.outer(one[1], other[1]).ravel()
