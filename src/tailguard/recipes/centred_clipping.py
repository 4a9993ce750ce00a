"""Means with no prior knowledge: private centre and scale of each column, then one clipped mean."""

from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import feature_drafts, preparation_for
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.oracles import Clip
from tailguard.solvers.private_mean import PrivateMean
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.octaves import Octaves

__all__ = ["RECIPE", "plan_mean"]

CENTRE, SCALE, LEVEL = 0.06, 0.06, 0.06
"""Shares of the budget; the rest goes to the mean."""

TAIL = 3.0
"""Wanted mass beyond the clip level is TAIL·d ÷ (n × budget): there noise and clipping bias of independent columns
balance, for tails of order about 3."""

ORDER = 3.0
"""Tail order used to reach beyond what counts can resolve, when the user states no moment."""


def plan_mean(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of a centred and clipped mean.

    Raises
    ------
    BudgetError
        When n, d and the budget cannot carry private medians; the sentence says how many rows would.
    """
    n, d, bits = problem.n, problem.d, grid_bits(problem.n)
    noise = CountNoise.of(privacy)
    preparation = preparation_for(problem, privacy, noise, d, CENTRE)
    main = 1.0 - CENTRE - SCALE - LEVEL
    order = problem.moment.order if problem.moment is not None else ORDER
    level = ClipLevel(min(TAIL * d * noise.of_one(main) / n, 0.5), order)
    drafts = [
        *feature_drafts(preparation, d, CENTRE, SCALE),
        Draft("clip level", Octaves, CELLS, LEVEL),
        Draft("mean", Clipped, d, main),
    ]
    return Plan(
        recipe="centred_clipping",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=PrivateMean(problem.domain, n, d, bits, Clip(1.0), preparation, level),
        steps=assemble(drafts, privacy, bits),
        sources=(
            (
                "shares",
                f"centres {CENTRE}, scales {SCALE}, clip level {LEVEL}, mean {main:.2f}; chosen on synthetic data",
            ),
            ("clip level", f"tail mass {TAIL:g}·d ÷ (n × budget), extrapolated with tail order {order:g}"),
        ),
    )


RECIPE = Recipe(
    name="centred_clipping",
    source="tailguard; the last step is Zhao et al. 2024, Algorithm 2",
    summary="Private median and scale of each column, then one ℓ2-clipped mean; nothing is assumed known.",
    planners={("mean", "practical"): plan_mean},
)
