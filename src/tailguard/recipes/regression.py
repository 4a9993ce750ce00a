"""Clipped descent after private centring and scaling: the practical parameters of `clipping` for regression."""

from tailguard._validate import refuse
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.custom import plan_custom
from tailguard.recipes.draft import assemble
from tailguard.recipes.feasible import carry_groups
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import RISK_UNIT, risk
from tailguard.recipes.preparation import COARSE, feature_drafts, preparation_for, target_drafts
from tailguard.recipes.refit import RefitPlan
from tailguard.recipes.sandwich import sandwich_for
from tailguard.solvers.clipped_descent import ClippedDescent
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.preparation import Preparation

__all__ = ["plan_regression"]

TARGET = 0.015
"""Share of each of the target's centre and scale."""

CENTRE, SCALE = 0.06, 0.06
"""Shares of the columns' centres and scales."""


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
    preparation = Preparation(COARSE, centred=False, scales=problem.scales)
    scaled = isinstance(loss, ResidualLoss)
    if problem.intercept:
        preparation = preparation_for(problem, privacy, noise, problem.d, CENTRE, target=TARGET * scaled)
    prepared = [
        *(target_drafts(preparation, TARGET, TARGET) if scaled else []),
        *feature_drafts(preparation, problem.d, CENTRE, SCALE),
    ]
    k, correct = problem.d + problem.intercept, scaled and problem.intercept
    errors, served = sandwich_for(problem, oracle, k, calibrated=False)
    left = 1.0 - sum(draft.share for draft in [*prepared, *served])
    descent = RefitPlan(problem, privacy, oracle, k, 1.0, left, correct)
    solver = ClippedDescent(
        loss, problem.domain, problem.d, problem.intercept, scaled, preparation, descent.setting, errors
    )
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble([*prepared, *descent.drafts, *served], privacy, solver.descent.bits),
        sources=(("shares, tails, steps", "chosen on synthetic development data"), ("predicted_error", RISK_UNIT)),
        predicted_error=risk(recipe, problem, privacy),
    )
