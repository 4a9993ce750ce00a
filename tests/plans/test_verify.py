"""Verification trusts no number that it can compute itself."""

import dataclasses

import pytest

from tailguard.errors import PlanError
from tailguard.mechanisms import Laplace, NoisyMax
from tailguard.plans import verify
from tailguard.privacy import Privacy
from tests.support import toy
from tests.support.checks import gaussian_delta, gaussian_epsilon
from tests.support.registry_plans import CASES

PLAN = next(case.plan for case in CASES if case.name == "clipped mean, known moment")


def _with(plan=PLAN, **changes):
    return dataclasses.replace(plan, steps=(dataclasses.replace(plan.steps[0], **changes), *plan.steps[1:]))


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        (dataclasses.replace(PLAN, schema=2), "schema must be 1"),
        (dataclasses.replace(PLAN, relation="add-remove"), "relation 'replace-one'"),
        (dataclasses.replace(PLAN, steps=()), "no steps"),
        (_with(statistic="mean"), "must be one of"),
        (_with(sensitivity=PLAN.steps[0].sensitivity / 2), "the sensitivity is not the one"),
        (_with(sensitivity=PLAN.steps[0].sensitivity * 2), "the sensitivity is not the one"),
        (_with(mechanism=Laplace()), "offers no l1 sensitivity"),
        (_with(mechanism=NoisyMax()), "offers no linf sensitivity"),
        (_with(blocks=PLAN.problem.n + 1), "blocks are more than n = 400"),
        (_with(multiplier=1e-12), "The 'multiplier' parameter of Gaussian"),
        (_with(count=2), "more than the ε = 30"),
        (dataclasses.replace(PLAN, privacy=Privacy(29.9, 1e-6)), "costs ε = 30 at δ = 1e-06, more than the ε = 29.9"),
        (dataclasses.replace(PLAN, privacy=Privacy(30.0, 1e-9)), "at δ = 1e-09, more than"),
        (dataclasses.replace(PLAN, privacy=Privacy(30.0)), "costs ε = inf at δ = 0"),
    ],
)
def test_wrong_plans_are_refused_with_the_reason(plan, reason):
    with pytest.raises(PlanError, match=reason):
        verify(plan)


def test_a_sum_that_could_overflow_is_refused():
    big = dataclasses.replace(PLAN, problem=dataclasses.replace(PLAN.problem, n=2**30))
    with pytest.raises(PlanError, match="40 bits could overflow a sum over n = 1073741824 records"):
        verify(big)


def test_the_cost_is_that_of_the_textbook():
    """A third derivation, written down in the tests: Balle and Wang's formula, by bisection."""
    step = toy.step("sum", toy.clipped(), multiplier=8.0, count=9)
    mu = 3.0 / 8.0
    for delta in (1e-3, 1e-6, 1e-9):
        plan = toy.plan((step,), toy.obedient, privacy=Privacy(10.0, delta))
        cost = verify(plan)
        assert cost.epsilon == pytest.approx(gaussian_epsilon(mu, delta), rel=1e-6)
        assert gaussian_delta(mu, cost.epsilon) <= delta * (1 + 1e-9)
        assert cost.delta == delta


def test_pure_costs_add_up():
    steps = (
        toy.step("count", toy.below(0.0, 0.0), Laplace(), multiplier=4.0, count=3),
        toy.step("again", toy.below(0.0, 0.0), Laplace(), multiplier=2.0, count=4, blocks=2),
    )
    assert verify(toy.plan(steps, toy.obedient, privacy=Privacy(2.0))).epsilon == pytest.approx(3 / 4 + 2 / 2)


def test_only_steps_and_budget_decide_the_cost():
    other = dataclasses.replace(PLAN, recipe="another", parameters="paper", sources=())
    assert verify(other) == verify(PLAN)
