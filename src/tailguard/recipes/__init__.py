"""Recipes: public facts and a budget become a plan; no record is seen."""

from collections.abc import Callable
from dataclasses import replace

from tailguard._validate import choice
from tailguard.errors import TailguardError
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes import (
    approximate_exponential,
    catoni_thresholding,
    centred_clipping,
    centred_descent,
    clipping,
    double_output_perturbation,
    frank_wolfe,
    gradient_mapping,
    iterative_updating,
    median_of_means,
    newton,
    objective_perturbation,
    output_perturbation,
    shrunken_lasso,
    shrunken_thresholding,
    sparse_mean,
    sparse_path,
    sparse_rounds,
    truncated_mean,
    truncated_thresholding,
)
from tailguard.recipes.advice import Advice, advise
from tailguard.recipes.automatic import pays_without_delta
from tailguard.recipes.base import Parameters, Planner, Recipe, Task, planned
from tailguard.recipes.feasible import TooFewRowsError

__all__ = ["Advice", "Recipe", "advise", "list_recipes", "plan_by", "planner_by", "recipe"]

_RECIPES = {
    item.name: item
    for item in (
        centred_clipping.RECIPE,
        newton.RECIPE,
        clipping.RECIPE,
        truncated_mean.RECIPE,
        median_of_means.RECIPE,
        iterative_updating.RECIPE,
        sparse_rounds.RECIPE,
        sparse_path.RECIPE,
        sparse_mean.RECIPE,
        centred_descent.RECIPE,
        frank_wolfe.RECIPE,
        shrunken_lasso.RECIPE,
        shrunken_thresholding.RECIPE,
        catoni_thresholding.RECIPE,
        truncated_thresholding.RECIPE,
        objective_perturbation.RECIPE,
        output_perturbation.RECIPE,
        gradient_mapping.RECIPE,
        double_output_perturbation.RECIPE,
        approximate_exponential.RECIPE,
    )
}


def list_recipes() -> tuple[Recipe, ...]:
    """Return every recipe with its source and what it can fit."""
    return tuple(_RECIPES.values())


def recipe(name: str, owner: str = "recipe") -> Recipe:
    """Return the recipe of this name."""
    return _RECIPES[choice("method", name, owner, _RECIPES)]


def plan_by(
    choose: Callable[[Problem, Privacy], str],
    task: Task,
    problem: Problem,
    privacy: Privacy,
    parameters: Parameters = "practical",
    owner: str = "recipe",
    *,
    automatic: bool = False,
) -> Plan:
    """Return the plan of the recipe that the public facts choose.

    A refusal says how many rows, or which ε, would do, whatever recipe is chosen then.

    Parameters
    ----------
    choose : callable
        Maps public facts and a budget to the name of a recipe.
    task, problem, privacy, parameters
        As for `Recipe.plan`.
    owner : str, default="recipe"
        Whose `method` the name is, for the sentence about a wrong one.
    automatic : bool, default=False
        Whether δ may stay unspent, as in `planner_by`.
    """
    return planned(planner_by(choose, task, parameters, owner, automatic=automatic), problem, privacy)


def planner_by(
    choose: Callable[[Problem, Privacy], str],
    task: Task,
    parameters: Parameters = "practical",
    owner: str = "recipe",
    *,
    automatic: bool = False,
) -> Planner:
    """Return what plans with the recipe that the public facts choose; parameters as for `plan_by`.

    Where `automatic`, parameters are practical, and the chosen recipe refuses for want of rows, the plan is that of the
    recipe for δ = 0 if there is one and it pays (`pays_without_delta`). It promises (ε, 0), more than was asked for.
    All of that is decided by public facts.
    """

    def plan(problem: Problem, privacy: Privacy) -> Plan:
        return recipe(choose(problem, privacy), owner).planner(task, problem, parameters)(problem, privacy)

    def with_or_without_delta(problem: Problem, privacy: Privacy) -> Plan:
        try:
            return plan(problem, privacy)
        except TooFewRowsError as refusal:
            pure = replace(privacy, delta=0.0)
            if privacy.pure or not pays_without_delta(choose(problem, pure), problem, pure):
                raise
            try:
                found = plan(problem, pure)
            except TailguardError:
                raise refusal from None
        unspent = ("delta", f"δ = {privacy.delta:g} was asked for and stays unspent: with it, more rows are needed")
        return replace(found, sources=(*found.sources, unspent))

    return with_or_without_delta if automatic and parameters == "practical" else plan
