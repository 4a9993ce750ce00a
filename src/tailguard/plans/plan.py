"""The plan: plain frozen data that says everything that will be done, before any record is read."""

from dataclasses import dataclass
from typing import Any, Literal

from tailguard._validate import choice, real, refuse
from tailguard.plans.checks import instance, store
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step, composition
from tailguard.privacy.budget import Privacy
from tailguard.privacy.events import Event
from tailguard.solvers.base import Solver

__all__ = ["RELATION", "SCHEMA", "Plan"]

SCHEMA = 1
RELATION = "replace-one"


@dataclass(frozen=True)
class Plan:
    """Public facts turned into numbers by a recipe.

    Parameters
    ----------
    recipe : str
        Name of the recipe that made it.
    parameters : {"practical", "paper"}
        Which of the recipe's parameter sets.
    problem : Problem
        The public facts.
    privacy : Privacy
        The budget that was asked for; without its δ where "auto" leaves that unspent, which `sources` say then.
    solver : Solver
        The data-free iteration, with its arguments.
    steps : tuple of Step
        Every release, in order.
    sources : tuple of (str, str)
        Where each number comes from.
    predicted_error : float or None
        What error to expect, from public facts alone; `sources` says in which units. It steers nothing.
    schema : int
        Version of this format.
    relation : str
        Neighbouring relation: data sets of the same public size n that differ in one record.
    """

    recipe: str
    parameters: Literal["practical", "paper"]
    problem: Problem
    privacy: Privacy
    solver: Solver
    steps: tuple[Step, ...]
    sources: tuple[tuple[str, str], ...] = ()
    predicted_error: float | None = None
    schema: int = SCHEMA
    relation: str = RELATION

    def __post_init__(self) -> None:
        instance("recipe", self.recipe, "Plan", str, "a string")
        choice("parameters", self.parameters, "Plan", ("practical", "paper"))
        instance("problem", self.problem, "Plan", Problem, "a Problem")
        instance("privacy", self.privacy, "Plan", Privacy, "a Privacy")
        instance("solver", self.solver, "Plan", Solver, "a Solver")
        if not isinstance(self.steps, tuple) or not all(isinstance(step, Step) for step in self.steps):
            raise refuse("steps", "Plan", "a tuple of Steps", type(self.steps).__name__)
        if not isinstance(self.sources, tuple) or not all(map(_is_source, self.sources)):
            raise refuse("sources", "Plan", "a tuple of pairs of strings", type(self.sources).__name__)
        if self.predicted_error is not None:
            store(self, predicted_error=real("predicted_error", self.predicted_error, "Plan", at_least=0.0))

    @property
    def event(self) -> Event:
        """Return the event tree of the whole plan."""
        return composition(self.steps)

    def __str__(self) -> str:
        """Return a line for all releases of a name; `tailguard.report.summary` explains them."""
        facts = f"{self.problem.loss.name} loss, {self.problem.n} rows, {self.problem.d} columns"
        head = f"Plan of {self.recipe} ({self.parameters} parameters): {facts}, {self.privacy}, {self.relation}"
        named: dict[str, list[Step]] = {}
        for step in self.steps:
            named.setdefault(step.name, []).append(step)
        return "\n".join([head, *(f"  {name}: {_line(steps)}" for name, steps in named.items())])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        printer.text(str(self))  # what a notebook shows


def _line(steps: list[Step]) -> str:
    first, noise = steps[0], sorted(step.multiplier for step in steps)
    count = sum(step.count for step in steps)
    numbers = f"{first.dimension} number{'s' * (first.dimension != 1)} by {first.statistic}"
    times = " to ".join(dict.fromkeys(f"{multiplier:.4g}" for multiplier in (noise[0], noise[-1])))
    return f"{count} × {numbers}, {type(first.mechanism).__name__}, noise of {times} × sensitivity"


def _is_source(pair: object) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
