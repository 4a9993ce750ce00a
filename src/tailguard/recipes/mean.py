"""Practical means: private centre and scale of each column, a private threshold, then one release of any oracle."""

import math
from dataclasses import replace

from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry, carry_groups
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import MEAN_UNIT, mean_error
from tailguard.recipes.preparation import COARSE, feature_drafts, pooled_drafts, preparation_for
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.oracles import Clip, MeanOracle
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.private_mean import PrivateMean
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.octaves import Octaves

__all__ = ["TAIL", "least_order", "plan_centred_mean"]

CENTRE, SCALE, POOLED, LEVEL = 0.06, 0.08, 0.03, 0.06
"""Shares of the budget; the rest goes to the mean."""

SQUARE = 0.03
"""Share of the columns' mean squares, for the uncertainty of a clipped mean."""

SINGLE = 0.12
"""Share of the clip level of a single column, which needs no scale."""

PICK, MOST_PICKS, REPEATED = 75.0, 3, 0.08
"""n·ε of one pick of a median, which goes far astray once in 100 000. With δ = 0: how often each is picked at most, and
the share of all of them up to which that is more than once."""

PRIOR = 0.36
"""By how many records, as a share of n, any other median must be ahead of 0: the logarithm of how many there are, times
the noise of such a pick."""

SIZES, MOST, LEAST = 94.0, 0.3, 0.04
"""n·ε ÷ d of the columns' scales with δ = 0, for noise in a bin of 3 % of n; the largest share, and the least one."""

LEVELS, CLEAR = 48.0, 10.0
"""n·ε of the clip level there, for noise of 6 %, and so many times it where that is cheap."""

TAIL = 3.0
"""Wanted mass beyond the threshold, in units of the oracle's noise: there noise and bias of independent columns
balance, for tails of order about 3."""

LOUDEST = 0.06
"""Noise in the bins of a scale's histogram, as a share of n, beyond which it is no scale. Picks cost 36 % there."""


def least_order(problem: Problem) -> float:
    """Return the least tail order to believe: the stated moment's, or 2."""
    return problem.moment.order if problem.moment is not None else 2.0


def plan_centred_mean(recipe: str, oracle: MeanOracle, problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of a mean in private units.

    Raises
    ------
    BudgetError
        When n, d and the budget cannot carry private scales or, for δ = 0 and other oracles than `Clip`, medians; the
        sentence says how many rows would.
    """
    n, d, bits = problem.n, problem.d, grid_bits(problem.n)
    carry_groups(oracle, problem.n, problem, privacy)
    noise = CountNoise.of(privacy)
    preparation, drafts = _picked(problem, privacy) if privacy.pure else _counted(oracle, problem, privacy, noise)
    errors = _errors(oracle, privacy)
    served = [Draft("mean square", Clipped, d, SQUARE)] if errors is not None else []
    main = 1.0 - sum(draft.share for draft in [*drafts, *served])
    level = ClipLevel(min(TAIL * oracle.noise(d) * noise.of_one(main) / n, 0.5), least_order(problem))
    drafts.append(Draft("mean", oracle.kind, oracle.dimension(d), main))
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=PrivateMean(problem.domain, n, d, bits, oracle, preparation, level, errors),
        steps=assemble([*drafts, *served], privacy, bits),
        sources=(
            ("shares", "chosen on synthetic data"),
            ("threshold", f"tail mass {TAIL:g} × noise ÷ (n × budget), read off a private histogram"),
            ("predicted_error", MEAN_UNIT),
        ),
        predicted_error=mean_error(oracle, problem, noise, main),
    )


def _counted(
    oracle: MeanOracle, problem: Problem, privacy: Privacy, noise: CountNoise
) -> tuple[Preparation, list[Draft]]:
    """Return how medians and sizes are sought by counts, with their steps; medians by picks if counts carry none."""
    n, d, needed = problem.n, problem.d, not isinstance(oracle, Clip)
    preparation = preparation_for(problem, privacy, noise, d, CENTRE, medians=needed)
    centre, scale = CENTRE, SCALE
    if not preparation.medians:
        centre, scale = noise.of_picks(PICK, n, d), CENTRE + SCALE
        masses = noise.of_bisection(scale if d > 1 else SINGLE, 2, d) / n  # two counts of each histogram move
        carry("A private scale of every column", masses, LOUDEST, problem, privacy)
        preparation = replace(preparation, medians=True, picks=1, prior=PRIOR * n)
    preparation = replace(preparation, scaled=d > 1, pooled=d > 1)
    return preparation, [
        *feature_drafts(preparation, d, centre, scale),
        *pooled_drafts(preparation, POOLED),
        Draft("clip level", Octaves, CELLS, LEVEL if preparation.scaled else SINGLE),
    ]


def _picked(problem: Problem, privacy: Privacy) -> tuple[Preparation, list[Draft]]:
    """Return the same where δ = 0, by picks: the noise of a pick does not grow with its cells.

    Shares add up there, so that each is as much as its step takes, and no more.
    """
    d, total = problem.d, problem.n * privacy.epsilon
    each, sized = d / total, d > 1
    times = min(MOST_PICKS, max(1, int(REPEATED / (PICK * each))))
    preparation = Preparation(COARSE, scaled=sized, pooled=sized, scales=problem.scales, picks=times)
    preparation = replace(preparation, prior=PRIOR * problem.n)
    sizes = max(SIZES * each, LEAST)
    if "feature scale" in preparation.asked:
        carry("A private scale of every column", sizes, MOST, problem, privacy)
    carry("A private clip level", LEVELS / total, SINGLE, problem, privacy)
    level = min(max(CLEAR * LEVELS / total, LEAST), SINGLE)
    return preparation, [
        *feature_drafts(preparation, d, max(times * PICK * each, LEAST), sizes),
        *pooled_drafts(preparation, POOLED),
        Draft("clip level", Octaves, CELLS, level),
    ]


def _errors(oracle: MeanOracle, privacy: Privacy) -> float | None:
    """Return the standard deviation ÷ scale of the noise where the uncertainty is estimated: Gaussian, or Laplace."""
    if not isinstance(oracle, Clip):
        return None
    return math.sqrt(2.0) if privacy.pure else 1.0
