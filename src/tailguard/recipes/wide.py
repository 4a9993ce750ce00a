"""The private preparation of many columns, planned: what of it n, d and the budget carry."""

import math

from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, COMFORT, FINE, feature_drafts, pooled_drafts
from tailguard.solvers.clip_level import CELLS
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.spread import HIGH, LOW
from tailguard.solvers.wide import LONGEST, REACH, WidePreparation
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.octaves import Octaves

__all__ = ["wide_drafts", "wide_preparation"]

SCALE, MEAN, VARIANCE = 0.3, 0.4, 0.3
"""Parts of the share for octaves, means and variances."""

LENGTH, POOLED = 0.1, 0.2
"""Parts of those: for the length beside a vector, for the pooled scale beside the columns' own."""

OCTAVE_NOISE = 0.25
"""Noise of a column's octave up to which it is asked for: the relative error of a scale is 0.7 times as large."""

MEAN_NOISE, VARIANCE_NOISE = 0.3, 0.4
"""Noise of a column's mean and variance, in its scales, up to which they are asked for."""

FOURTH = 3.0
"""Fourth moment of a usual column."""


def wide_preparation(problem: Problem, privacy: Privacy, share: float) -> WidePreparation:
    """Return the finest preparation that a share of the budget carries."""
    n, d, noise = problem.n, problem.d, CountNoise.of(privacy)
    # With δ = 0 a histogram is measured in ℓ1, and noise in ℓ2 is as long as d is large.
    counted, spread = (2.0 * d, float(d)) if noise.pure else (math.sqrt(2.0 * d), math.sqrt(d))
    for substeps in (FINE, COARSE):
        medians = Preparation(substeps, centred=problem.intercept, pooled=True, scales=problem.scales)
        cell = noise.of_one(share / 2) * counted / n if "feature scale" in medians.asked else 0.0
        ranks = noise.of_bisection(share / 2, medians.grid.depth, d) / n if "feature centre" in medians.asked else 0.0
        if cell <= COMFORT / 6 and ranks <= COMFORT:
            return WidePreparation(medians=medians)
    length = 2.0 * LONGEST * spread / n
    cell = noise.of_one(SCALE * share) * counted / n
    octave = cell * math.sqrt(REACH * (REACH + 1) * (2 * REACH + 1) / 3)
    refined = length * math.sqrt(FOURTH) * noise.of_one(VARIANCE * share) <= VARIANCE_NOISE
    return WidePreparation(
        octaves="feature scale" in medians.asked and octave <= OCTAVE_NOISE,
        averaged="feature centre" in medians.asked and length * noise.of_one(MEAN * share) <= MEAN_NOISE,
        refined="feature scale" in medians.asked and refined,
        scales=problem.scales,
    )


def wide_drafts(preparation: WidePreparation, d: int, share: float) -> list[Draft]:
    """Return the steps of a preparation, with their parts of a share."""
    if preparation.medians is not None:
        pooled = pooled_drafts(preparation.medians, share / 2 * POOLED)
        return [*feature_drafts(preparation.medians, d, share / 2, share / 2 * (1.0 - POOLED)), *pooled]
    known = preparation.scales is not None and preparation.scales.features is not None
    drafts = [] if known else [Draft("common scale", Octaves, CELLS, SCALE * share)]
    if preparation.octaves:
        drafts = [Draft("feature scale", Octaves, d * (HIGH - LOW), SCALE * share, parts=d)]
    if preparation.averaged:
        drafts += _vector("row length", "feature mean", d, MEAN * share)
    if preparation.refined:
        drafts += _vector("square length", "feature variance", d, VARIANCE * share)
    return drafts


def _vector(length: str, vector: str, d: int, share: float) -> list[Draft]:
    return [Draft(length, Octaves, CELLS, LENGTH * share), Draft(vector, Clipped, d, (1.0 - LENGTH) * share)]
