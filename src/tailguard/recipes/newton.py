"""Linear models without bounds: private units, a noisy Gram matrix, clipped Newton steps."""

from functools import partial

from tailguard.recipes.base import Recipe
from tailguard.recipes.classes import plan_classes
from tailguard.recipes.regression import plan_regression
from tailguard.solvers.oracles import Clip

__all__ = ["RECIPE"]

RECIPE = Recipe(
    name="newton",
    source="tailguard; steps as in Zhao et al. 2024, Algorithm 1, in private units",
    summary="Private centring and scaling, a noisy Gram matrix as preconditioner, clipped steps.",
    planners={
        ("regression", "practical"): partial(plan_regression, "newton", Clip()),
        ("classes", "practical"): partial(plan_classes, "newton"),
    },
)
