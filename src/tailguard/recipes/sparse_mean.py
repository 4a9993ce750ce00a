"""Sparse means without bounds: pick the columns, then average those alone.

`plan_peeled` does both at once; it gives the practical parameters of the papers' thresholding recipes for means.
"""

import math

from tailguard._validate import refuse
from tailguard.domains.sparse import Sparse
from tailguard.losses.squared_distance import SquaredDistance
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import TooFewRowsError, carry
from tailguard.recipes.mean import TAIL, least_order
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import MEAN_UNIT, NORM
from tailguard.recipes.preparation import feature_drafts, preparation_for
from tailguard.recipes.thresholding import peeling_bits, sparse_domain
from tailguard.recipes.wide import wide_drafts, wide_preparation
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.entries import Entries
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.sparse_mean import PeeledMean, PickedMean
from tailguard.solvers.wide import WidePreparation
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scores import Magnitudes, Shifted

__all__ = ["RECIPE", "plan_peeled", "plan_sparse_mean"]

FEATURES, PICKS, CENTRE, SCALE, LEVEL = 0.08, 0.35, 0.06, 0.06, 0.05
"""Shares of the columns' scales, the picks, the picked columns' medians and scales, and the clip level; the rest goes
to the mean."""

ORDER = 3.0
"""Tails are taken to have this order: thresholds that balance noise and bias grow like (n/multiplier)^(1/order)."""

WIDTH, LEAST_WIDTH = 0.6, 2.0
"""Entries are clamped for the picks at that multiple of (n/multiplier)^(1/order), and at no less than two scales."""

SCALE_NOISE = 0.1
"""Noise in a cell of the histogram of row lengths, as a share of n, up to which a common scale is found."""


def plan_sparse_mean(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of a sparse mean: picks, then a mean of the picked columns, centred where medians are carried.

    Raises
    ------
    BudgetError
        When n and the budget cannot carry a common scale of all columns; the sentence says how many rows would.
    """
    domain, noise = _mean_domain(problem, "sparse_mean"), CountNoise.of(privacy)
    n, d, s, bits = problem.n, problem.d, domain.sparsity, peeling_bits(problem.n)
    features = _features(problem, privacy)
    preparation = _medians(problem, privacy, s)
    drafts = [
        *wide_drafts(features, d, FEATURES),
        Draft("picks", Magnitudes, d, PICKS, picks=s),
        *([] if preparation is None else feature_drafts(preparation, s, CENTRE, SCALE)),
        Draft("clip level", Octaves, CELLS, LEVEL),
    ]
    main = 1.0 - sum(draft.share for draft in drafts)
    steps = assemble([*drafts, Draft("mean", Clipped, s, main)], privacy, bits)
    picks = next(step for step in steps if step.name == "picks")
    solver = PickedMean(
        domain=domain,
        n=n,
        bits=bits,
        features=features,
        width=max(LEAST_WIDTH, WIDTH * (n / picks.multiplier) ** (1.0 / ORDER)),
        preparation=preparation,
        level=ClipLevel(min(TAIL * s * noise.of_one(main) / n, 0.5), least_order(problem)),
    )
    added = 2.0 * NORM * (math.sqrt(s) + 1.0) * noise.of_one(main) / n
    return Plan(
        recipe="sparse_mean",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=steps,
        sources=(("shares, width", "chosen on synthetic development data"), ("predicted_error", MEAN_UNIT)),
        predicted_error=math.sqrt(s / n + s * added**2),
    )


def _features(problem: Problem, privacy: Privacy) -> WidePreparation:
    if problem.scales is None or problem.scales.features is None:
        cell = math.sqrt(2.0) * CountNoise.of(privacy).of_one(FEATURES / 2) / problem.n
        carry("A private scale", cell, SCALE_NOISE, problem, privacy)
    return wide_preparation(problem, privacy, FEATURES)


def _medians(problem: Problem, privacy: Privacy, count: int) -> Preparation | None:
    """Return how medians of so many columns are sought, or None where the budget does not carry them."""
    try:
        return preparation_for(problem, privacy, CountNoise.of(privacy), count, CENTRE)
    except TooFewRowsError:
        return None


def plan_peeled(recipe: str, entries: Entries, problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of a mean that is peeled at once, with a threshold of (n/multiplier)^(1/3) private scales.

    Raises
    ------
    BudgetError
        When n and the budget cannot carry a common scale; the sentence says how many rows would.
    """
    domain, features = _mean_domain(problem, recipe), _features(problem, privacy)
    n, d, bits = problem.n, problem.d, peeling_bits(problem.n)
    drafts = wide_drafts(features, d, FEATURES)
    main = 1.0 - sum(draft.share for draft in drafts)
    peeling = Draft("peeling", Shifted, d, main, picks=domain.sparsity, peeled=True)
    steps = assemble([*drafts, peeling], privacy, bits)
    multiplier = steps[-1].multiplier
    bounded = entries.times(max(1.0, n / multiplier) ** (1.0 / ORDER))
    added = 2.0 * bounded.reach * multiplier / n
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=PeeledMean(domain, n, bits, features, bounded),
        steps=steps,
        sources=(
            ("shares", "chosen on synthetic development data"),
            ("threshold", "(n ÷ multiplier)^(1/3) private scales: noise and bias balance for tails of order 3"),
            ("predicted_error", MEAN_UNIT),
        ),
        predicted_error=math.sqrt(domain.sparsity / n + domain.sparsity * added**2),
    )


def _mean_domain(problem: Problem, owner: str) -> Sparse:
    if not isinstance(problem.loss, SquaredDistance):
        raise refuse("loss", owner, "squared distance", problem.loss)
    if problem.scales is not None and problem.scales.centres is not None:
        raise refuse("centres", "Scales", "left out: most entries of a sparse mean are 0", problem.scales.centres)
    return sparse_domain(problem, owner)


RECIPE = Recipe(
    name="sparse_mean",
    source="tailguard; picks as in Hu et al. 2022, Algorithm 4, then Zhao et al. 2024, Algorithm 2",
    summary="Private picks of the columns whose mean is not 0, then one clipped mean of those; nothing is assumed.",
    planners={("mean", "practical"): plan_sparse_mean},
)
