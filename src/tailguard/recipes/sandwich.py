"""What the uncertainty of a fit costs: shares of the two matrices of a sandwich, where one is offered."""

from dataclasses import replace

from tailguard.domains.l2_ball import L2Ball
from tailguard.domains.whole_space import WholeSpace
from tailguard.losses.logistic import Logistic
from tailguard.losses.squared import Squared
from tailguard.plans.plan import Plan
from tailguard.plans.problem import Problem
from tailguard.recipes.draft import Draft
from tailguard.solvers.clipped_descent import ClippedDescent
from tailguard.solvers.newton import Newton
from tailguard.solvers.oracles import Clip, MeanOracle
from tailguard.solvers.sandwich import Sandwich
from tailguard.statistics.base import grid_bits
from tailguard.statistics.outer import Outer
from tailguard.statistics.weighted import Weighted

__all__ = ["sandwich_for", "without_errors"]

BREAD, MEAT, LEAN_MEAT = 0.01, 0.02, 0.01
"""Shares of the derivative of the mean gradient and of the second moments of gradients. Those of classes give the shape
of the derivative too; where residuals are bounded tightly, less will do."""

WIDE = 0.025
"""Share of one gradient with wide levels, which tells slopes apart that tight levels have shortened."""

STEPS = frozenset({"bread", "meat", "wide gradient"})
"""What a plan has for standard errors alone."""


def sandwich_for(
    problem: Problem, oracle: MeanOracle, k: int, calibrated: bool = True
) -> tuple[Sandwich | None, list[Draft]]:
    """Return how the uncertainty of a fit on k columns is estimated and the steps it takes, the last of the plan.

    It is offered for least squares and logistic regression in the whole space or a ball: corners of a polytope, groups
    of records and losses with kinks have other laws.
    """
    smooth = isinstance(problem.loss, Squared | Logistic) and isinstance(problem.domain, WholeSpace | L2Ball)
    if not (smooth and isinstance(oracle, Clip)):
        return None, []
    size = k * (k + 1) // 2
    wide = calibrated and isinstance(problem.loss, Squared) and problem.d > 1
    drafts = [Draft("bread", Outer, size, BREAD), Draft("meat", Outer, size, LEAN_MEAT if wide else MEAT)]
    if wide:
        drafts.append(Draft("wide gradient", Weighted, k, WIDE))
    return Sandwich(problem.n, grid_bits(problem.n), wide), drafts


def without_errors(plan: Plan) -> Plan:
    """Return a plan without the steps that only standard errors take; it costs less than its budget then."""
    solver = plan.solver
    if not (isinstance(solver, Newton | ClippedDescent) and solver.errors is not None):
        return plan
    fit = tuple(step for step in plan.steps if step.name not in STEPS)
    return replace(plan, solver=replace(solver, errors=None), steps=fit)
