"""Pure privacy for smooth convex losses by objective perturbation of the slope-clipped loss."""

import math

import numpy as np

from tailguard.certified import Objective
from tailguard.certified.fallback import resolution
from tailguard.errors import BudgetError
from tailguard.mechanisms import ObjectivePerturbation
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.perturbed_draft import PerturbedDraft
from tailguard.recipes.prediction import RISK_UNIT, risk
from tailguard.recipes.pure_fit import RESIDUAL, PureFit, pure_fit
from tailguard.recipes.pure_units import pick_share
from tailguard.solvers.perturbed_fit import Perturbed, PerturbedFit, widened
from tailguard.solvers.rank_level import CANDIDATES
from tailguard.statistics.base import grid_bits
from tailguard.statistics.minimiser import PerturbedMinimiser
from tailguard.statistics.ranks import Ranks

__all__ = ["RECIPE", "plan_regression"]

NAME = "objective_perturbation"

ROUGH, ROUGH_SHARE, ROUGH_COUNT = 300.0, 0.25, 50.0
"""nε ÷ k from which on gradients are measured at a first fit, where slopes have no bound; the largest part of the rest
of the budget that this fit gets, and that part times nε ÷ k."""

ROOM = 1.5
"""Clip level at the second fit, in units of what it would be with usual residuals at the first."""

COARSEST, FINEST = 10, 24
"""Limits of the precision."""

LOUD = 14.0
"""The last release gets such a part of the linear term's ε, times 2^−precision ÷ ridge, that its noise is a tenth of
what the linear term does."""

FLAT = 1.03
"""A regulariser is as strong as it can be within 3 % of the least error."""


def plan_regression(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `PerturbedFit`.

    Raises
    ------
    BudgetError
        When n, d and ε cannot carry private units and a fit; the sentence says how many rows would.
    """
    found = pure_fit(problem, privacy, NAME)
    rough = found.loss.lipschitz is None and found.units is not None and found.total >= ROUGH * found.k
    left = found.main
    first = min(ROUGH_SHARE, ROUGH_COUNT * found.k / found.total) * left if rough else 0.0
    pick = pick_share(problem, privacy) if rough else 0.0
    drafts = list(found.before)
    if rough:
        drafts.append(_draft("rough fit", found, first))
        drafts.append(Draft("gradient level", Ranks, CANDIDATES, pick, picks=1))
    drafts += [_draft("fit", found, left - first - pick), *found.after]
    steps = assemble(drafts, privacy, grid_bits(problem.n))
    named = {step.name: step for step in steps}
    return Plan(
        recipe=NAME,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=PerturbedFit(
            loss=found.loss,
            domain=problem.domain,
            n=problem.n,
            d=problem.d,
            bits=grid_bits(problem.n),
            intercept=problem.intercept,
            units=found.units,
            width=found.width,
            curvature=found.curvature,
            clip=found.clip,
            rough=_perturbed(named["rough fit"], problem) if rough else None,
            level=ROOM * found.clip / RESIDUAL,
            fit=_perturbed(named["fit"], problem),
            ending=found.ending,
        ),
        steps=steps,
        sources=(("shares, clip, curvature", "chosen on synthetic development data"), ("predicted_error", RISK_UNIT)),
        predicted_error=None if found.units is None else risk(NAME, problem, privacy),
    )


def _draft(name: str, found: PureFit, share: float) -> PerturbedDraft:
    """Return a step with the best division of its share among linear term, change of variables and last release."""
    problem, epsilon = found.problem, share * found.privacy.epsilon
    curvature = found.curvature * (widened(found.loss, found.width).smoothness or 1.0)  # per squared length of a row
    part = _curvature_part(found, curvature, epsilon)
    ridge = 1.0 / (problem.n * math.expm1(min(part * epsilon, 20.0)))
    precision = _precision(found, ridge)
    last = min(max(LOUD * 2.0**-precision / (ridge * curvature * found.k), 0.003), 0.1)
    mechanism = ObjectivePerturbation(part / (1.0 - part), last, precision)
    return PerturbedDraft(name, PerturbedMinimiser, found.k, share, mechanism=mechanism)


def _curvature_part(found: PureFit, curvature: float, epsilon: float) -> float:
    """Return the part of ε for the change of variables that balances noise, regulariser and sampling error."""
    k, n = found.k, found.problem.n
    # Where ε is large, a small part will do: a ridge that is smaller than it need be makes the last release loud.
    fewest = max(2e-6, min(0.005, 0.02 / epsilon))
    parts = np.concatenate([np.geomspace(fewest, 0.005, 60)[:-1], np.linspace(0.005, 0.7, 140)])
    clip = found.clip if found.units is not None else RESIDUAL
    noise = 2.0 * clip * k**1.5 / (epsilon * (1.0 - parts))
    bias = curvature * k / np.expm1(np.minimum(parts * epsilon, 20.0))
    error = noise**2 + bias**2 + k * n
    return float(parts[np.argmax(error <= FLAT * error.min())])


def _precision(found: PureFit, ridge: float) -> int:
    """Return how fine the solver's tolerance can be, for a ridge in units of the curvature."""
    n, k = found.problem.n, found.k
    loss = widened(found.loss, found.width)
    clip = found.clip * math.sqrt(k)
    curvature = found.curvature * k * (loss.smoothness or 1.0)
    empty = Objective(
        np.zeros((1, k)), np.zeros(1), loss, clip, ridge * curvature, np.zeros(k), n, np.zeros(k), curvature
    )
    finest = math.floor(math.log2(empty.length / (2.0 * n * resolution(empty)))) - 2
    if finest < COARSEST:
        raise BudgetError(f"Double precision cannot resolve a regularised minimiser of n = {n} rows.")
    return min(finest, FINEST)


def _perturbed(step: Step, problem: Problem) -> Perturbed:
    mechanism = step.mechanism
    assert isinstance(mechanism, ObjectivePerturbation)
    return Perturbed(mechanism.least_ridge(1.0, problem.n, step.multiplier), mechanism.precision)


RECIPE = Recipe(
    name=NAME,
    source="Chaudhuri et al. 2011, for slope-clipped losses in private units",
    summary="Pure privacy by a random linear term inside the objective; what smooth convex losses get for δ = 0.",
    planners={("regression", "practical"): plan_regression},
)
