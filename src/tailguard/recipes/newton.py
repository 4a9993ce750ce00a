"""Linear models without bounds: private units, a noisy Gram matrix, bounded Newton steps, a calibration."""

from functools import partial

from tailguard._validate import refuse
from tailguard.losses.balanced import BalancedLogistic
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.losses.logistic import Logistic
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.base import Recipe
from tailguard.recipes.classes import plan_classes
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.mean import least_order
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import RISK_UNIT, risk
from tailguard.recipes.preparation import COARSE, feature_drafts, preparation_for, target_drafts
from tailguard.recipes.sandwich import sandwich_for
from tailguard.recipes.settling import settling, settling_drafts
from tailguard.solvers.bounded_descent import BoundedDescent
from tailguard.solvers.calibration import Calibration
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.newton import Newton
from tailguard.solvers.oracles import Clip
from tailguard.solvers.preparation import Preparation
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.gram import Gram
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.weighted import Weighted

__all__ = ["RECIPE", "plan_newton"]

TARGET = 0.015
"""Share of each of the target's centre and scale."""

CENTRE, SCALE = 0.06, 0.06
"""Shares of the columns' centres and scales."""

ROW, GRAM, LEVERAGE, OFFSET, LEVELS = 0.01, 0.10, 0.01, 0.01, 0.03
"""Shares of the rows' level, the Gram matrix, the whitened rows' level, the first log-odds, the slopes' levels."""

LAST = 4.0
"""The last numbers get LAST ÷ (LAST + k) of the budget: one number with wide levels costs as much as LAST of k."""

MOST_LAST = 0.4

STEPS, CLASS_STEPS, REFRESHES, CALIBRATION_STEPS = 24, 16, 3, 5

SLOPE_TAIL, MOST_TAIL = 300.0, 0.42

ROW_TAIL, LEVERAGE_TAIL = 0.3, 0.5

PREDICTION_TAIL = 50.0

RIDGE = 0.01


def plan_newton(problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of `Newton`.

    Raises
    ------
    BudgetError
        When n, d and the budget cannot carry the private preparation; the sentence says how many rows would.
    """
    loss = problem.loss
    if privacy.pure:
        raise refuse("delta", "newton", "greater than 0", privacy.delta)
    if not isinstance(loss, Loss):
        raise refuse("loss", "newton", "a loss of predictions", loss)
    n, bits, noise, k = problem.n, grid_bits(problem.n), CountNoise.of(privacy), problem.d + problem.intercept
    preparation = Preparation(COARSE, centred=False)
    if problem.intercept:
        preparation = preparation_for(problem, privacy, noise, problem.d, CENTRE)
    scaled = isinstance(loss, ResidualLoss)
    last = min(LAST / (LAST + k), MOST_LAST)
    settled = last / 2 if scaled and problem.intercept else 0.0
    last_word = settling(problem, privacy, settled) if settled else None
    calibrated = last - settled
    order = least_order(problem)
    weakness = noise.of_one(1.0) / n
    tail = 3.0 * noise.of_one(0.8 * calibrated) / n
    errors, served = sandwich_for(problem, Clip(), k)
    solver = Newton(
        loss=loss,
        surrogate=BalancedLogistic() if isinstance(loss, Logistic) else None,
        domain=problem.domain,
        d=problem.d,
        intercept=problem.intercept,
        scaled_target=scaled,
        preparation=preparation,
        row=ClipLevel(ROW_TAIL),
        leverage=ClipLevel(LEVERAGE_TAIL),
        ridge=RIDGE,
        descent=BoundedDescent(
            n,
            bits,
            STEPS if scaled else CLASS_STEPS,
            REFRESHES,
            ClipLevel(min(SLOPE_TAIL * k * weakness, MOST_TAIL), order),
        ),
        calibration=Calibration(
            ClipLevel(min(PREDICTION_TAIL * tail, 0.2), order),
            BoundedDescent(n, bits, CALIBRATION_STEPS, 2, ClipLevel(min(tail, MOST_TAIL), order)),
        ),
        settling=last_word,
        errors=errors,
    )
    prepared = [
        *(target_drafts(preparation, TARGET, TARGET) if scaled else []),
        *feature_drafts(preparation, problem.d, CENTRE, SCALE),
        Draft("row level", Octaves, CELLS, ROW),
        Draft("gram", Gram, k * (k + 1) // 2, GRAM),
        *([Draft("offset", Clipped, 1, OFFSET)] if problem.intercept and not scaled else []),
        Draft("leverage level", Octaves, CELLS, LEVERAGE),
    ]
    main = 1.0 - sum(draft.share for draft in [*prepared, *served]) - LEVELS - last
    drafts = [
        *prepared,
        *descent_drafts(("slope level", "gradient"), solver.descent, k, LEVELS, main),
        Draft("prediction level", Octaves, CELLS, 0.05 * calibrated),
        *descent_drafts(
            ("calibration level", "calibration"),
            solver.calibration.descent,
            1 + problem.intercept,
            0.15 * calibrated,
            0.8 * calibrated,
        ),
        *settling_drafts(last_word, settled),
        *served,
    ]
    return Plan(
        recipe="newton",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble(drafts, privacy, bits),
        sources=(("shares, tails, steps", "chosen on synthetic development data"), ("predicted_error", RISK_UNIT)),
        predicted_error=risk("newton", problem, privacy),
    )


def descent_drafts(names: tuple[str, str], descent: BoundedDescent, k: int, levels: float, main: float) -> list[Draft]:
    """Return the steps of a descent on k columns; gradients get shares that grow with their number."""
    drafts, total = [], descent.steps * (descent.steps + 1) / 2
    for step in range(descent.steps):
        if descent.refreshed(step):
            drafts.append(Draft(names[0], Octaves, CELLS, levels / descent.refreshes))
        drafts.append(Draft(names[1], Weighted, k, main * (step + 1) / total))
    return drafts


RECIPE = Recipe(
    name="newton",
    source="tailguard; steps as in Zhao et al. 2024, Algorithm 1, in private units",
    summary="Private centring and scaling, a noisy Gram matrix that whitens, bounded steps, a calibration.",
    planners={("regression", "practical"): plan_newton, ("classes", "practical"): partial(plan_classes, "newton")},
)
