"""A small budget: `newton` without its Gram matrix, its levels and its calibration."""

import math
from dataclasses import replace

from tailguard.losses.balanced import BalancedLogistic
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.losses.logistic import Logistic
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import RISK_UNIT, risk
from tailguard.recipes.preparation import COARSE, feature_drafts, finest, target_drafts
from tailguard.solvers.log_odds import believed_odds
from tailguard.solvers.places import COUNTS
from tailguard.solvers.preparation import Preparation
from tailguard.solvers.shifted import SHIFTS
from tailguard.solvers.tight_descent import TightDescent
from tailguard.statistics.base import grid_bits
from tailguard.statistics.cells import Cells
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.scores import Shifted
from tailguard.statistics.weighted import Weighted

__all__ = ["plan_faint"]

TARGET_CENTRE, TARGET_SCALE, CENTRES, FEATURES, MEANS = 0.03, 0.02, 0.05, 0.14, 0.04
"""Shares of private units: of the target's centre and scale, and of the columns' medians, scales and means."""

ROUNDS, PLACES, HARD = 4, 0.16, 60.0
"""Number and share of the histograms that say where columns lie and how wide they are, where no medians are sought;
theirs and that of the means is smaller where √d ÷ (n × budget) is, so many times."""

FAINTEST = 0.2
"""Rank noise of the target's median, as a share of n, beyond which nothing is left of it."""

RADIUS, LIMIT = 0.5, 0.15
"""Largest length of a row, in √k, and residual from which on slopes stay the same, in scales of the target: a record
hardly counts for more than its direction and a sign."""

STEPS = 40
"""Number of gradients."""

PRIOR, CLASS_PRIOR = 0.35, 1.4
"""Variance that predictions are expected to have, in units of the target's, and of log-odds."""

TRUST, CLASS_TRUST = 2.0, 4.0
"""The longest find in units of the columns and the target, of numbers and of classes."""

CHOICE, JUDGED, AHEAD = 0.04, 0.35, 1.0
"""Share of the choice between the fitted and the null model, the most that a record counts in it, and how far the
fitted one must be ahead, in deviations of noise."""

LEAN, ODDS = 0.12, 2.0
"""How much farther a record counts against a model of log-odds, and less far for it; and the largest odds that are
believed, in n × budget ÷ k."""

OFFSET, INTERCEPT, MOST_INTERCEPT, WIDTH = 0.06, 0.9, 0.15, 3.0
"""Share of the first log-odds; that of the last word on the intercept times k, and the most of it; and how far
residuals count in it."""


def plan_faint(recipe: str, problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `TightDescent`.

    Raises
    ------
    BudgetError
        When n and the budget cannot carry a private median of the target; the sentence says how many rows would.
    """
    loss, k, bits = problem.loss, problem.d + problem.intercept, grid_bits(problem.n)
    residual = isinstance(loss, ResidualLoss)
    assert isinstance(loss, Loss)
    preparation, averaged = _preparation(problem, privacy)
    weakness = k * CountNoise.of(privacy).multiplier / problem.n
    solver = TightDescent(
        loss=loss,
        surrogate=BalancedLogistic() if isinstance(loss, Logistic) else None,
        domain=problem.domain,
        n=problem.n,
        d=problem.d,
        bits=bits,
        intercept=problem.intercept,
        preparation=preparation,
        averaged=averaged,
        rounds=ROUNDS if averaged and "feature scale" in preparation.asked else 0,
        radius=RADIUS * math.sqrt(k),
        limit=LIMIT,
        steps=STEPS,
        prior=PRIOR if residual else CLASS_PRIOR,
        trust=TRUST if residual else CLASS_TRUST,
        judged=JUDGED,
        handicap=AHEAD * CountNoise.of(privacy).of_one(CHOICE),
        width=WIDTH if residual and problem.intercept else None,
        lean=LEAN if isinstance(loss, Logistic) else 0.0,
        farthest=believed_odds(ODDS / weakness) if isinstance(loss, Logistic) else None,
    )
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble(_drafts(problem, privacy, solver, k), privacy, bits),
        sources=(("levels, shares, steps", "chosen on synthetic development data"), ("predicted_error", RISK_UNIT)),
        predicted_error=risk("newton", problem, privacy),
    )


def _preparation(problem: Problem, privacy: Privacy) -> tuple[Preparation, bool]:
    """Return how units are sought, and whether columns are centred at means, or raise `BudgetError`.

    Medians on a coarse grid lose columns that are far off, which histograms that rest on each other's answers find.
    """
    noise = CountNoise.of(privacy)
    columns, target = finest(noise, problem.n, CENTRES, problem.d), finest(noise, problem.n, TARGET_CENTRE)
    preparation = Preparation(columns, centred=problem.intercept, scales=problem.scales, target_substeps=target)
    if "target centre" in preparation.asked and isinstance(problem.loss, ResidualLoss):
        ranks = noise.of_bisection(TARGET_CENTRE, preparation.of_target.grid.depth) / problem.n
        carry("A private median of the target", ranks, FAINTEST, problem, privacy)
    averaged = "feature centre" in preparation.asked and columns == COARSE
    return replace(preparation, medians=not averaged), averaged


def _features(problem: Problem, privacy: Privacy, solver: TightDescent) -> list[Draft]:
    """Return the steps of the columns' units."""
    d = problem.d
    if not solver.rounds:
        means = [Draft("feature mean", Clipped, d, MEANS)] if solver.averaged else []
        return [*feature_drafts(solver.preparation, d, CENTRES, FEATURES), *means]
    part = min(1.0, HARD * math.sqrt(d) * CountNoise.of(privacy).multiplier / problem.n)
    counts = Draft("feature scale", Cells, d * COUNTS, part * PLACES / solver.rounds, parts=d * SHIFTS)
    return [*[counts] * (solver.rounds - 1), Draft("feature mean", Clipped, d, part * MEANS), counts]


def _drafts(problem: Problem, privacy: Privacy, solver: TightDescent, k: int) -> list[Draft]:
    """Return the steps in the order in which the solver asks."""
    preparation = solver.preparation
    classes = not isinstance(problem.loss, ResidualLoss)
    before = [] if classes else target_drafts(preparation, TARGET_CENTRE, TARGET_SCALE)
    before += _features(problem, privacy, solver)
    before += [Draft("offset", Clipped, 1, OFFSET)] if classes and problem.intercept else []
    after = [Draft("choice", Shifted, 2, CHOICE, picks=1)]
    after += [] if solver.width is None else [Draft("intercept", Clipped, 1, min(INTERCEPT / k, MOST_INTERCEPT))]
    main = 1.0 - sum(draft.share for draft in (*before, *after))
    return [*before, Draft("gradient", Weighted, k, main, solver.steps), *after]
