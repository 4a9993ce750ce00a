"""The practical parameters of `gradient_mapping`: private units, nested nets, all records for every pick."""

import math

from tailguard._validate import refuse
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, COMFORT, FINE, LIMIT
from tailguard.recipes.pure_fit import KINK, MARGIN, WIDEST
from tailguard.solvers.net import Net
from tailguard.solvers.net_search import NetSearch
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.rank_level import CANDIDATES
from tailguard.statistics.base import grid_bits
from tailguard.statistics.below import Below
from tailguard.statistics.gradient_mapping import GradientMapping
from tailguard.statistics.ranks import Ranks

__all__ = ["plan_search"]

MOST_DIMENSIONS = 3

TARGET_CENTRE, CENTRE, SCALE, LEVEL = 0.06, 0.1, 0.06, 0.06
"""Shares of the medians of target and columns, of all scales together, and of the clip levels; picks get the rest."""

PARTS = ((0.1, 0.1, 0.1), (0.1, 0.15, 0.45))
"""What each pick gets of their share, before and after the second search for the clip level: an early one only has to
halve a distance."""

PULL = 3.0
"""How strongly a pick is pulled from the end of the net towards 0, in units of its noise."""

SIDES = {1: 13, 2: 13, 3: 7}
LEVELS, SHRINK, REACH = 8, 3.0, 8.0
"""Of the nets: points along an axis, cubes, how much smaller each is, and the largest coefficient in private units."""

NARROWEST, GROWTH, BOUNDED = 2.0, 0.22, 0.15
"""The clip level is GROWTH·√(n/(noise·k)) medians of the gradients' norms (BOUNDED for losses of bounded slope, whose
gradients have lighter tails), and at least NARROWEST. Narrower, clipping moves the minimiser of skewed data."""

RANK_NOISE = 0.4
"""Noise of a quantile's rank, as a share of n, beyond which it may lie anywhere."""

ROUGH = 2**6
"""Edges an octave where the budget carries no more: a resolution of 1 %. The intercept makes up for it."""

BITS = 24


def plan_search(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `NetSearch`.

    Disjoint blocks would gain nothing: a share of ε on all records has the noise of all of ε on that share of the
    records, and less sampling error.

    Raises
    ------
    BudgetError
        When n, d and the budget cannot carry the private preparation; the sentence says how many rows would.
    """
    loss, noise, k = problem.loss, CountNoise.of(privacy), problem.d + problem.intercept
    if not isinstance(loss, Loss):
        raise refuse("loss", "gradient_mapping", "a loss of predictions", loss)
    if k > MOST_DIMENSIONS:
        rule = f"such that at most {MOST_DIMENSIONS} coefficients, with the intercept, are fitted"
        raise refuse("d", "gradient_mapping", rule, problem.d)
    scaled, bits = isinstance(loss, ResidualLoss), min(BITS, grid_bits(problem.n))
    target = _medians(problem, noise, 1, TARGET_CENTRE) if scaled and problem.intercept else None
    centres = _medians(problem, noise, problem.d, CENTRE) if problem.intercept else None
    drafts = _drafts(problem, target, centres, scaled)
    _carry(problem, privacy, drafts)
    left = 1.0 - LEVEL - sum(draft.share for draft in drafts)
    solver = NetSearch(
        loss=loss,
        domain=problem.domain,
        n=problem.n,
        d=problem.d,
        bits=bits,
        intercept=problem.intercept,
        target=target if target is not None or not scaled else Preparation(ROUGH, centred=False, scaled=False),
        centres=centres,
        net=Net(SIDES[k], REACH, LEVELS, SHRINK),
        picks=tuple(tuple(_ridge(noise, left * part, problem.n) for part in parts) for parts in PARTS),
        width=_width(loss, problem.n / (noise.of_one(1.0) * k)),
        rounding=min(WIDEST, (KINK if scaled else MARGIN) / math.sqrt(problem.n / (noise.of_one(1.0) * k))),
    )
    return Plan(
        recipe="gradient_mapping",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble([*drafts, *_picks(solver.net.count(k), left)], privacy, bits),
        sources=(("shares, nets, clip level", "chosen on synthetic development data"),),
    )


def _medians(problem: Problem, noise: CountNoise, scalars: int, share: float) -> Preparation:
    """Return the finest grid on which the budget carries so many medians."""
    for substeps in (FINE, COARSE):
        found = Preparation(substeps, scaled=False)
        if noise.of_bisection(share, found.grid.depth, scalars) / problem.n <= COMFORT:
            return found
    return Preparation(ROUGH, scaled=False)


def _drafts(problem: Problem, target: Preparation | None, centres: Preparation | None, scaled: bool) -> list[Draft]:
    drafts = []
    if target is not None:
        drafts.append(Draft("target centre", Below, 1, TARGET_CENTRE, target.grid.depth))
    each = SCALE / (problem.d + scaled)
    if scaled:
        drafts.append(Draft("target scale", Ranks, CANDIDATES, each, picks=1))
    if centres is not None:
        drafts.append(Draft("feature centre", Below, problem.d, CENTRE, centres.grid.depth))
    return [*drafts, Draft("feature scale", Ranks, CANDIDATES, each * problem.d, problem.d, picks=1)]


def _carry(problem: Problem, privacy: Privacy, drafts: list[Draft]) -> None:
    noise = CountNoise.of(privacy)
    share = min(LEVEL / len(PARTS), SCALE / (problem.d + 1))
    rank = (math.log(CANDIDATES) + 2.0) * noise.of_one(share) * math.sqrt(2.0) / problem.n
    carry("A private scale", rank, RANK_NOISE, problem, privacy)
    for draft in drafts:
        if draft.statistic is Below:
            ranks = noise.of_bisection(draft.share, draft.count, draft.dimension) / problem.n
            carry("A private median", ranks, LIMIT, problem, privacy)


def _width(loss: Loss, strength: float) -> float:
    growth = GROWTH if loss.lipschitz is None else BOUNDED
    return max(NARROWEST, growth * math.sqrt(strength))


def _ridge(noise: CountNoise, share: float, n: int) -> float:
    """Return the ridge that pulls by `PULL` noises of a pick at the end of the net, in units of the clip level."""
    scale = noise.of_one(share) * (math.sqrt(2.0) if noise.pure else 1.0)
    return PULL * 2.0 * scale / (n * REACH)


def _picks(points: int, left: float) -> list[Draft]:
    """Return clip levels and picks in the order in which the solver asks."""
    drafts = []
    for parts in PARTS:
        drafts.append(Draft("clip level", Ranks, CANDIDATES, LEVEL / len(PARTS), picks=1))
        drafts.extend(Draft("net", GradientMapping, points, left * part, picks=1) for part in parts)
    return drafts
