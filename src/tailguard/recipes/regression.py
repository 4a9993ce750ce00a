"""Clipped descent after private centring and scaling: the practical parameters of `clipping` for regression."""

from tailguard._validate import refuse
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.custom import plan_custom
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry, carry_groups
from tailguard.recipes.mean import least_order
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import RISK_UNIT, regression_error
from tailguard.recipes.preparation import COARSE, feature_drafts, preparation_for, target_drafts
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.clipped_descent import ClippedDescent, Levels
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.preparation import Preparation
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.gram import Gram
from tailguard.statistics.octaves import Octaves

__all__ = ["plan_regression"]

TARGET = 0.015
"""Share of each of the target's centre and scale."""

CENTRE, SCALE, ROW, GRAM, LEVEL = 0.06, 0.06, 0.015, 0.12, 0.05
"""Shares of the columns' centres and scales, of the row level, the Gram matrix and the gradients' clip levels."""

RESIDUAL_LEVEL, INTERCEPT = 0.025, 0.075
"""Shares of the final correction of the intercept."""

ROW_TAIL = 100.0
"""Wanted mass of shortened rows, in units of dimension ÷ (n × budget), at most 30 %."""

GRADIENT_TAIL, RESIDUAL_TAIL = 10.0, 1.0
"""Wanted tail masses, in units of the oracle's noise and of one number's."""

REFRESHES = 3

STEPS, MOST_STEPS = ((200.0, 12), (1000.0, 20), (1e5, 30)), 60
"""Numbers of steps below limits of n × budget ÷ dimension, and beyond them."""

PREDICTED = {"logistic": (4.5, 160.0, 730.0)}
"""Factors of `regression_error`, fitted to medians over synthetic families: median factor 1.5, nine in ten within 3."""

USUAL = (1.2, 57.0, 1100.0)
"""The same for losses of residuals: median factor 1.4, nine in ten within 2.2."""


def plan_regression(recipe: str, oracle: MeanOracle, problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of a clipped, preconditioned descent in private units.

    Raises
    ------
    BudgetError
        When n, d and the budget cannot carry the private preparation; the sentence says how many rows would.
    """
    if privacy.pure:
        raise refuse("delta", recipe, "greater than 0", privacy.delta)
    loss = problem.loss
    if not isinstance(loss, Loss):
        return plan_custom(recipe, oracle, problem, privacy)
    carry_groups(oracle, problem.n, problem, privacy)
    noise = CountNoise.of(privacy)
    preparation = Preparation(COARSE, centred=False)
    if problem.intercept:
        preparation = preparation_for(problem, privacy, noise, problem.d, CENTRE)
    prepared = _preparation_drafts(problem, preparation, isinstance(loss, ResidualLoss))
    solver, descent = _descent(problem, privacy, oracle, preparation, 1.0 - sum(draft.share for draft in prepared))
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble([*prepared, *descent], privacy, solver.bits),
        sources=(("shares, tails, steps", "chosen on synthetic development data"), ("predicted_error", RISK_UNIT)),
        predicted_error=regression_error(problem, noise, *PREDICTED.get(loss.name, USUAL)),
    )


def _descent(
    problem: Problem, privacy: Privacy, oracle: MeanOracle, preparation: Preparation, left: float
) -> tuple[ClippedDescent, list[Draft]]:
    """Return the solver and its steps after the preparation, for what is left of the budget."""
    loss, noise = problem.loss, CountNoise.of(privacy)
    assert isinstance(loss, Loss)
    scaled = isinstance(loss, ResidualLoss)
    correct = scaled and problem.intercept
    main = left - LEVEL - (RESIDUAL_LEVEL + INTERCEPT) * correct
    weakness = (problem.d + problem.intercept) * noise.multiplier / problem.n
    solver = ClippedDescent(
        loss=loss,
        domain=problem.domain,
        n=problem.n,
        d=problem.d,
        bits=grid_bits(problem.n),
        intercept=problem.intercept,
        scaled_target=scaled,
        oracle=oracle,
        preparation=preparation,
        levels=_levels(problem, privacy, oracle, main, correct),
        ridge=min(0.01, weakness),
        steps=_steps(1.0 / weakness),
        refreshes=REFRESHES,
    )
    return solver, _descent_drafts(problem, solver, main)


def _steps(strength: float) -> int:
    """Return T for n × budget ÷ dimension: more steps where noise allows more precision."""
    return next((steps for limit, steps in STEPS if strength < limit), MOST_STEPS)


def _levels(problem: Problem, privacy: Privacy, oracle: MeanOracle, main: float, correct: bool) -> Levels:
    n, k, noise = problem.n, problem.d + problem.intercept, CountNoise.of(privacy)
    gradient = GRADIENT_TAIL * oracle.noise(k) * noise.of_one(main) / n
    carry("A private gradient", gradient, 5.0, problem, privacy)
    residual = RESIDUAL_TAIL * noise.of_one(INTERCEPT) / n
    return Levels(
        row=ClipLevel(min(ROW_TAIL * k * noise.of_one(1.0) / n, 0.3)),
        gradient=ClipLevel(min(gradient, 0.5), least_order(problem)),
        residual=ClipLevel(min(residual, 0.5), least_order(problem)) if correct else None,
    )


def _preparation_drafts(problem: Problem, preparation: Preparation, scaled: bool) -> list[Draft]:
    k = problem.d + problem.intercept
    return [
        *(target_drafts(preparation, TARGET, TARGET) if scaled else []),
        *feature_drafts(preparation, problem.d, CENTRE, SCALE),
        Draft("row level", Octaves, CELLS, ROW),
        Draft("gram", Gram, k * (k + 1) // 2, GRAM),
    ]


def _descent_drafts(problem: Problem, solver: ClippedDescent, main: float) -> list[Draft]:
    """Return the steps in the order in which the solver asks; gradients get shares that grow with their number."""
    k, drafts = problem.d + problem.intercept, []
    total = solver.steps * (solver.steps + 1) / 2
    for step in range(solver.steps):
        if solver.refreshed(step):
            drafts.append(Draft("gradient level", Octaves, CELLS, LEVEL / REFRESHES))
        drafts.append(Draft("gradient", solver.oracle.kind, solver.oracle.dimension(k), main * (step + 1) / total))
    if solver.levels.residual is not None:
        drafts.append(Draft("residual level", Octaves, CELLS, RESIDUAL_LEVEL))
        drafts.append(Draft("intercept", Clipped, 1, INTERCEPT))
    return drafts
