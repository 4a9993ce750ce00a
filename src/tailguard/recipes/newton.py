"""Linear models without bounds: private units, a noisy Gram matrix, bounded Newton steps, a calibration of numbers."""

import math
from dataclasses import dataclass, replace
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
from tailguard.recipes.feasible import carry
from tailguard.recipes.mean import least_order
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import RISK_UNIT, risk
from tailguard.recipes.preparation import COARSE, feature_drafts, preparation_for, target_drafts
from tailguard.recipes.sandwich import sandwich_for
from tailguard.recipes.settling import settling
from tailguard.recipes.small_budgets import faint
from tailguard.recipes.tight_descent import plan_faint
from tailguard.solvers.bounded_descent import BoundedDescent
from tailguard.solvers.calibration import Calibration, slot
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.log_odds import believed_odds
from tailguard.solvers.newton import Newton
from tailguard.solvers.oracles import Clip
from tailguard.solvers.preparation import Preparation
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.either import Either
from tailguard.statistics.gram import Gram
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.weighted import Weighted

__all__ = ["RECIPE", "plan_newton"]

TARGET = 0.015
"""Share of each of the target's centre and scale."""

CENTRE, CLEAR = 0.06, 280.0
"""Share of the columns' centres, less where √d ÷ (n × budget) is, so many times: ranks are clear then."""

SCALE, RARE = 0.06, 825.0
"""The same of their scales: it takes more for columns that are mostly 0."""

ROW, LEVERAGE, LEVELS, LEVELS_OF_CLASSES = 0.01, 0.01, 0.03, 0.01
"""Shares of the rows' level, the whitened rows' level, the slopes' levels; those of classes say how a loss curves."""

GRAM, LEAST_GRAM, CLOSE = 0.10, 0.02, 40.0
"""Share of the Gram matrix, less where k^1.5 ÷ (n × budget) is, so many times, and the least."""

OFFSET, WEAK_OFFSET, WEAK = 0.01, 0.02, 100.0
"""Share of the first log-odds, and a larger one where n × budget ÷ k is below a limit: there it may be the end."""

LAST, MOST_LAST = 4.7, 0.6
"""The last numbers get LAST ÷ k of the budget, at most 60 %: there are few of them, but their levels are wide. Where
residuals seem symmetric, all of it goes to steps on all columns; classes have none."""

STEPS, MORE_STEPS, MORE_OF_CLASSES, MANY = 24, 30, 50, 800.0
"""Steps on all columns, and more of them where n × budget ÷ k exceeds a limit: there noise in the points spoils no
curvature, and precision is worth them. The curvature of classes changes on the way, which takes still more."""

FEW_STEPS, FEW = 20, 8000.0
"""Steps for classes where n × budget is below a limit: so close to the answer is close enough there. If one of them is
rare, they start from averages."""

SHORT, SHORTER = 1.1, 1.3
"""How much shorter than Newton's steps are, for classes and where steps are few; and for numbers where they are more:
levels of rows are wide there, and what rows far out add to the curvature is seen by no matrix."""

GROWTH = 0.5
"""The gradient of step t gets a share ∝ t^GROWTH: first ones are far from the answer, whatever their noise."""

REFRESHES, CALIBRATION_STEPS = 3, 5
"""How often levels are sought on the way; the steps on the line."""

FAINTEST = 0.2
"""Rank noise of the target's median, as a share of n, beyond which nothing is left of it."""

WEAKEST = 0.25
"""k ÷ (n × budget) beyond which gradients are nothing but noise."""

STRONG = 1e4
"""n × budget ÷ k beyond which noise is no concern any more."""

TAIL = 300.0
"""Wanted mass beyond the levels of rows and slopes, in units of k ÷ (n × budget); so they grow with n × budget, and the
answer tends to the minimiser of the loss."""

EVEN, TILT = 8.0, 0.01
"""The same for residuals that seem symmetric, in units of the root of k ÷ (n × budget): it vanishes too, but later. And
the share of the test."""

ROW_TAIL, LEVERAGE_TAIL, CLASS_LEVERAGE_TAIL, SLOPE_TAIL, EVEN_TAIL = 0.3, 0.5, 0.65, 0.42, 0.65
"""The most of it for rows in the Gram matrix, whitened rows of numbers and of classes, slopes, residuals that seem
symmetric: tight levels cost little if a model is right."""

