"""Dense regression in many dimensions without bounds: private units, clipped descent, refit on the released span."""

from tailguard._validate import refuse
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, target_drafts
from tailguard.recipes.refit import RefitPlan
from tailguard.recipes.wide import wide_drafts, wide_preparation
from tailguard.solvers.centred_descent import CentredDescent, Descent
from tailguard.solvers.clip_level import CELLS
from tailguard.solvers.oracles import Clip
from tailguard.solvers.preparation import Preparation
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scores import Shifted

__all__ = ["RECIPE", "plan_dense"]

TARGET, FEATURES, RESIDUAL, ROW, LEVELS, DIRECTIONS, REFIT, CHOICE = 0.02, 0.10, 0.01, 0.01, 0.03, 0.03, 0.12, 0.01
"""Shares of the target, the columns, the residuals' histogram, the row level, the gradients' levels, the spreads along
the gradients, the refit and the choice; the gradients get the rest."""

STEPS, MORE_STEPS, STRONG = 8, 12, 15.0
"""Steps on all columns, and more of them where n × budget ÷ dimension exceeds a limit."""

QUANTILE = 0.3
"""Gradients are clipped at this quantile of their norms."""

REFIT_STEPS = 6

HANDICAP = 2.0
"""What the fitted model must win over the null model, in scales of the noise of the choice."""


def plan_dense(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `CentredDescent`."""
    loss = problem.loss
    if privacy.pure:
        raise refuse("delta", "centred_descent", "greater than 0", privacy.delta)
    if not isinstance(loss, Loss):
        raise refuse("loss", "centred_descent", "a loss of predictions", loss)
    bits, scaled = grid_bits(problem.n), isinstance(loss, ResidualLoss)
    target = Preparation(COARSE, centred=problem.intercept) if scaled else None
    features = wide_preparation(problem, privacy, FEATURES)
    strength = problem.n / (CountNoise.of(privacy).multiplier * (problem.d + problem.intercept))
    steps = MORE_STEPS if strength > STRONG else STEPS
    few = min(steps, problem.d) + problem.intercept
    last = RefitPlan(problem, privacy, Clip(), few, REFIT, REFIT, scaled and problem.intercept, REFIT_STEPS)
    solver = CentredDescent(
        loss=loss,
        domain=problem.domain,
        n=problem.n,
        d=problem.d,
        bits=bits,
        intercept=problem.intercept,
        target=target,
        features=features,
        descent=Descent(steps, QUANTILE),
        refit=last.setting,
        handicap=HANDICAP * 2.0 * CountNoise.of(privacy).of_one(CHOICE),
    )
    prepared = [
        *(target_drafts(target, TARGET / 2, TARGET / 2) if target is not None else []),
        *wide_drafts(features, problem.d, FEATURES),
        Draft("row level", Octaves, CELLS, ROW),
        *([Draft("residual scale", Octaves, CELLS, RESIDUAL)] if scaled else []),
    ]
    main = 1.0 - sum(draft.share for draft in prepared) - LEVELS - DIRECTIONS - REFIT - CHOICE
    drafts = [*prepared, *_steps(problem, steps, main), *last.drafts, Draft("choice", Shifted, 2, CHOICE, picks=1)]
    return Plan(
        recipe="centred_descent",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble(drafts, privacy, bits),
        sources=(("shares, levels, steps", "chosen on synthetic development data"),),
    )


def _steps(problem: Problem, steps: int, main: float) -> list[Draft]:
    drafts: list[Draft] = []
    for _ in range(steps):
        drafts.append(Draft("gradient level", Octaves, CELLS, LEVELS / steps))
        drafts.append(Draft("gradient", Clipped, problem.d + problem.intercept, main / steps))
        drafts.append(Draft("direction scale", Octaves, CELLS, DIRECTIONS / steps))
    return drafts


RECIPE = Recipe(
    name="centred_descent",
    source="tailguard; descent as in Zhao et al. 2024, Algorithm 1, in private units",
    summary="Private centring and scaling, clipped descent with James–Stein shrinkage, refit on the released span.",
    planners={("regression", "practical"): plan_dense},
)
