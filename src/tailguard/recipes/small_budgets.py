"""What a budget is too small for: limits that planners and predictions share."""

import math
from dataclasses import replace

from tailguard.losses.base import ResidualLoss
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.feasible import round_up
from tailguard.recipes.noise import CountNoise

__all__ = ["all_public", "ample", "faint", "public_units_suffice"]

GRAM_NOISE, COUNTS, CLASS_COUNTS = 0.13, 600.0, 400.0
"""Noise of a Gram matrix, k^1.5 ÷ (n × budget), above which, and n × budget, of numbers and of classes, below which
`newton` does better without such a matrix and without private levels, where units are public."""

PRIVATE_COUNTS, EACH, FEW, MANY_COUNTS = 600.0, 12.0, 30, 500.0
"""n × budget below which it does so in private units: a number and as much for each of a few columns. Tables with many
columns have some that go together, for which a Gram matrix is wanted sooner."""

WIDE, CARRIED = 0.1, 1000.0
"""k ÷ (n × budget) from which on `centred_descent` is better, if n × budget carries its choice."""

LARGEST = 1e3
"""Largest ε that is worth naming."""


def faint(problem: Problem, privacy: Privacy) -> bool:
    """Whether the budget is too small for a Gram matrix or for private levels."""
    return problem.n < _wanted(problem) * CountNoise.of(privacy).multiplier


def _wanted(problem: Problem) -> float:
    """Return n × budget from which on there is a Gram matrix."""
    k, fewest = problem.d + problem.intercept, COUNTS if isinstance(problem.loss, ResidualLoss) else CLASS_COUNTS
    if not all_public(problem):
        return PRIVATE_COUNTS + EACH * k if k <= FEW else MANY_COUNTS
    return float(max(k**1.5 / GRAM_NOISE, fewest))


def ample(problem: Problem, privacy: Privacy) -> tuple[int, float]:
    """Return how many rows at this budget, and which ε with as many rows, carry a Gram matrix; rounded up.

    Examples
    --------
    >>> from tailguard.domains.whole_space import WholeSpace
    >>> from tailguard.losses.squared import Squared
    >>> problem, privacy = Problem(Squared(), WholeSpace(5), 5_000, 5, intercept=True), Privacy(0.1, 1e-6)
    >>> ample(problem, privacy)
    (25000, 0.55)
    >>> faint(problem, Privacy(0.55, 1e-6)), faint(problem, Privacy(0.53, 1e-6))
    (False, True)
    """
    wanted, low, high = _wanted(problem), privacy.epsilon, LARGEST
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if faint(problem, replace(privacy, epsilon=middle)) else (low, middle)
    return math.ceil(round_up(wanted * CountNoise.of(privacy).multiplier)), round_up(high)


def public_units_suffice(problem: Problem, privacy: Privacy) -> bool:
    """Whether `newton` in public units is better than a descent that is made for many columns."""
    strength = problem.n / CountNoise.of(privacy).multiplier
    k = problem.d + problem.intercept
    return all_public(problem) and faint(problem, privacy) and (k <= WIDE * strength or strength < CARRIED)


def all_public(problem: Problem) -> bool:
    """Whether no unit is sought."""
    known = problem.scales
    if known is None or known.features is None or (problem.intercept and known.centres is None):
        return False
    target = known.target is not None and (not problem.intercept or known.target_centre is not None)
    return target or not isinstance(problem.loss, ResidualLoss)
