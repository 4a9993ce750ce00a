"""Practical means: private centre and scale of each column, a private threshold, then one release of any oracle."""

from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry_groups
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import feature_drafts, preparation_for
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.private_mean import PrivateMean
from tailguard.statistics.base import grid_bits
from tailguard.statistics.octaves import Octaves

__all__ = ["ORDER", "TAIL", "plan_centred_mean"]

CENTRE, SCALE, LEVEL = 0.06, 0.06, 0.06
"""Shares of the budget; the rest goes to the mean."""

TAIL = 3.0
"""Wanted mass beyond the threshold, in units of the oracle's noise: there noise and bias of independent columns
balance, for tails of order about 3."""

ORDER = 3.0
"""Tail order used to reach beyond what counts can resolve, when the user states no moment."""


def plan_centred_mean(recipe: str, oracle: MeanOracle, problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of a mean in private units.

    Raises
    ------
    BudgetError
        When n, d and the budget cannot carry private medians; the sentence says how many rows would.
    """
    n, d, bits = problem.n, problem.d, grid_bits(problem.n)
    carry_groups(oracle, problem.n, problem, privacy)
    noise = CountNoise.of(privacy)
    preparation = preparation_for(problem, privacy, noise, d, CENTRE)
    main = 1.0 - CENTRE - SCALE - LEVEL
    order = problem.moment.order if problem.moment is not None else ORDER
    level = ClipLevel(min(TAIL * oracle.noise(d) * noise.of_one(main) / n, 0.5), order)
    drafts = [
        *feature_drafts(preparation, d, CENTRE, SCALE),
        Draft("clip level", Octaves, CELLS, LEVEL),
        Draft("mean", oracle.kind, oracle.dimension(d), main),
    ]
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=PrivateMean(problem.domain, n, d, bits, oracle, preparation, level),
        steps=assemble(drafts, privacy, bits),
        sources=(
            (
                "shares",
                f"centres {CENTRE}, scales {SCALE}, threshold {LEVEL}, mean {main:.2f}; chosen on synthetic data",
            ),
            ("threshold", f"tail mass {TAIL:g} × noise ÷ (n × budget), extrapolated with tail order {order:g}"),
        ),
    )
