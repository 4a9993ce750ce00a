"""Public units and a small budget: `newton` without its preparation, its Gram matrix and its levels."""

import math

import numpy as np
from scipy.special import ndtri

from tailguard.losses.balanced import BalancedLogistic
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.losses.logistic import Logistic
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import RISK_UNIT
from tailguard.solvers.public_descent import PublicDescent
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.scores import Shifted
from tailguard.statistics.weighted import Weighted

__all__ = ["faint", "plan_faint", "public_units_suffice"]

GRAM_NOISE, COUNTS, CLASS_COUNTS = 0.13, 600.0, 400.0
"""Noise of a Gram matrix, k^1.5 ÷ (n × budget), above which, and n × budget, of numbers and of classes, below which
`newton` does better without such a matrix and without private levels, where units are public."""

WIDE, CARRIED = 0.1, 1000.0
"""k ÷ (n × budget) from which on `centred_descent` is better, if n × budget carries its choice."""

RADIUS, LIMIT = 0.5, 0.3
"""Largest length of a row, in √k, and residual from which on slopes stay the same, in scales of the target: a record
hardly counts for more than its direction and a sign."""

RESIDUAL, CAUTION = 0.85, 1.5
"""A usual residual, in scales of the target, and how much shorter steps are than its curvature allows."""

CLASS_CURVATURE = 0.4
"""Mean curvature of the balanced loss at usual log-odds."""

PACES, SLOWEST = ((0.03, 24, 4.0), (0.06, 16, 3.0)), (16, 2.0)
"""Numbers of steps and their pace below limits of k ÷ (n × budget), and beyond them: the more noise, the slower."""

TRUST, CLASS_TRUST = 0.5, 1.0
"""The longest step in public units, of numbers and of classes."""

CHOICE, JUDGED = 0.04, 0.35
"""Share of the choice between the fitted and the null model, and the most that a record counts in it."""

PREDICTED, CLASSES_PREDICTED = 10.0, 30.0
"""Excess risk in units of (k ÷ (n × budget))², of numbers and of classes, measured on synthetic development data."""

OFFSET, INTERCEPT, MOST_INTERCEPT, WIDTH = 0.03, 0.6, 0.1, 1.5
"""Share of the first log-odds; that of the last word on the intercept times k, and the most of it; and how far
residuals count in it."""


def faint(problem: Problem, privacy: Privacy) -> bool:
    """Whether all units are public and the budget is too small for a Gram matrix or for private levels."""
    strength = problem.n / CountNoise.of(privacy).multiplier
    k, fewest = problem.d + problem.intercept, COUNTS if isinstance(problem.loss, ResidualLoss) else CLASS_COUNTS
    return _all_public(problem) and (k**1.5 > GRAM_NOISE * strength or strength < fewest)


def public_units_suffice(problem: Problem, privacy: Privacy) -> bool:
    """Whether `newton` in public units is better than a descent that is made for many columns."""
    strength = problem.n / CountNoise.of(privacy).multiplier
    k = problem.d + problem.intercept
    return faint(problem, privacy) and (k <= WIDE * strength or strength < CARRIED)


def _all_public(problem: Problem) -> bool:
    known = problem.scales
    if known is None or known.features is None or (problem.intercept and known.centres is None):
        return False
    target = known.target is not None and (not problem.intercept or known.target_centre is not None)
    return target or not isinstance(problem.loss, ResidualLoss)


def plan_faint(recipe: str, problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `PublicDescent`, for which all units must be public."""
    loss, k, bits = problem.loss, problem.d + problem.intercept, grid_bits(problem.n)
    residual = isinstance(loss, ResidualLoss)
    assert isinstance(loss, Loss)
    assert problem.scales is not None
    limit, curvature = _level(loss, problem.scales.target or 1.0)
    weakness, factor = k * CountNoise.of(privacy).multiplier / problem.n, PREDICTED if residual else CLASSES_PREDICTED
    steps, pace = next(((steps, pace) for limit, steps, pace in PACES if weakness < limit), SLOWEST)
    solver = PublicDescent(
        loss=loss,
        surrogate=BalancedLogistic() if isinstance(loss, Logistic) else None,
        domain=problem.domain,
        n=problem.n,
        d=problem.d,
        bits=bits,
        intercept=problem.intercept,
        scales=problem.scales,
        radius=RADIUS * math.sqrt(k),
        limit=limit,
        curvature=curvature,
        steps=steps,
        pace=pace,
        trust=TRUST if residual else CLASS_TRUST,
        judged=JUDGED,
        handicap=CountNoise.of(privacy).of_one(CHOICE),
        width=WIDTH if residual and problem.intercept else None,
    )
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble(_drafts(solver, k), privacy, bits),
        sources=(
            ("levels, shares, steps", "chosen on synthetic development data, in public units"),
            ("predicted_error", RISK_UNIT),
        ),
        predicted_error=min(1.0, factor * weakness**2),
    )


def _level(loss: Loss, scale: float) -> tuple[float, float]:
    """Return the largest slope, and the mean curvature of slopes limited to it, for usual rows and residuals."""
    if not isinstance(loss, ResidualLoss):
        usual = CLASS_CURVATURE if isinstance(loss, Logistic) else loss.usual_curvature
        return loss.lipschitz or 1.0, CAUTION * RADIUS * usual
    scaled = loss.rescaled(scale)
    limit = float(abs(scaled.derivative(LIMIT, 0.0)))
    residuals = RESIDUAL * ndtri((np.arange(1000) + 0.5) / 1000.0)
    slopes = np.clip(scaled.derivative(residuals, 0.0), -limit, limit)
    # Stein: the mean derivative of a function of a Gaussian number is its mean product with it, over the variance.
    return limit, CAUTION * RADIUS * float(np.mean(slopes * residuals)) / RESIDUAL**2


def _drafts(solver: PublicDescent, k: int) -> list[Draft]:
    """Return the steps in the order in which the solver asks."""
    before = [Draft("offset", Clipped, 1, OFFSET)] if solver.intercept and solver.width is None else []
    after = [Draft("choice", Shifted, 2, CHOICE, picks=1)]
    after += [] if solver.width is None else [Draft("intercept", Clipped, 1, min(INTERCEPT / k, MOST_INTERCEPT))]
    main = 1.0 - sum(draft.share for draft in (*before, *after))
    return [*before, Draft("gradient", Weighted, k, main, solver.steps), *after]
