"""The practical parameters of `gradient_mapping`: private units, nested nets, all records for every pick."""

from tailguard._validate import refuse
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.pure_fit import RESIDUAL, PureFit, pure_fit
from tailguard.recipes.pure_units import pick_share
from tailguard.solvers.net import Net
from tailguard.solvers.net_search import NetSearch
from tailguard.solvers.rank_level import CANDIDATES
from tailguard.statistics.base import grid_bits
from tailguard.statistics.gradient_mapping import GradientMapping
from tailguard.statistics.ranks import Ranks

__all__ = ["plan_search"]

MOST_DIMENSIONS = 3

PARTS = (0.08, 0.08, 0.14, 0.7)
"""What each pick gets of their share: an early one only has to shorten a distance."""

PULL = 3.0
"""How strongly a pick is pulled from the end of the net towards the null model, in units of its noise."""

SIDES = {1: 13, 2: 13, 3: 9}
LEVELS, SHRINK, REACH = 8, 3.0, 8.0
"""Of the nets: points along an axis, cubes, how much smaller each is, and the largest coefficient in private units."""

ROOM = 1.5
"""Clip level of the last pick, in units of what it would be with usual residuals there."""


def plan_search(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `NetSearch`.

    Disjoint blocks would gain nothing: a share of ε on all records has the noise of all of ε on that share of the
    records, and less sampling error.

    Raises
    ------
    BudgetError
        When n, d and ε cannot carry private units; the sentence says how many rows would.
    """
    found, bits = pure_fit(problem, privacy, "gradient_mapping"), grid_bits(problem.n)
    if found.k > MOST_DIMENSIONS:
        rule = f"such that at most {MOST_DIMENSIONS} coefficients, with the intercept, are fitted"
        raise refuse("d", "gradient_mapping", rule, problem.d)
    unbounded = found.loss.lipschitz is None and found.units is not None
    pick = pick_share(problem, privacy) if unbounded else 0.0
    left, net = found.main - pick, Net(SIDES[found.k], REACH, LEVELS, SHRINK)
    nets = [Draft("net", GradientMapping, net.count(found.k), left * part, picks=1) for part in PARTS]
    if unbounded:
        nets.insert(-1, Draft("gradient level", Ranks, CANDIDATES, pick, picks=1))
    return Plan(
        recipe="gradient_mapping",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=NetSearch(
            loss=found.loss,
            domain=problem.domain,
            n=problem.n,
            d=problem.d,
            bits=bits,
            intercept=problem.intercept,
            units=found.units,
            width=found.width,
            clip=found.clip,
            net=net,
            picks=tuple(_ridge(found, left * part) for part in PARTS),
            level=ROOM * found.clip / RESIDUAL if unbounded else None,
            ending=found.ending,
        ),
        steps=assemble([*found.before, *nets, *found.after], privacy, bits),
        sources=(("shares, nets, clip level", "chosen on synthetic development data"),),
    )


def _ridge(found: PureFit, share: float) -> float:
    """Return the ridge that pulls by `PULL` noises of a pick at the end of the net, in units of the clip level."""
    return PULL * 4.0 / (share * found.total * REACH)
