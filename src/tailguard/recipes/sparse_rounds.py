"""Sparse regression without bounds: rounds of private picks and refits."""

from tailguard._validate import refuse
from tailguard.domains.sparse import Sparse
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, target_drafts
from tailguard.recipes.refit import RefitPlan, level_noise
from tailguard.recipes.wide import wide_drafts, wide_preparation
from tailguard.solvers.oracles import Clip
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.quantile import LogGrid
from tailguard.solvers.sparse_rounds import Picks, SparseRounds
from tailguard.statistics.base import grid_bits
from tailguard.statistics.below import Below
from tailguard.statistics.scores import Magnitudes, Shifted

__all__ = ["RECIPE", "plan_sparse"]

ROUNDS = 5

TARGET, FEATURES, LEVELS, PICKS, INTERIM, CHOICE = 0.02, 0.08, 0.03, 0.45, 0.18, 0.02
"""Shares of the target's centre and scale, the columns', the pick levels, the picks, all refits but the last, and the
choice of a model; the last refit gets the rest."""

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


def plan_sparse(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `SparseRounds` for a domain of sparse vectors."""
    loss, domain = problem.loss, problem.domain
    if privacy.pure:
        raise refuse("delta", "sparse_rounds", "greater than 0", privacy.delta)
    if not isinstance(domain, Sparse):
        raise refuse("domain", "sparse_rounds", "a Sparse domain", domain)
    if not isinstance(loss, Loss):
        raise refuse("loss", "sparse_rounds", "a loss of predictions", loss)
    bits, scaled = grid_bits(problem.n), isinstance(loss, ResidualLoss)
    target = Preparation(COARSE, centred=problem.intercept) if scaled else None
    features = wide_preparation(problem, privacy, FEATURES)
    counts = _counts(domain.sparsity)
    prepared = [
        *(target_drafts(target, TARGET / 2, TARGET / 2) if target is not None else []),
        *wide_drafts(features, problem.d, FEATURES),
    ]
    left = 1.0 - sum(draft.share for draft in prepared) - LEVELS * scaled - PICKS - CHOICE
    refits = _refits(problem, privacy, counts, left)
    solver = SparseRounds(
        loss=loss,
        domain=domain,
        d=problem.d,
        intercept=problem.intercept,
        target=target,
        features=features,
        picks=Picks(WIDTH, GRID, STRETCH) if scaled else Picks(WIDTH, None, CLASS_SLOPE),
        counts=counts,
        refits=tuple(part.setting for part in refits),
        handicap=HANDICAP * 2.0 * CountNoise.of(privacy).of_one(CHOICE),
        nested=False,
    )
    drafts = [*prepared, *_rounds(problem, counts, refits, scaled)]
    return Plan(
        recipe="sparse_rounds",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble(drafts, privacy, bits),
        sources=(("shares, levels, rounds", "chosen on synthetic development data"),),
    )


def _counts(sparsity: int) -> tuple[int, ...]:
    """Return how many columns each round picks: as equal as can be, the larger ones first."""
    rounds = min(ROUNDS, sparsity)
    return tuple(sparsity // rounds + (k < sparsity % rounds) for k in range(rounds))


def _refits(problem: Problem, privacy: Privacy, counts: tuple[int, ...], left: float) -> list[RefitPlan]:
    parts, k, interim = [], int(problem.intercept), INTERIM / max(len(counts) - 1, 1)
    correct = isinstance(problem.loss, ResidualLoss) and problem.intercept
    for number, count in enumerate(counts):
        k += count
        last = number == len(counts) - 1
        share = left - INTERIM * (len(counts) > 1) if last else interim
        steps = None if last else INTERIM_STEPS
        sought = last and level_noise(problem, privacy, share) <= LEVEL_NOISE
        parts.append(RefitPlan(problem, privacy, Clip(), k, share, share, correct and last, steps, sought))
    return parts


def _rounds(problem: Problem, counts: tuple[int, ...], refits: list[RefitPlan], scaled: bool) -> list[Draft]:
    k, drafts = problem.d + problem.intercept, []
    for count, part in zip(counts, refits, strict=True):
        if scaled:
            drafts.append(Draft("pick level", Below, 1, LEVELS / len(counts), GRID.depth + 2))
        drafts.append(Draft("picks", Magnitudes, k, PICKS * count / sum(counts), picks=count))
        drafts.extend(part.drafts)
    drafts.append(Draft("choice", Shifted, 2, CHOICE, picks=1))
    return drafts


RECIPE = Recipe(
    name="sparse_rounds",
    source="tailguard; picks as in Hu et al. 2022, Algorithm 4, refits as in `clipping`",
    summary="A few rounds of Gumbel picks on the clipped gradient, each followed by a private refit on the support.",
    planners={("regression", "practical"): plan_sparse},
)