CALIBRATION_TAIL, PREDICTION_TAIL, MOST_PREDICTIONS = 12.0, 150.0, 0.2
"""The same on the line, in units of one number's noise, of residuals and of predictions, and the most of the latter."""

PREDICTIONS, RESIDUALS = 0.05, 0.2
"""Parts of the last numbers' share: of the predictions' level, and of the residuals'."""

ODDS = 2.0
"""Largest odds of classes that are believed, in n × budget ÷ k."""

RIDGE = 0.01
"""Smallest variance of a direction that is believed, in units of a column's."""


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
    weakness = (problem.d + problem.intercept) * CountNoise.of(privacy).multiplier / problem.n
    carry("A private gradient", weakness, WEAKEST, problem, privacy)
    if faint(problem, privacy):
        return plan_faint("newton", problem, privacy)
    shares = _Shares.of(problem, 1.0 / weakness)
    solver = _solver(problem, privacy, shares)
    return Plan(
        recipe="newton",
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble(_drafts(problem, solver, shares), privacy, grid_bits(problem.n)),
        sources=(("shares, tails, steps", "chosen on synthetic development data"), ("predicted_error", RISK_UNIT)),
        predicted_error=risk("newton", problem, privacy),
    )


@dataclass(frozen=True)
class _Shares:
    """Shares of units and of the Gram matrix; of the first log-odds; and of the last numbers.

    These are levels, a factor of the slopes, and the intercept where residuals have a mean.
    """

    centres: float
    scales: float
    gram: float
    predictions: float
    residuals: float
    calibrated: float
    settled: float
    offset: float

    @classmethod
    def of(cls, problem: Problem, strength: float) -> "_Shares":
        k = problem.d + problem.intercept
        hard = math.sqrt(problem.d) / (k * strength)
        centres, scales = CENTRE * min(CLEAR * hard, 1.0), SCALE * min(RARE * hard, 1.0)
        gram = max(GRAM * min(CLOSE * math.sqrt(k) / strength, 1.0), LEAST_GRAM)
        scaled = isinstance(problem.loss, ResidualLoss)
        last = min(LAST / k, MOST_LAST) if scaled else 0.0
        rest = (1.0 - PREDICTIONS - RESIDUALS) * last
        settled = rest / 2 if problem.intercept else 0.0
        offset = (WEAK_OFFSET if strength < WEAK else OFFSET) if problem.intercept and not scaled else 0.0
        return cls(centres, scales, gram, PREDICTIONS * last, RESIDUALS * last, rest - settled, settled, offset)


def _solver(problem: Problem, privacy: Privacy, shares: _Shares) -> Newton:
    n, d, loss, intercept = problem.n, problem.d, problem.loss, problem.intercept
    assert isinstance(loss, Loss)
    noise, scaled = CountNoise.of(privacy), isinstance(loss, ResidualLoss)
    strength = n / ((d + intercept) * noise.multiplier)
    strong = strength > STRONG
    more = MORE_STEPS if scaled else MORE_OF_CLASSES
    steps = more if strength > MANY else STEPS
    caution = SHORTER if scaled and strength > MANY else SHORT
    few = not scaled and n < FEW * noise.multiplier
    steps = FEW_STEPS if few else steps
    descent = _descent(problem, steps, REFRESHES, TAIL / strength, caution)
    descent = replace(descent, even=_even(problem, strength), settling=few)
    preparation = Preparation(COARSE, centred=False, scales=problem.scales)
    if intercept:
        preparation = preparation_for(problem, privacy, noise, d, shares.centres, medians=False, target=TARGET * scaled)
        if "target centre" in preparation.asked and scaled:
            ranks = noise.of_bisection(TARGET, preparation.of_target.grid.depth) / n
            carry("A private median of the target", ranks, FAINTEST, problem, privacy)
    return Newton(
        loss=loss,
        surrogate=BalancedLogistic() if isinstance(loss, Logistic) and not strong else None,
        domain=problem.domain,
        d=d,
        intercept=intercept,
        scaled_target=scaled,
        preparation=preparation,
        row=ClipLevel(min(TAIL / strength, ROW_TAIL)),
        leverage=ClipLevel(min(TAIL / strength, LEVERAGE_TAIL if scaled else CLASS_LEVERAGE_TAIL)),
        ridge=RIDGE,
        descent=descent,
        calibration=_calibration(problem, noise.of_one(shares.calibrated) / n, caution) if scaled else None,
        settling=settling(problem, privacy, shares.settled, known=True) if shares.settled else None,
        errors=sandwich_for(problem, Clip(), d + intercept)[0],
        farthest=believed_odds(ODDS * strength) if isinstance(loss, Logistic) else None,
    )


