"""Sparse regression without bounds: rounds of private picks and refits."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tailguard._validate import refuse
from tailguard.domains.sparse import Sparse
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import RISK_UNIT, risk
from tailguard.recipes.preparation import target_drafts, target_preparation
from tailguard.recipes.refit import RefitPlan, level_noise
from tailguard.recipes.settling import settling, settling_drafts
from tailguard.recipes.wide import wide_drafts, wide_preparation
from tailguard.solvers.oracles import Clip
from tailguard.solvers.quantile import LogGrid
from tailguard.solvers.sparse_rounds import Picks, SparseRounds
from tailguard.statistics.base import grid_bits
from tailguard.statistics.below import Below
from tailguard.statistics.scores import Magnitudes, Shifted

__all__ = ["RECIPE", "Rounds", "plan_rounds", "plan_sparse", "rows_needed"]

ROUNDS = 5

TARGET, FEATURES, LEVELS, PICKS, INTERIM, CHOICE = 0.02, 0.08, 0.03, 0.45, 0.18, 0.02
"""Shares of the target's centre and scale, the columns', the pick levels, the picks, all refits but the last, and the
choice of a model; the last refit gets the rest."""

SETTLE = 0.02
"""Share of the last word on the intercept."""

INTERIM_STEPS = 4

GRID = LogGrid(-48, 16, 2, signed=False)
"""Where slopes are sought, in scales of the target."""

HANDICAP = 2.0
"""What a fitted model must win over the null model, in scales of the noise of the choice."""

WIDTH, STRETCH = 0.5, 1.75
"""Entries of a row are limited at half their scale, slopes at 1.75 times the 30 % quantile of their size."""

LEVEL_NOISE = 0.02
"""Noise in a cell of a histogram of gradients, as a share of n, up to which the last refit seeks its clip levels."""

CLASS_SLOPE = 0.5
"""The same for classes, whose slopes start at ±½."""

LEAST = 6.0
"""Of s equal coefficients that explain half of the variance, hardly any is found with fewer than 6·s·ln(d/s) × noise
multiplier rows; half of them are with twice as many, all with three times as many."""


@dataclass(frozen=True)
class Rounds:
    """Rounds of picks with their shares.

    Parameters
    ----------
    counts : tuple of int
        How many columns each round picks.
    weights : tuple of float
        How the share of the picks is divided among the rounds.
    picks, interim, choice : float
        Shares of all picks, of all refits but the last, and of the choice.
    steps : int
        Of all refits but the last.
    handicap : float
        What a model must win over the next smaller candidate, in scales of the noise of the choice.
    nested : bool
        Whether the models after all rounds are candidates, so that the chosen one is fitted once more.
    """

    counts: tuple[int, ...]
    weights: tuple[float, ...]
    picks: float
    interim: float
    choice: float
    steps: int
    handicap: float
    nested: bool


def plan_sparse(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `SparseRounds` for a domain of sparse vectors.

    Raises
    ------
    BudgetError
        When not even equal coefficients that explain half of the variance could be found; the sentence says how many
        rows would do.
    """
    sparsity = sparse_domain(problem, privacy, "sparse_rounds").sparsity
    needed = rows_needed(sparsity, problem.d, CountNoise.of(privacy))
    carry(f"A model of {sparsity} columns", needed / problem.n, 1.0, problem, privacy)
    counts = _counts(sparsity)
    rounds = Rounds(counts, counts, PICKS, INTERIM, CHOICE, INTERIM_STEPS, HANDICAP, nested=False)
    return plan_rounds("sparse_rounds", rounds, problem, privacy, risk("sparse_rounds", problem, privacy))


def rows_needed(sparsity: int, d: int, noise: CountNoise) -> float:
    """Return how many rows let some of s equal coefficients be found that explain half of the variance."""
    return LEAST * sparsity * math.log(d / sparsity) * noise.multiplier


def sparse_domain(problem: Problem, privacy: Privacy, owner: str) -> Sparse:
    """Return the problem's domain, or raise what these recipes ask for."""
    if privacy.pure:
        raise refuse("delta", owner, "greater than 0", privacy.delta)
    if not isinstance(problem.domain, Sparse):
        raise refuse("domain", owner, "a Sparse domain", problem.domain)
    return problem.domain


