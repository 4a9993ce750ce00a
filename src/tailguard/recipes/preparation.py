"""The shared private preparation, planned: how finely medians may be sought, and what cannot be carried."""

from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.below import Below
from tailguard.statistics.octaves import Octaves

__all__ = ["COARSE", "LIMIT", "feature_drafts", "preparation_for", "target_drafts"]

FINE, COARSE = 2**18, 2**9
"""Edges an octave: relative resolutions of 3e-6 and 0.14 %. The fine grid takes nine more counts."""

COMFORT, LIMIT = 0.06, 0.12
"""Rank noise of a median, as a share of n: below the first a finer grid is free, above the second it is no median."""


def preparation_for(problem: Problem, privacy: Privacy, noise: CountNoise, scalars: int, share: float) -> Preparation:
    """Return the finest centring preparation that the budget carries, or raise `BudgetError`."""
    for substeps in (FINE, COARSE):
        preparation = Preparation(substeps)
        ranks = noise.of_bisection(share, preparation.grid.depth, scalars) / problem.n
        if ranks <= COMFORT:
            return preparation
    carry("A private median of every column", ranks, LIMIT, problem, privacy)
    return preparation


def feature_drafts(preparation: Preparation, d: int, centre: float, scale: float) -> list[Draft]:
    """Return the steps "feature centre", if there are centres, and "feature scale" with their shares."""
    medians = [Draft("feature centre", Below, d, centre, preparation.grid.depth)] if preparation.centred else []
    return [*medians, Draft("feature scale", Octaves, d * (HIGH - LOW), scale, parts=d)]


def target_drafts(preparation: Preparation, centre: float, scale: float) -> list[Draft]:
    """Return the steps "target centre", if there is a centre, and "target scale" with their shares."""
    medians = [Draft("target centre", Below, 1, centre, preparation.grid.depth)] if preparation.centred else []
    return [*medians, Draft("target scale", Octaves, HIGH - LOW, scale)]
