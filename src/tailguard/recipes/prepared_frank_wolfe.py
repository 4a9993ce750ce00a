"""Frank–Wolfe after private preparation: the practical parameters of `frank_wolfe` and `shrunken_lasso`."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise

from tailguard._validate import refuse
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, COMFORT, FINE, LIMIT
from tailguard.solvers.entries import Entries
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.prepared_frank_wolfe import LENGTHS, PreparedFrankWolfe
from tailguard.solvers.rank_level import CANDIDATES
from tailguard.solvers.scales import Scales
from tailguard.solvers.vertices import hull, score_count, score_type
from tailguard.statistics.base import grid_bits
from tailguard.statistics.below import Below
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.ranks import Ranks
from tailguard.statistics.scores import Nearest

__all__ = ["plan_walk"]

CENTRE, SCALE, LEVELS, INTERCEPTS, WAY_LEVEL, WAY = 0.04, 0.02, 0.06, 0.03, 0.02, 0.06
"""Shares of the centre of the target and of the columns, each; of the target's scale and of the common one, each; of
the slopes' sizes, the intercepts, and the choice of how far to go; the picks get the rest."""

ROUGH = 2**6
"""Edges an octave where the budget carries no more: a resolution of 1 %. The intercept makes up for it."""

REFRESHES = 3

FEWEST, MOST = 4, 300
"""Limits of the number of steps."""

LEAST_SIGNAL, LEAST_NOISE = 0.5, 1e-30
"""A correlation below which a pick among all vertices may be noise at the fewest steps; and no noise at all."""

WAY_NOISE, LEAST_COUNTED, MOST_COUNTED = 0.01, 3.0, 100.0
"""Noise of that choice, in medians of what a record counts, that is worth a wider limit; and limits of that limit."""

LUCK = 1.0
"""What a vertex that is picked for the records' noise wins, in units of √(n·ln|V|) median records."""

RANK_NOISE = 0.4
"""Noise of a quantile's rank, as a share of n, beyond which it may lie anywhere."""

BALANCE = 4.0
"""Optimisation error of a single step ÷ noise of a single pick, in units of the noise."""

UNCENTRED = 2.0
"""How much wider entries are bounded where columns are not centred."""

GROWTH = 0.3
"""Entries are bounded at GROWTH·(signal ÷ noise)^(1/4) of their usual size, at least at that (Hu et al. 2022, Theorem
5: there noise and bias balance)."""

SOURCES = (
    ("steps", "balance of optimisation error and noise"),
    ("shares, entries", "chosen on synthetic development data"),
)
"""Where a plan's numbers come from."""


