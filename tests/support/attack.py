"""Empirical lower bounds on ε: how well can an adversary tell two neighbouring data sets apart?"""

import math

import numpy as np
from scipy.stats import beta

CONFIDENCE = 1e-4
"""Probability that a bound is above the truth."""


def bounds(hits: int, trials: int) -> tuple[float, float]:
    """Return the Clopper–Pearson interval of a probability, each side wrong with probability `CONFIDENCE` ÷ 4."""
    risk = CONFIDENCE / 4
    low = beta.ppf(risk, hits, trials - hits + 1) if hits else 0.0
    high = beta.isf(risk, hits + 1, trials - hits) if hits < trials else 1.0
    return float(low), float(high)


def least_epsilon(one: np.ndarray, other: np.ndarray, delta: float) -> float:
    """Return an ε that the mechanism exceeds, from independent scores of runs on two neighbouring data sets.

    The first half of the runs chooses a threshold, the second half tests it. (ε, δ)-privacy asks that P(score > t) on
    one data set is at most e^ε times that on the other, plus δ; both directions are tried.
    """
    half = len(one) // 2
    candidates = np.quantile(np.concatenate([one[:half], other[:half]]), np.linspace(0.02, 0.98, 49))
    best = max(candidates, key=lambda t: _tested(one[:half], other[:half], t, delta))
    return _tested(one[half:], other[half:], best, delta)


def _tested(one: np.ndarray, other: np.ndarray, threshold: float, delta: float) -> float:
    above = [bounds(int((scores > threshold).sum()), len(scores)) for scores in (one, other)]
    below = [(1.0 - high, 1.0 - low) for low, high in above]
    pairs = [(above[0], above[1]), (above[1], above[0]), (below[0], below[1]), (below[1], below[0])]
    return max(_ratio(likely[0] - delta, rare[1]) for likely, rare in pairs)


def _ratio(numerator: float, denominator: float) -> float:
    return math.log(numerator / denominator) if numerator > 0.0 else 0.0
