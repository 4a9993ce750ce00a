"""The shared private preparation, planned: how finely medians may be sought, and what cannot be carried."""

from dataclasses import replace

from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.solvers.picked import FINELY_SIGNED
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.below import Below
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.signed_ranks import SignedRanks

__all__ = [
    "COARSE",
    "LIMIT",
    "feature_drafts",
    "finest",
    "pooled_drafts",
    "preparation_for",
    "target_drafts",
    "target_preparation",
]

FINE, MEDIUM, COARSE = 2**18, 2**13, 2**9
"""Edges an octave: relative resolutions of 3e-6, 0.008 % and 0.14 %. The finer grids take nine and four more counts, so
that ranks have 24 % and 11 % more noise; on the coarse one a column is lost that is some hundred spreads from 0."""

COMFORT, LIMIT = 0.09, 0.12
"""Rank noise of a median, as a share of n: below the first a finer grid is free, above the second it is no median."""


def finest(noise: CountNoise, n: int, share: float, scalars: int = 1) -> int:
    """Return how many edges an octave may have where so many medians have a share of the budget."""
    for substeps, limit in ((FINE, COMFORT), (MEDIUM, LIMIT)):
        if noise.of_bisection(share, Preparation(substeps).grid.depth, scalars) <= limit * n:
            return substeps
    return COARSE


def target_preparation(problem: Problem, privacy: Privacy, share: float) -> Preparation:
    """Return the finest preparation that a share of the budget carries for the target, where it is sought alone."""
    substeps = finest(CountNoise.of(privacy), problem.n, share)
    return Preparation(substeps, centred=problem.intercept, scales=problem.scales)


def preparation_for(
    problem: Problem,
    privacy: Privacy,
    noise: CountNoise,
    scalars: int,
    share: float,
    *,
    medians: bool = True,
    target: float = 0.0,
) -> Preparation:
    """Return the finest centring preparation that the budget carries, or raise `BudgetError`.

    Parameters
    ----------
    problem, privacy : Problem, Privacy
        The public facts.
    noise : CountNoise
        Of the budget.
    scalars : int
        Number of medians.
    share : float
        Their part of the budget.
    medians : bool, default=True
        Whether every column needs one; else columns go without where the budget does not carry them.
    target : float, default=0.0
        Part of the budget of the target's median, where there is one beside those of columns.
    """
    if problem.scales is not None and problem.scales.centres is not None:
        scalars = 1  # the target's median, if anything
    own = finest(noise, problem.n, target) if target else None
    preparation = Preparation(finest(noise, problem.n, share, scalars), scales=problem.scales, target_substeps=own)
    ranks = noise.of_bisection(share, preparation.grid.depth, scalars) / problem.n
    if ranks > LIMIT and not medians:
        return replace(preparation, medians=False)
    if "feature centre" in preparation.asked:
        carry("A private median of every column", ranks, LIMIT, problem, privacy)
    return preparation


def feature_drafts(preparation: Preparation, d: int, centre: float, scale: float) -> list[Draft]:
    """Return the steps "feature centre" and "feature scale", as far as they are asked for, with their shares."""
    if preparation.picks:
        medians = Draft("feature centre", SignedRanks, FINELY_SIGNED, centre, preparation.picks * d, picks=1)
    else:
        medians = Draft("feature centre", Below, d, centre, preparation.grid.depth)
    spreads = Draft("feature scale", Octaves, d * (HIGH - LOW), scale, parts=d)
    return [draft for draft in (medians, spreads) if draft.name in preparation.asked]


def target_drafts(preparation: Preparation, centre: float, scale: float) -> list[Draft]:
    """Return the steps "target centre" and "target scale", as far as they are asked for, with their shares."""
    medians = Draft("target centre", Below, 1, centre, preparation.of_target.grid.depth)
    spread = Draft("target scale", Octaves, HIGH - LOW, scale)
    return [draft for draft in (medians, spread) if draft.name in preparation.asked]


def pooled_drafts(preparation: Preparation, share: float) -> list[Draft]:
    """Return the step "pooled scale", if it is asked for, with its share."""
    return [Draft("pooled scale", Octaves, HIGH - LOW, share)] if "pooled scale" in preparation.asked else []