def _even(problem: Problem, strength: float) -> float:
    """Return the mass beyond the levels of residuals that seem symmetric; 0 where they have no mean, or no intercept.

    Without an intercept nothing makes the mean of tightly clipped residuals 0, to which wider ones are compared.
    """
    if not (isinstance(problem.loss, ResidualLoss) and problem.intercept):
        return 0.0
    return min(EVEN / math.sqrt(strength), EVEN_TAIL)


def _descent(problem: Problem, steps: int, refreshes: int, tail: float, caution: float) -> BoundedDescent:
    level = ClipLevel(min(tail, SLOPE_TAIL), least_order(problem))
    return BoundedDescent(problem.n, grid_bits(problem.n), steps, refreshes, level, caution=caution)


def _calibration(problem: Problem, noise: float, caution: float) -> Calibration:
    """Return how the line is calibrated where one number has this noise, as a share of n."""
    rows = ClipLevel(min(PREDICTION_TAIL * noise, MOST_PREDICTIONS), least_order(problem))
    return Calibration(rows, _descent(problem, CALIBRATION_STEPS, 0, CALIBRATION_TAIL * noise, caution))


def _drafts(problem: Problem, solver: Newton, shares: _Shares) -> list[Draft]:
    """Return the steps in the order in which the solver asks."""
    k, target = problem.d + problem.intercept, solver.preparation
    served = sandwich_for(problem, Clip(), k)[1]
    prepared = [
        *(target_drafts(target, TARGET, TARGET) if solver.scaled_target else []),
        *feature_drafts(target, problem.d, shares.centres, shares.scales + shares.centres * (not target.medians)),
        Draft("row level", Octaves, CELLS, ROW),
        Draft("gram", Gram, k * (k + 1) // 2, shares.gram),
        *([Draft("offset", Clipped, 1, shares.offset)] if shares.offset else []),
        Draft("leverage level", Octaves, CELLS, LEVERAGE),
    ]
    last = served if solver.calibration is None else [*_last_numbers(solver.calibration, k, shares), *served]
    levels = LEVELS if solver.scaled_target else LEVELS_OF_CLASSES
    main = 1.0 - levels - TILT * (solver.descent.even > 0.0) - sum(draft.share for draft in [*prepared, *last])
    return [*prepared, *descent_drafts(("slope level", "gradient"), solver.descent, k, levels, main), *last]


def _last_numbers(calibration: Calibration, k: int, shares: _Shares) -> list[Draft]:
    """Return the steps of levels, of a factor of the slopes and of the intercept; or of more steps on all columns."""
    return [
        Draft("calibration level", Either, slot(k), shares.residuals),
        Draft("prediction level", Either, slot(k), shares.predictions),
        *descent_drafts(("", "calibration"), calibration.descent, k, 0.0, shares.calibrated),
        *([Draft("intercept", Weighted, k, shares.settled)] if shares.settled else []),
    ]


def descent_drafts(names: tuple[str, str], descent: BoundedDescent, k: int, levels: float, main: float) -> list[Draft]:
    """Return the steps of a descent on k columns; gradients get shares that grow with their number."""
    sizes = [(step + 1.0) ** (GROWTH if names[0] else 1.0) for step in range(descent.steps)]
    total = sum(sizes)
    drafts = []
    for step in range(descent.steps):
        if descent.refreshed(step):
            drafts.append(Draft(names[0], Octaves, CELLS, levels / descent.refreshes))
        if descent.tested(step):
            drafts.append(Draft("tilt", Clipped, 1, TILT))
        drafts.append(Draft(names[1], Weighted, k, main * sizes[step] / total))
    return drafts


RECIPE = Recipe(
    name="newton",
    source="tailguard; steps as in Zhao et al. 2024, Algorithm 1, in private units",
    summary="Private centring and scaling, a noisy Gram matrix that whitens, bounded steps; for numbers a calibration.",
    planners={("regression", "practical"): plan_newton, ("classes", "practical"): partial(plan_classes, "newton")},
)
