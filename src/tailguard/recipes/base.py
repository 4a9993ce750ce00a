"""What a recipe is: public facts and a budget in, a plan out. It never sees a record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tailguard._validate import choice, refuse
from tailguard.errors import ParameterError, TailguardError
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.feasible import TooFewRowsError

__all__ = ["Parameters", "Planner", "Recipe", "Task"]

Parameters = Literal["practical", "paper"]
Task = Literal["mean", "regression", "classes"]
Planner = Callable[[Problem, Privacy], Plan]


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
        choice("parameters", parameters, self.name, ("practical", "paper"))
        planner = self.planners.get((task, parameters))
        if planner is None:
            known = ", ".join(f"{task} ({kind})" for task, kind in sorted(self.planners))
            raise ParameterError(
                f"The '{self.name}' method has no {parameters!r} parameters for task {task!r}; it has: {known}."
            )
        if parameters == "paper" and problem.scales is not None:
            raise refuse("scales", f"{self.name} with parameters='paper'", "None: no theorem has any", problem.scales)
        try:
            return planner(problem, privacy)
        except TooFewRowsError as refusal:
            rows = _enough(planner, problem, privacy, refusal.rows)
            raise TooFewRowsError.of(refusal.what, rows, problem, privacy) from None


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
