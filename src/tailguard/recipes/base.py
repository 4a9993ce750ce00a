"""What a recipe is: public facts and a budget in, a plan out. It never sees a record."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tailguard._validate import choice, refuse
from tailguard.domains.base import Domain
from tailguard.domains.l1_ball import L1Ball
from tailguard.domains.simplex import Simplex
from tailguard.domains.sparse import Sparse
from tailguard.domains.whole_space import WholeSpace
from tailguard.errors import ParameterError, TailguardError
from tailguard.losses.custom import CustomLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.feasible import FEATURES, TooFewRowsError, round_up

__all__ = ["Parameters", "Planner", "Recipe", "Task", "planned"]

Parameters = Literal["practical", "paper"]
Task = Literal["mean", "regression", "classes"]
Planner = Callable[[Problem, Privacy], Plan]

LARGEST_EPSILON = 10.0
"""A larger one is nobody's advice."""

CLOSE = 1.05
"""Between a number of rows that is refused and one that is not."""


@dataclass(frozen=True)
class Recipe:
    """A named way to turn public facts into a plan.

    Parameters
    ----------
    name : str
        What users call it.
    source : str
        Paper and algorithm, or where the idea comes from.
    summary : str
        One sentence.
    planners : mapping from (task, parameters) to planner
        What it can do, and how.
    """

    name: str
    source: str
    summary: str
    planners: Mapping[tuple[str, str], Planner]

    @property
    def tasks(self) -> tuple[str, ...]:
        """What it can fit."""
        return tuple(sorted({task for task, _ in self.planners}))

    def plan(self, task: Task, problem: Problem, privacy: Privacy, parameters: Parameters = "practical") -> Plan:
        """Return the plan for these public facts, or raise the reason why there is none."""
        return planned(self.planner(task, problem, parameters), problem, privacy)

    def planner(self, task: Task, problem: Problem, parameters: Parameters = "practical") -> Planner:
        """Return what plans the task with these parameters."""
        choice("parameters", parameters, self.name, ("practical", "paper"))
        planner = self.planners.get((task, parameters))
        if planner is None:
            known = ", ".join(f"{task} ({kind})" for task, kind in sorted(self.planners))
            raise ParameterError(
                f"The '{self.name}' method has no {parameters!r} parameters for task {task!r}; it has: {known}."
            )
        if parameters == "paper" and problem.scales is not None:
            raise refuse("scales", f"{self.name} with parameters='paper'", "None: no theorem has any", problem.scales)
        return planner


def planned(planner: Planner, problem: Problem, privacy: Privacy) -> Plan:
    """Return a plan, or raise a refusal that says how many rows, or which ε, would do: they were tried."""
    try:
        return planner(problem, privacy)
    except TooFewRowsError as refusal:
        rows = _fewest(planner, problem, privacy, _enough(planner, problem, privacy, refusal.rows))
        epsilon = _richer(planner, problem, privacy, rows)
        # A promise without a δ is the stronger one, but its methods are others, and some need fewer rows.
        pure = not privacy.pure and _carried(planner, problem, replace(privacy, delta=0.0))
        hopeless = refusal.fewer == FEATURES and _none_is_few_enough(planner, problem, privacy)
        fewer = "" if hopeless else refusal.fewer
        raise TooFewRowsError.of(refusal.what, rows, problem, privacy, epsilon, fewer, pure) from None


def _enough(planner: Planner, problem: Problem, privacy: Privacy, rows: int) -> int:
    """Return a number of rows at which nothing else is refused either."""
    for _ in range(10):  # one round for each kind of refusal is enough
        try:
            planner(replace(problem, n=rows), privacy)
        except TooFewRowsError as refusal:
            rows = max(refusal.rows, rows + 1)
        except TailguardError:  # more rows than anyone has
            break
        else:
            break
    return rows


def _fewest(planner: Planner, problem: Problem, privacy: Privacy, rows: int) -> int:
    """Return about the fewest rows that will do: with fewer than `rows` another recipe may be the automatic choice."""
    low, high = problem.n, rows
    while high > max(CLOSE * low, low + 1):
        middle = max(low + 1, math.isqrt(low * high))
        if _carried(planner, replace(problem, n=middle), privacy):
            high = middle
        else:
            low = middle
    return math.ceil(round_up(high))


def _richer(planner: Planner, problem: Problem, privacy: Privacy, rows: int) -> float:
    """Return an ε at which nothing is refused, infinite where none that promises anything does it."""
    epsilon = round_up(privacy.epsilon * rows / problem.n)  # noise falls like 1 ÷ (n·ε)
    while epsilon <= LARGEST_EPSILON:
        if _carried(planner, problem, replace(privacy, epsilon=epsilon)):
            return epsilon
        epsilon = round_up(1.2 * epsilon)
    return math.inf


def _none_is_few_enough(planner: Planner, problem: Problem, privacy: Privacy) -> bool:
    """Return whether a single feature would be refused too, as far as there is such a problem."""
    domain = problem.domain
    if isinstance(domain, L1Ball | Simplex):
        narrow: Domain = replace(domain, dimension=1)
    elif isinstance(domain, Sparse):
        narrow = replace(domain, dimension=1, sparsity=1)
    else:
        narrow = WholeSpace(1)
    if problem.scales is not None or isinstance(problem.loss, CustomLoss):
        return False
    return not _carried(planner, replace(problem, d=1, domain=narrow), privacy)


def _carried(planner: Planner, problem: Problem, privacy: Privacy) -> bool:
    try:
        planner(problem, privacy)
    except TailguardError:
        return False
    return True