def plan_rounds(
    recipe: str, rounds: Rounds, problem: Problem, privacy: Privacy, predicted_error: float | None = None
) -> Plan:
    """Return the plan of `SparseRounds` with these rounds."""
    if not isinstance(problem.loss, Loss):
        raise refuse("loss", recipe, "a loss of predictions", problem.loss)
    bits, scaled = grid_bits(problem.n), isinstance(problem.loss, ResidualLoss)
    target = target_preparation(problem, privacy, TARGET / 2) if scaled else None
    features = wide_preparation(problem, privacy, FEATURES)
    prepared = [
        *(target_drafts(target, TARGET / 2, TARGET / 2) if target is not None else []),
        *wide_drafts(features, problem.d, FEATURES),
    ]
    left = 1.0 - sum(draft.share for draft in prepared) - LEVELS * scaled - rounds.picks - rounds.choice - SETTLE
    refits = _refits(problem, privacy, rounds, left)
    solver = SparseRounds(
        loss=problem.loss,
        domain=problem.domain,
        d=problem.d,
        intercept=problem.intercept,
        target=target,
        features=features,
        picks=Picks(WIDTH, GRID, STRETCH) if scaled else Picks(WIDTH, None, CLASS_SLOPE),
        counts=rounds.counts,
        refits=tuple(part.setting for part in refits),
        handicap=rounds.handicap * 2.0 * CountNoise.of(privacy).of_one(rounds.choice),
        settling=settling(problem, privacy, SETTLE),
    )
    unit = () if predicted_error is None else (("predicted_error", RISK_UNIT),)
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble([*prepared, *_drafts(solver, rounds, refits)], privacy, bits),
        sources=(("shares, levels, rounds", "chosen on synthetic development data"), *unit),
        predicted_error=predicted_error,
    )


def _counts(sparsity: int) -> tuple[int, ...]:
    """Return how many columns each round picks: as equal as can be, the larger ones first."""
    rounds = min(ROUNDS, sparsity)
    return tuple(sparsity // rounds + (k < sparsity % rounds) for k in range(rounds))


def _refits(problem: Problem, privacy: Privacy, rounds: Rounds, left: float) -> list[RefitPlan]:
    """Return a refit for every round, and a last one where the chosen model is fitted again."""
    sizes = [sum(rounds.counts[: number + 1]) for number in range(len(rounds.counts))]
    sizes += sizes[-1:] if rounds.nested else []
    interim, last = rounds.interim / max(len(sizes) - 1, 1), left - rounds.interim * (len(sizes) > 1)
    sought = level_noise(problem, privacy, last) <= LEVEL_NOISE

    def part(size: int, share: float, *, final: bool) -> RefitPlan:
        steps, k = None if final else rounds.steps, size + problem.intercept
        return RefitPlan(problem, privacy, Clip(), k, share, share, False, steps, sought and final)

    return [*(part(size, interim, final=False) for size in sizes[:-1]), part(sizes[-1], last, final=True)]


def _drafts(solver: SparseRounds, rounds: Rounds, refits: Sequence[RefitPlan]) -> list[Draft]:
    """Return the steps after the preparation, in the order in which the solver asks."""
    drafts, total, number = [], sum(rounds.weights), len(rounds.counts)
    for count, weight, part in zip(rounds.counts, rounds.weights, refits, strict=False):
        if solver.picks.grid is not None:
            drafts.append(Draft("pick level", Below, 1, LEVELS / number, GRID.depth + 2))
        share = rounds.picks * weight / total
        drafts.append(Draft("picks", Magnitudes, solver.d + solver.intercept, share, picks=count))
        drafts.extend(part.drafts)
    drafts.append(Draft("choice", Shifted, number + 1 if rounds.nested else 2, rounds.choice, picks=1))
    return [*drafts, *(refits[-1].drafts if rounds.nested else []), *settling_drafts(solver.settling, SETTLE)]


RECIPE = Recipe(
    name="sparse_rounds",
    source="tailguard; picks as in Hu et al. 2022, Algorithm 4, refits as in `clipping`",
    summary="A few rounds of Gumbel picks on the clipped gradient, each followed by a private refit on the support.",
    planners={("regression", "practical"): plan_sparse},
)
