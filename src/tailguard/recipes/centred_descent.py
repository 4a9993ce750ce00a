"""Dense regression in many dimensions without bounds: private units, clipped descent, refit on the released span."""

from tailguard._validate import refuse
from tailguard.domains.whole_space import WholeSpace
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import RISK_UNIT, risk
from tailguard.recipes.preparation import target_drafts, target_preparation
from tailguard.recipes.refit import RefitPlan
from tailguard.recipes.settling import settling, settling_drafts
from tailguard.recipes.wide import wide_drafts, wide_preparation
from tailguard.solvers.centred_descent import CentredDescent, Descent
from tailguard.solvers.clip_level import CELLS
from tailguard.solvers.oracles import Clip
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scores import Shifted

__all__ = ["RECIPE", "plan_dense"]

TARGET, FEATURES, RESIDUAL, ROW, LEVELS, DIRECTIONS, REFIT, CHOICE = 0.02, 0.10, 0.01, 0.01, 0.03, 0.03, 0.11, 0.01
"""Shares of the target, the columns, the residuals' histogram, the row level, the gradients' levels, the spreads along
the gradients, the refit and the choice; the gradients get the rest."""

SETTLE = 0.012
"""Share of the last word on the intercept."""

STEPS, MORE_STEPS, STRONG = 8, 12, 15.0
"""Steps on all columns, and more of them where n × budget ÷ dimension exceeds a limit."""

QUANTILE = 0.3
"""Gradients are clipped at this quantile of their norms."""

REFIT_STEPS = 6

HANDICAP = 2.0
"""What the fitted model must win over the null model, in scales of the noise of the choice."""

HANDICAP_NOISE, CLASS_NOISE = 0.04, 0.06
"""Handicap, as a share of n, up to which a model with half of the variance explained wins; the same for classes."""


def plan_dense(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `CentredDescent`.

    Raises
    ------
    BudgetError
        When n and the budget cannot carry the choice between the fitted and the null model; the sentence says how many
        rows would.
    """
    if privacy.pure:
        raise refuse("delta", "centred_descent", "greater than 0", privacy.delta)
    if not isinstance(problem.loss, Loss):
        raise refuse("loss", "centred_descent", "a loss of predictions", problem.loss)
    noise = CountNoise.of(privacy)
    handicap = HANDICAP * 2.0 * noise.of_one(CHOICE)
    limit = HANDICAP_NOISE if isinstance(problem.loss, ResidualLoss) else CLASS_NOISE
    carry("A private choice of a model", handicap / problem.n, limit, problem, privacy)
    strength = problem.n / (noise.multiplier * (problem.d + problem.intercept))
    steps = MORE_STEPS if strength > STRONG else STEPS
    few = min(steps, problem.d) + problem.intercept
    last = RefitPlan(problem, privacy, Clip(), few, REFIT, REFIT, correct=False, steps=REFIT_STEPS)
    solver = _solver(problem, problem.loss, privacy, steps, last, handicap)
    return Plan(
        recipe="centred_descent",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble(_drafts(solver, last), privacy, solver.bits),
        sources=(("shares, levels, steps", "chosen on synthetic development data"), ("predicted_error", RISK_UNIT)),
        predicted_error=risk("centred_descent", problem, privacy),
    )


def _solver(
    problem: Problem, loss: Loss, privacy: Privacy, steps: int, last: RefitPlan, handicap: float
) -> CentredDescent:
    """Return the solver; the target of a residual loss is brought to units of its own."""
    own = isinstance(loss, ResidualLoss)
    return CentredDescent(
        loss=loss,
        domain=problem.domain,
        n=problem.n,
        d=problem.d,
        bits=grid_bits(problem.n),
        intercept=problem.intercept,
        target=target_preparation(problem, privacy, TARGET / 2) if own else None,
        features=wide_preparation(problem, privacy, FEATURES),
        descent=Descent(steps, QUANTILE),
        refit=last.setting,
        settling=settling(problem, privacy, SETTLE),
        handicap=handicap,
    )


def _drafts(solver: CentredDescent, last: RefitPlan) -> list[Draft]:
    """Return all steps, in the order in which the solver asks."""
    models = 2 if isinstance(solver.domain, WholeSpace) else 4
    choice = Draft("choice", Shifted, models, CHOICE, picks=1)
    return [*_descent_drafts(solver), *last.drafts, choice, *settling_drafts(solver.settling, SETTLE)]


def _descent_drafts(solver: CentredDescent) -> list[Draft]:
    """Return the steps before the refit, in the order in which the solver asks."""
    target, steps = solver.target, solver.descent.steps
    drafts = [
        *(target_drafts(target, TARGET / 2, TARGET / 2) if target is not None else []),
        *wide_drafts(solver.features, solver.d, FEATURES),
        Draft("row level", Octaves, CELLS, ROW),
        *([Draft("residual scale", Octaves, CELLS, RESIDUAL)] if target is not None else []),
    ]
    main = 1.0 - sum(draft.share for draft in drafts) - LEVELS - DIRECTIONS - REFIT - CHOICE - SETTLE
    for _ in range(steps):
        drafts.append(Draft("gradient level", Octaves, CELLS, LEVELS / steps))
        drafts.append(Draft("gradient", Clipped, solver.d + solver.intercept, main / steps))
        drafts.append(Draft("direction scale", Octaves, CELLS, DIRECTIONS / steps))
    return drafts


RECIPE = Recipe(
    name="centred_descent",
    source="tailguard; descent as in Zhao et al. 2024, Algorithm 1, in private units",
    summary="Private centring and scaling, clipped descent with James–Stein shrinkage, refit on the released span.",
    planners={("regression", "practical"): plan_dense},
)
