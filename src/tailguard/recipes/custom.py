"""Practical descent for losses that are no function of a prediction: nothing to scale, a private clip level."""

import math

from tailguard._validate import refuse
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.privacy.budget import Privacy
from tailguard.recipes.draft import Draft, assemble
from tailguard.recipes.feasible import carry, carry_groups
from tailguard.recipes.mean import least_order
from tailguard.recipes.noise import CountNoise
from tailguard.solvers.clip_level import CELLS, ClipLevel
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.projected_gradient import ProjectedGradient
from tailguard.statistics.base import grid_bits
from tailguard.statistics.octaves import Octaves

__all__ = ["plan_custom"]

LEVEL, TAIL = 0.05, 10.0
"""Share of the clip level, and wanted tail mass in units of the oracle's noise ÷ (n × budget)."""

FEWEST, MOST = 10, 200
"""Limits of the number of steps."""


def plan_custom(recipe: str, oracle: MeanOracle, problem: Problem, privacy: Privacy) -> Plan:
    """Return plain projected gradient descent with step 1/λ and a clip level from the gradients at the start.

    The number of steps grows like the square root of n × budget ÷ √k: the optimisation error of T steps, of order 1/T,
    is then of the order of the noise that T steps share.
    """
    if problem.intercept:
        raise refuse("intercept", recipe, "False for a loss of whole records", problem.intercept)
    if problem.scales is not None:
        raise refuse("scales", recipe, "None for a loss of whole records", problem.scales)
    n, k, bits = problem.n, problem.domain.dimension, grid_bits(problem.n)
    carry_groups(oracle, problem.n, problem, privacy)
    noise = CountNoise.of(privacy)
    tail = TAIL * oracle.noise(k) * noise.of_one(1.0 - LEVEL) / n
    carry("A private gradient", tail, 5.0, problem, privacy)
    steps = round(min(max(math.sqrt(n / (noise.multiplier * math.sqrt(k))), FEWEST), MOST))
    solver = ProjectedGradient(
        loss=problem.loss,
        domain=problem.domain,
        n=n,
        d=problem.d,
        bits=bits,
        intercept=False,
        oracle=oracle,
        steps=steps,
        step_size=1.0 / problem.smoothness,
        answer="last",
        level=ClipLevel(min(tail, 0.5), least_order(problem)),
    )
    drafts = [
        Draft("clip level", Octaves, CELLS, LEVEL),
        Draft("gradient", oracle.kind, oracle.dimension(k), 1.0 - LEVEL, steps),
    ]
    return Plan(
        recipe=recipe,
        parameters="practical",
        problem=problem,
        privacy=privacy,
        solver=solver,
        steps=assemble(drafts, privacy, bits),
        sources=(("shares, tail, steps", "balance of optimisation error and noise"), ("step_size", "1/smoothness")),
    )
