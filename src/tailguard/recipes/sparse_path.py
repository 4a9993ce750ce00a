"""Sparse regression whose number of columns is chosen privately, among models that grow from round to round."""

import math

from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.sparse_rounds import Rounds, plan_rounds, rows_needed, sparse_domain

__all__ = ["RECIPE", "largest_sparsity", "plan_path"]

RATIO, FEWEST = 1.8, 3
"""A round makes the model so many times as large; the first has about three columns."""

PICKS, INTERIM, CHOICE = 0.30, 0.16, 0.05
"""Shares of all picks, of the refits after the rounds, and of the choice; the chosen model's refit gets the rest."""

STEPS = 6
"""Of the refits after the rounds."""

HANDICAP = 2.0
"""What a model must win over the next smaller one, in scales of the noise of the choice."""

MOST = 100
"""More columns are never tried."""

REFIT = 40.0
"""A model of s columns is fitted to about a tenth of the variance where n × budget exceeds 40·s."""


def largest_sparsity(n: int, d: int, privacy: Privacy) -> int:
    """Return the largest number of columns that n rows and a budget carry, from public facts alone.

    It is the largest s at which equal coefficients that explain half of the variance can be found and fitted; at least
    1, and at most 100, n/10 and d.
    """
    noise = CountNoise.of(privacy)
    most = min(d, MOST, max(n // 10, 1), max(math.floor(n / (noise.multiplier * REFIT)), 1))
    return next((s for s in range(most, 0, -1) if rows_needed(s, d, noise) <= n), 1)


def plan_path(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `SparseRounds` with models of up to as many columns as the domain allows.

    The sizes grow by the same factor each round, and every round has the same share of the picks: a small model that is
    chosen costs little more than if its size had been known.

    Raises
    ------
    BudgetError
        When not even a single column that explains half of the variance could be found.
    """
    domain = sparse_domain(problem, privacy, "sparse_path")
    needed = rows_needed(1, problem.d, CountNoise.of(privacy))
    carry("A model of one column", needed / problem.n, 1.0, problem, privacy)
    counts = _counts(domain.sparsity)
    equal = tuple(1.0 for _ in counts)
    rounds = Rounds(counts, equal, PICKS, INTERIM, CHOICE, STEPS, HANDICAP, nested=True)
    return plan_rounds("sparse_path", rounds, problem, privacy)


def _counts(most: int) -> tuple[int, ...]:
    """Return how many columns each round adds, so that sizes grow by a factor up to the largest."""
    sizes = [most]
    while sizes[0] > FEWEST:
        sizes.insert(0, min(math.ceil(sizes[0] / RATIO), sizes[0] - 1))
    return tuple(after - before for before, after in zip([0, *sizes], sizes, strict=False))


RECIPE = Recipe(
    name="sparse_path",
    source="tailguard; rounds as in `sparse_rounds`",
    summary="Models that grow by picked columns, a private choice among them, and one more refit of the chosen one.",
    planners={("regression", "practical"): plan_path},
)
