"""Several fits and a private choice among them, in one plan with one budget."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tailguard.domains.sparse import Sparse
from tailguard.domains.whole_space import WholeSpace
from tailguard.errors import BudgetError
from tailguard.losses.base import Loss
from tailguard.losses.multinomial import Multinomial
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step, composition
from tailguard.privacy.budget import Privacy
from tailguard.privacy.calibration import gdp_mu
from tailguard.privacy.composition import epsilon
from tailguard.privacy.events import Gaussian
from tailguard.recipes.draft import Draft
from tailguard.recipes.feasible import carry
from tailguard.recipes.sandwich import without_errors
from tailguard.solvers.picked import MAGNITUDES
from tailguard.solvers.selection import PER_COEFFICIENT, Candidate, ModelSelection, Scoring, step_name
from tailguard.statistics.base import grid_bits
from tailguard.statistics.ranks import Ranks
from tailguard.statistics.scores import Shifted

__all__ = ["Contender", "plan_selection"]

NAME = "selection"

CHOICE, LEVEL, USUAL = 0.07, 0.03, 0.01
"""Shares of the choice, of how far differences count, and of how large usual errors are."""

ORDER = 3.0
"""Tails of differences are carried on from a picked size as those of a law with so many moments."""

DOUBT = 1e-4
"""Probability with which a pick may be farther off than it is taken to be."""

FULL, AIM, SAFE, ROUNDS = 0.99, 0.997, 1.0 - 1e-6, 8
"""Least, wanted and largest part of the budget that is spent, and how often shares are corrected for it; a hair is left
for the rounding of the second accountant. Paper parameters may leave more."""


@dataclass(frozen=True)
class Contender:
    """A candidate, as a plan for any budget.

    Parameters
    ----------
    plan : callable
        From a budget to its plan on its own columns.
    columns : tuple of int or None
        Which columns; None is all of them.
    share : float
        Its part of what candidates get together.
    """

    plan: Callable[[Privacy], Plan]
    columns: tuple[int, ...] | None
    share: float


def plan_selection(
    contenders: Sequence[Contender], loss: Loss | Multinomial, n: int, d: int, privacy: Privacy, scoring: Scoring
) -> Plan:
    """Return the plan that fits every contender on all records and picks one.

    All fits and the choice use all records and share the budget: under Gaussian noise k fits on all of n records have
    √k times the noise of a single one, k fits on disjoint parts have k times as much, and larger sampling errors. The
    same holds for a part of the records that is held back for the choice. What a model gains on the records that it was
    fitted to is subtracted, as in Akaike's criterion.

    Raises
    ------
    BudgetError
        When a contender, or the choice, cannot be carried.
    """
    problem = Problem(loss, WholeSpace(d), n, d, intercept=True)
    plans, own = _fitting(contenders, privacy, scoring, problem)
    candidates = tuple(
        Candidate(plan.solver, contender.columns, _size(plan.problem))
        for plan, contender in zip(plans, contenders, strict=True)
    )
    named = {step.name: step for step in own}
    tail, widening = _tail(named, problem, privacy)
    pick, classes = named["choice"].multiplier, loss.classes if isinstance(loss, Multinomial) else None
    bits = grid_bits(problem.n)
    return Plan(
        recipe=NAME,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=ModelSelection(candidates, scoring, problem.n, problem.d, bits, tail, widening, pick, classes),
        steps=_steps(plans, contenders) + own,
        sources=(("shares", "equal for all candidates unless given"), ("choice", "clipped losses less Akaike's term")),
    )


def _fitting(
    contenders: Sequence[Contender], privacy: Privacy, scoring: Scoring, problem: Problem
) -> tuple[list[Plan], tuple[Step, ...]]:
    """Return the contenders' plans and the steps of the choice, whose costs together just fit the budget."""
    drafts = _drafts(scoring, len(contenders))
    left, part = 1.0 - sum(draft.share for draft in drafts), 1.0
    total = sum(contender.share for contender in contenders)
    found: tuple[list[Plan], tuple[Step, ...]] | None = None
    for _ in range(ROUNDS):
        # Intervals do not survive a choice: what they would cost goes to the fits.
        plans = [without_errors(c.plan(_part(privacy, part * left * c.share / total))) for c in contenders]
        scale = (1.0 / privacy.epsilon / part) if privacy.pure else 1.0 / (gdp_mu(privacy) * math.sqrt(part))
        own = tuple(draft.step(scale, grid_bits(problem.n), pure=privacy.pure) for draft in drafts)
        cost = epsilon(composition(_steps(plans, contenders) + own), privacy.delta)
        if cost <= SAFE * privacy.epsilon:
            found = plans, own
        if FULL <= cost / privacy.epsilon <= SAFE:
            break
        part *= min(_size_of(privacy) / _size_of(Privacy(cost, privacy.delta)) * AIM, 2.0)
    if found is None:
        raise BudgetError(f"The budget {privacy} does not carry these candidates together.")
    return found


def _drafts(scoring: Scoring, count: int) -> list[Draft]:
    drafts = []
    if scoring not in PER_COEFFICIENT:
        drafts.append(Draft("usual error", Ranks, MAGNITUDES, USUAL, picks=1))
    if scoring != "error_rate":
        drafts.append(Draft("choice level", Ranks, MAGNITUDES, LEVEL, picks=1))
    return [*drafts, Draft("choice", Shifted, count, CHOICE, picks=1)]


def _size_of(privacy: Privacy) -> float:
    """Return what adds up: ε, or μ² of Gaussian noise."""
    return privacy.epsilon if privacy.pure else gdp_mu(privacy) ** 2


def _part(privacy: Privacy, share: float) -> Privacy:
    """Return a budget of which so many parts make up the whole: in ε, or in μ² of Gaussian noise."""
    if privacy.pure:
        return Privacy(share * privacy.epsilon, 0.0)
    mu = gdp_mu(privacy) * math.sqrt(share)
    return Privacy(epsilon(Gaussian(1.0 / mu), privacy.delta), privacy.delta)


def _steps(plans: Sequence[Plan], contenders: Sequence[Contender]) -> tuple[Step, ...]:
    return tuple(
        replace(step, name=step_name(number, step.name), columns=contender.columns)
        for number, (plan, contender) in enumerate(zip(plans, contenders, strict=True))
        for step in plan.steps
    )


def _tail(named: dict[str, Step], problem: Problem, privacy: Privacy) -> tuple[float, float]:
    """Return the share of records beyond the picked size of a difference, and how much farther one counts."""
    noise = named["choice"].multiplier / problem.n
    carry("A choice among models", noise, 0.5, problem, privacy, "candidates")
    if "choice level" not in named:
        return 0.5, 1.0
    level = named["choice level"]
    rank = level.multiplier * math.log(level.dimension / DOUBT) / problem.n
    carry("A private level of losses", rank, 0.5, problem, privacy, "candidates")
    tail = max(rank, noise)
    return tail, (tail / noise) ** (1.0 / ORDER)


def _size(problem: Problem) -> float:
    """Return how many coefficients a model has, or what counts as such where columns are sought."""
    d, intercept = problem.domain.dimension, problem.intercept
    if isinstance(problem.domain, Sparse):
        s = problem.domain.sparsity
        return min(s * (1.0 + 2.0 * math.log(d / s)), float(d)) + intercept
    free = problem.loss.classes - 1 if isinstance(problem.loss, Multinomial) else 1  # scores of all classes may shift
    return float((d + intercept) * free)
