"""Recipes: public facts and a budget become a plan; no record is seen."""

from tailguard._validate import choice
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
from tailguard.recipes.base import Recipe

__all__ = ["Advice", "Recipe", "advise", "list_recipes", "recipe"]

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
