"""Multinomial logistic regression, planned: the practical parameters of `newton` for more than two classes."""

from dataclasses import replace

from tailguard._validate import refuse
from tailguard.domains.whole_space import WholeSpace
from tailguard.losses.multinomial import Multinomial
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, feature_drafts, preparation_for
from tailguard.solvers.class_descent import ClassDescent, ClassSteps
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.preparation import Preparation
from tailguard.statistics.base import grid_bits
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.gram import Gram
from tailguard.statistics.octaves import Octaves

__all__ = ["plan_classes"]

CENTRE, SCALE, SHARES, ROW, GRAM, LEVEL = 0.06, 0.06, 0.01, 0.015, 0.12, 0.05
"""Shares of the budget; the rest goes to the gradients."""

ROW_TAIL = 100.0
"""Wanted mass of shortened rows, in units of dimension ÷ (n × budget), at most 30 %."""

GRADIENT_TAIL = 3.0
"""Wanted mass of clipped gradients, in units of the noise of one, at most a tenth: beyond it probabilities suffer."""

REFRESHES = 3

STEPS, MOST_STEPS = ((200.0, 12), (1000.0, 20), (1e5, 30)), 60
"""Numbers of steps below limits of n × budget ÷ dimension, and beyond them."""


def plan_classes(recipe: str, problem: Problem, privacy: Privacy) -> Plan:
    """Return the plan of one descent on all classes.

    Raises
    ------
    BudgetError
        When n, d and the budget cannot carry the private preparation; the sentence says how many rows would.
    """
    loss = problem.loss
    assert isinstance(loss, Multinomial)
    if privacy.pure:
        raise refuse("delta", f"{recipe} with {loss.classes} classes", "greater than 0", privacy.delta)
    if not isinstance(problem.domain, WholeSpace):
        raise refuse("domain", f"{recipe} with {loss.classes} classes", "left out: there is none", problem.domain)
    noise, bits = CountNoise.of(privacy), grid_bits(problem.n)
    preparation = Preparation(COARSE, centred=False, scales=problem.scales)
    if problem.intercept:
        preparation = preparation_for(problem, privacy, noise, problem.d, CENTRE)
    prepared = [
        *feature_drafts(preparation, problem.d, CENTRE, SCALE),
        Draft("class shares", Clipped, loss.classes, SHARES),
    ]
    main = 1.0 - sum(draft.share for draft in prepared) - ROW - GRAM - LEVEL
    descent = _descent(problem, privacy, loss.classes, main)
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=ClassDescent(loss, problem.d, problem.intercept, preparation, descent),
        steps=assemble([*prepared, *_drafts(problem, loss.classes, descent, main)], privacy, bits),
        sources=(("shares, tails, steps", "chosen on synthetic development data"),),
    )


def _descent(problem: Problem, privacy: Privacy, classes: int, main: float) -> ClassSteps:
    n, k, noise = problem.n, problem.d + problem.intercept, CountNoise.of(privacy)
    weakness = k * noise.multiplier / n
    tail = GRADIENT_TAIL * classes * k * noise.of_one(main) / n
    carry("A private gradient of all classes", tail, 5.0, problem, privacy)
    steps = next((steps for limit, steps in STEPS if 1.0 / weakness < limit), MOST_STEPS)
    row = ClipLevel(min(ROW_TAIL * weakness, 0.3))
    return ClassSteps(n, grid_bits(n), row, ClipLevel(min(tail, 0.1)), min(0.01, weakness), steps, REFRESHES)


def _drafts(problem: Problem, classes: int, descent: ClassSteps, main: float) -> list[Draft]:
    k = problem.d + problem.intercept
    drafts = [Draft("row level", Octaves, CELLS, ROW), Draft("gram", Gram, k * (k + 1) // 2, GRAM)]
    gradient = Draft("gradient", Clipped, classes * k, main)
    total = descent.steps * (descent.steps + 1) / 2
    for step in range(descent.steps):
        if descent.refreshed(step):
            drafts.append(Draft("gradient level", Octaves, CELLS, LEVEL / descent.refreshes))
        drafts.append(replace(gradient, share=main * (step + 1) / total))
    return drafts
