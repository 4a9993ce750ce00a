"""Checks a plan without any data, and recomputes its cost by a second derivation."""

import math

from tailguard.errors import ParameterError, PlanError
from tailguard.plans.checks import instance
from tailguard.plans.plan import RELATION, SCHEMA, Plan
from tailguard.plans.step import Step
from tailguard.privacy.budget import Privacy
from tailguard.privacy.recompute import recompute
from tailguard.statistics.base import grid_bits, statistic_type

__all__ = ["verify"]


def verify(plan: Plan) -> Privacy:
    """Return what the plan really costs, recomputed from its steps alone.

    Parameters
    ----------
    plan : Plan
        Any plan, from a recipe or from a file.

    Returns
    -------
    Privacy
        The recomputed ε at the plan's δ; never more than the plan promises.

    Raises
    ------
    PlanError
        If the plan is malformed, if a step declares a sensitivity other than its statistic's, or if the plan costs
        more than it promises; the sentence then names the true cost.

    Notes
    -----
    *Guarantee.* Recipes calibrate with closed forms; this function shares no formula with them
    (`tailguard.privacy.recompute`). It does not trust a single number that it can compute itself.
    """
    instance("plan", plan, "verify", Plan, "a Plan")
    if plan.schema != SCHEMA or plan.relation != RELATION:
        raise PlanError(f"The plan's schema must be {SCHEMA} and its neighbouring relation {RELATION!r}.")
    if not plan.steps:
        raise PlanError("The plan has no steps.")
    try:
        for step in plan.steps:
            _check_step(step, plan.problem.n, plan.problem.d)
        cost = recompute(plan.event, plan.privacy.delta)
    except (ParameterError, OverflowError) as error:
        raise PlanError(f"The plan cannot be carried out: {error}") from error
    if not cost <= plan.privacy.epsilon:
        raise PlanError(
            f"The plan costs ε = {cost:.6g} at δ = {plan.privacy.delta:g}, more than the ε = "
            f"{plan.privacy.epsilon:.6g} that it promises."
        )
    return Privacy(max(cost, math.ulp(0.0)), plan.privacy.delta)  # δ alone may cover a plan, and ε is positive


def _check_step(step: Step, n: int, d: int) -> None:
    kind = statistic_type(step.statistic)
    if step.mechanism.norm not in kind.norms:
        raise PlanError(f"Step {step.name!r}: {step.statistic!r} offers no {step.mechanism.norm} sensitivity.")
    if step.sensitivity != kind.sensitivity_of(step.mechanism.norm, step.dimension, step.bits, step.parts):
        raise PlanError(f"Step {step.name!r}: the sensitivity is not the one that {step.statistic!r} declares.")
    if step.bits > grid_bits(n):
        raise PlanError(f"Step {step.name!r}: {step.bits} bits could overflow a sum over n = {n} records.")
    if step.blocks > n:
        raise PlanError(f"Step {step.name!r}: {step.blocks} blocks are more than n = {n} records.")
    if step.columns is not None and not (step.columns and max(step.columns) < d):
        raise PlanError(f"Step {step.name!r}: its columns are not among the {d} of the records.")
