"""The private preparation of many columns, planned: what of it n, d and the budget carry."""

import math

from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, FINE, LIMIT, feature_drafts
from tailguard.solvers.clip_level import CELLS
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.spread import HIGH, LOW
from tailguard.solvers.wide import LONGEST, WidePreparation
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.octaves import Octaves

__all__ = ["wide_drafts", "wide_preparation"]

COLUMN_NOISE = 0.06
"""Noise in a cell of a column's histogram, as a share of n, up to which columns get scales of their own."""

MEAN_NOISE = 0.3
"""Noise of a column's mean, in its scales, up to which columns are centred at it."""

LENGTH, POOLED = 0.1, 0.2
"""Parts of the shares: for the row length beside the mean, for the pooled scale beside the columns' own."""


def wide_preparation(problem: Problem, privacy: Privacy, share: float) -> WidePreparation:
    """Return the finest preparation that a share of the budget carries: medians, means, own scales, or one scale."""
    n, d, noise = problem.n, problem.d, CountNoise.of(privacy)
    own = noise.of_one(share / 2) * math.sqrt(2 * d) / n <= COLUMN_NOISE
    if not problem.intercept:
        return WidePreparation(Preparation(COARSE, centred=False, pooled=True) if own else None, averaged=False)
    for substeps in (FINE, COARSE):
        medians = Preparation(substeps, pooled=True)
        if own and noise.of_bisection(share / 2, medians.grid.depth, d) / n <= LIMIT:
            return WidePreparation(medians, averaged=False)
    mean = 2.0 * LONGEST * math.sqrt(d) * noise.of_one(share / 2) / n
    columns = Preparation(COARSE, centred=False, pooled=True) if own else None
    return WidePreparation(columns, averaged=mean <= MEAN_NOISE)


def wide_drafts(preparation: WidePreparation, d: int, share: float) -> list[Draft]:
    """Return the steps of a preparation, half of the share for scales and half for centres, if there are any."""
    half, columns = share / 2, preparation.columns
    drafts = [Draft("common scale", Octaves, CELLS, half)]
    if columns is not None:
        drafts = feature_drafts(columns, d, half, half * (1.0 - POOLED))
        drafts.append(Draft("pooled scale", Octaves, HIGH - LOW, half * POOLED))
    if preparation.averaged:
        drafts.append(Draft("row length", Octaves, CELLS, half * LENGTH))
        drafts.append(Draft("feature mean", Clipped, d, half * (1.0 - LENGTH)))
    return drafts
