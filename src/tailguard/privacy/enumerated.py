"""The exact profile of pure events alone, by convolving their losses one response at a time.

A second derivation of what `responses` computes from binomial formulas: the law of the loss is built up by repeated
convolution, in plain probabilities, and δ(ε) = E[(1 − e^{ε−L})₊] is summed as it is defined. All terms are positive, so
nothing cancels.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tailguard.privacy.branches import Branch

__all__ = ["enumerated_epsilon"]

_MOST_ATOMS = 2**16
_LEAST_DELTA = 1e-280  # probabilities that are no normal floats any more are not summed


def enumerated_epsilon(branch: Branch, delta: float, high: float) -> float | None:
    """Return ε(δ) of randomised responses alone, or None where there are others, or too many different ones.

    Parameters
    ----------
    branch : Branch
        What one record meets.
    delta : float
        δ > 0.
    high : float
        A bound on ε that is known.
    """
    from scipy.optimize import brentq

    size = math.prod(count + 1 for _, count in branch.pure)
    if branch.precision > 0.0 or branch.ranges or size > _MOST_ATOMS or delta < _LEAST_DELTA:
        return None
    losses, masses = np.zeros(1), np.ones(1)
    for cost, count in branch.pure:
        losses = np.add.outer(losses, cost * (2.0 * np.arange(count + 1) - count)).ravel()
        masses = np.multiply.outer(masses, _responses(cost, count)).ravel()

    def excess(epsilon: float) -> float:
        above = losses > epsilon
        return float(np.sum(masses[above] * -np.expm1(epsilon - losses[above]))) - delta

    if excess(high) > 0.0:
        return high
    return 0.0 if excess(0.0) <= 0.0 else float(brentq(excess, 0.0, high, xtol=1e-13 * high, rtol=1e-13))


def _responses(cost: float, count: int) -> NDArray[np.float64]:
    """Return the probabilities of 0 … count true answers, each true with probability 1/(1 + e^−cost)."""
    true = 1.0 / (1.0 + math.exp(-cost))
    one, total = np.array([math.exp(-cost) * true, true]), np.ones(1)
    while count:
        if count & 1:
            total = np.convolve(total, one)
        one, count = np.convolve(one, one), count >> 1
    return total