def plan_walk(recipe: str, entries: Entries, problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `PreparedFrankWolfe`.

    T = √(nε/ln|V|) for δ = 0, where the noise of a pick grows with T, and (nμ/ln|V|)^(2/3) else, where it grows with
    √T: the optimisation error of T steps, of order 1/T, is then of the order of that noise.

    Raises
    ------
    BudgetError
        When n, |V| and the budget cannot carry a few picks or the preparation; the sentence says how many rows would.
    """
    domain, noise = hull(problem.domain, recipe), CountNoise.of(privacy)
    if not isinstance(problem.loss, Loss):
        raise refuse("loss", recipe, "a loss of predictions", problem.loss)
    scaled = isinstance(problem.loss, ResidualLoss)
    known = problem.scales or Scales()
    target = replace(_medians(problem, noise, 1), centred=problem.intercept) if scaled else None
    own = noise.of_bisection(CENTRE, Preparation(COARSE).grid.depth, problem.d) / problem.n <= LIMIT
    sought = problem.intercept and known.centres is None
    centres = _medians(problem, noise, problem.d if own else 1) if sought else None
    _carry_preparation(problem, privacy, target)
    prepared = _preparation_drafts(problem, target, centres, not own)
    main = 1.0 - sum(draft.share for draft in prepared) - LEVELS * scaled - INTERCEPTS * problem.intercept
    walk = _Walk(problem, privacy, math.log(1 + score_count(domain)), main - WAY_LEVEL - WAY)
    solver = PreparedFrankWolfe(
        loss=problem.loss,
        domain=domain,
        n=problem.n,
        d=problem.d,
        bits=grid_bits(problem.n),
        intercept=problem.intercept,
        target=target,
        centres=centres,
        common=not own,
        entries=replace(entries, threshold=entries.threshold * walk.width),
        slope=None if scaled else 0.5 * (problem.loss.lipschitz or 1.0),
        steps=walk.steps,
        refreshes=REFRESHES,
        counted=min(max(WAY_NOISE * problem.n / _pick(noise, WAY), LEAST_COUNTED), MOST_COUNTED),
        luck=LUCK * math.sqrt(problem.n * walk.logs),
        scales=problem.scales,
    )
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble([*prepared, *_walk_drafts(solver, walk.share)], privacy, solver.bits),
        sources=SOURCES,
    )


@dataclass(frozen=True)
class _Walk:
    """How many picks the budget carries, and how widely entries may be bounded.

    Parameters
    ----------
    problem, privacy : Problem, Privacy
        The public facts.
    logs : float
        ln|V|.
    share : float
        The picks' share of the budget.
    """

    problem: Problem
    privacy: Privacy
    logs: float
    share: float

    def noise(self, steps: int) -> float:
        """Return the noise of each of T picks: shares of ε add up linearly, those of μ² as squares."""
        noise = CountNoise.of(self.privacy)
        # Rows and slopes have size 1, so that a score moves by 2.
        single = 2.0 * self.logs * _pick(noise, self.share) / self.problem.n
        return max(single, LEAST_NOISE) * (steps if noise.pure else math.sqrt(steps))

    @property
    def steps(self) -> int:
        """Return T, or raise if not even a few steps can be carried."""
        carry("A pick among all vertices", self.noise(FEWEST), LEAST_SIGNAL, self.problem, self.privacy)
        steps = math.pow(BALANCE / self.noise(1), 1.0 / 2.0 if self.privacy.pure else 2.0 / 3.0)
        return round(min(max(steps, FEWEST), MOST))

    @property
    def width(self) -> float:
        """Return where entries are bounded, in units of the recipe's choice."""
        growth = GROWTH * math.pow(self.noise(self.steps), -0.25)
        return max(1.0, growth) * (1.0 if self.problem.intercept else UNCENTRED)


def _medians(problem: Problem, noise: CountNoise, scalars: int) -> Preparation:
    """Return the finest grid on which the budget carries so many medians."""
    for substeps in (FINE, COARSE):
        found = Preparation(substeps, scaled=False)
        if noise.of_bisection(CENTRE, found.grid.depth, scalars) / problem.n <= COMFORT:
            return found
    return Preparation(ROUGH, scaled=False)


def _preparation_drafts(
    problem: Problem, target: Preparation | None, centres: Preparation | None, common: bool
) -> list[Draft]:
    drafts, known = [], problem.scales or Scales()
    if target is not None and target.centred and known.target_centre is None:
        drafts.append(Draft("target centre", Below, 1, CENTRE, target.grid.depth))
    if target is not None and known.target is None:
        drafts.append(Draft("target scale", Ranks, CANDIDATES, SCALE, picks=1))
    if centres is not None:
        name, count = ("common centre", 1) if common else ("feature centre", problem.d)
        drafts.append(Draft(name, Below, count, CENTRE, centres.grid.depth))
    return [*drafts, *([Draft("common scale", Ranks, CANDIDATES, SCALE, picks=1)] if known.features is None else [])]


def _pick(noise: CountNoise, share: float) -> float:
    """Return the scale of the noise of one pick with this share, for scores that move by 1: 2/ε, or 1/μ."""
    return noise.of_one(share) * (math.sqrt(2.0) if noise.pure else 1.0)


def _carry_preparation(problem: Problem, privacy: Privacy, target: Preparation | None) -> None:
    noise, asked, known = CountNoise.of(privacy), REFRESHES + problem.intercept, problem.scales or Scales()
    rank = (math.log(CANDIDATES) + 2.0) * _pick(noise, min(SCALE, LEVELS / asked, WAY_LEVEL)) / problem.n
    carry("A private scale", rank, RANK_NOISE, problem, privacy)
    if target is not None and target.centred and known.target_centre is None:
        ranks = noise.of_bisection(CENTRE, target.grid.depth) / problem.n
        carry("A private median of the target", ranks, LIMIT, problem, privacy)


def _walk_drafts(solver: PreparedFrankWolfe, main: float) -> list[Draft]:
    """Return the steps in the order in which the solver asks."""
    asked = solver.refreshes + solver.intercept
    refresh = [] if solver.slope is not None else [Draft("slope level", Ranks, CANDIDATES, LEVELS / asked, picks=1)]
    if solver.intercept:
        refresh.append(Draft("intercept", Clipped, 1, INTERCEPTS / asked))
    kind, vertices = score_type(solver.domain), score_count(solver.domain)
    starts = [part * solver.steps // solver.refreshes for part in range(solver.refreshes + 1)]
    drafts: list[Draft] = []
    for begin, end in pairwise(starts):
        picks = Draft("vertex", kind, vertices, main * (end - begin) / solver.steps, end - begin, picks=1)
        drafts.extend([*refresh, picks])
    return [
        *drafts,
        *(refresh if solver.intercept else []),
        Draft("way level", Ranks, CANDIDATES, WAY_LEVEL, picks=1),
        Draft("way", Nearest, LENGTHS.size, WAY, picks=1),
    ]
