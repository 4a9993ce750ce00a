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
from tailguard.recipes.preparation import feature_drafts, pooled_drafts, preparation_for
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

TAIL = 3.0
"""Wanted mass beyond the threshold, in units of the oracle's noise: there noise and bias of independent columns
balance, for tails of order about 3."""

LOUDEST = 0.06
"""Noise in the bins of a scale's histogram, as a share of n, beyond which it is no scale. Above the noise that a median
of every column takes, and below that, a mean goes without centres: it is as exact as the sizes of columns allow."""


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
    needed = privacy.pure or not isinstance(oracle, Clip)
    preparation = preparation_for(problem, privacy, noise, d, CENTRE, medians=needed)
    if not preparation.medians:
        masses = noise.of_bisection(CENTRE + SCALE if d > 1 else SINGLE, 2, d) / n  # two counts of each histogram move
        carry("A private scale of every column", masses, LOUDEST, problem, privacy)
    preparation = replace(preparation, scaled=d > 1, pooled=d > 1)
    drafts, errors = _preparation_drafts(preparation, d), _errors(oracle, privacy)
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


def _errors(oracle: MeanOracle, privacy: Privacy) -> float | None:
    """Return the standard deviation ÷ scale of the noise where the uncertainty is estimated: Gaussian, or Laplace."""
    if not isinstance(oracle, Clip):
        return None
    return math.sqrt(2.0) if privacy.pure else 1.0


def _preparation_drafts(preparation: Preparation, d: int) -> list[Draft]:
    return [
        *feature_drafts(preparation, d, CENTRE, SCALE if preparation.medians else CENTRE + SCALE),
        *pooled_drafts(preparation, POOLED),
        Draft("clip level", Octaves, CELLS, LEVEL if preparation.scaled else SINGLE),
    ]
