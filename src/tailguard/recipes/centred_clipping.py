"""Means with no prior knowledge: private centre and scale of each column, then one clipped mean."""

from functools import partial

from tailguard.recipes.base import Recipe
from tailguard.recipes.mean import plan_centred_mean
from tailguard.solvers.oracles import Clip

__all__ = ["RECIPE"]

RECIPE = Recipe(
    name="centred_clipping",
    source="tailguard; the last step is Zhao et al. 2024, Algorithm 2",
    summary="Private median and scale of each column, then one ℓ2-clipped mean; nothing is assumed known.",
    planners={("mean", "practical"): partial(plan_centred_mean, "centred_clipping", Clip())},
)
