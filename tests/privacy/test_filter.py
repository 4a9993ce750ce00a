"""The filter's arithmetic, against dp-accounting and against the exact composition of what it lets through."""

import math

import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, SelfComposedDpEvent, ZCDpEvent
from dp_accounting.rdp import RdpAccountant

from tailguard.errors import ParameterError
from tailguard.privacy import (
    BoundedRange,
    Cost,
    Disjoint,
    Filter,
    Gaussian,
    Laplace,
    Privacy,
    Pure,
    Repeat,
    Sequential,
    epsilon,
)

BUDGET = Privacy(1.0, 1e-6)


@pytest.mark.parametrize(
    ("event", "rho", "pure"),
    [
        (Gaussian(2.0), 0.125, math.inf),
        (Gaussian(2.0, distance=1e-9), 0.125, math.inf),
        (Laplace(4.0), 0.03125, 0.25),
        (Pure(0.5), 0.125, 0.5),
        (Pure(5.0), 5.0, 5.0),
        (BoundedRange(0.4), 0.02, 0.4),
        (BoundedRange(16.0), 16.0, 16.0),
        (Repeat(Gaussian(2.0), 4), 0.5, math.inf),
        (Sequential((Pure(0.5), BoundedRange(0.4))), 0.145, 0.9),
        (Sequential((Pure(0.5), Disjoint((Pure(0.1), Pure(0.3))))), 0.17, 0.8),
        (Disjoint((Gaussian(2.0), Pure(1.0))), 0.5, math.inf),
    ],
)
def test_costs_of_events(event, rho, pure):
    cost = Cost.of(event, 1e-6)
    assert cost.rho == pytest.approx(rho, rel=1e-12)
    assert cost.epsilon == pytest.approx(pure, rel=1e-12)
    assert cost.delta == 0.0
    assert cost.alone == epsilon(event, 1e-6)


@pytest.mark.parametrize("kind", [lambda e: Pure(e), lambda e: BoundedRange(2.0 * e)])
@pytest.mark.parametrize("e", [0.01, 0.3, 1.0, 4.0, 12.0])
def test_rho_bounds_the_divergence_of_the_worst_law_at_every_order(kind, e):
    """Randomised response, and the two-point law of bounded range: D_α ≤ ρα."""
    event = kind(e)
    rho = Cost.of(event).rho
    width = e if isinstance(event, Pure) else 2.0 * e
    for alpha in 1.0 + np.geomspace(1e-4, 1e4, 60):
        tops = [width] if isinstance(event, Pure) else np.linspace(1e-6, 1 - 1e-6, 400) * width
        for top in tops:
            low = -width if isinstance(event, Pure) else top - width  # losses are top with Q-mass q, low otherwise
            q = -math.expm1(low) / (math.exp(top) - math.exp(low))
            logs = np.array([math.log(q) + alpha * top, math.log1p(-q) + alpha * low])
            assert np.logaddexp.reduce(logs) / (alpha - 1.0) <= rho * alpha * (1 + 1e-9)


def _renyi(rho, delta):
    accountant = RdpAccountant(orders=1.0 + np.geomspace(1e-3, 1e4, 4000))
    accountant.compose(ZCDpEvent(rho))
    return accountant.get_epsilon(delta)


@pytest.mark.parametrize("privacy", [Privacy(0.1, 1e-8), BUDGET, Privacy(3.0, 1e-5), Privacy(20.0, 1e-9)])
def test_the_limit_is_what_dp_accounting_says(privacy):
    limit = Filter(privacy).rho
    assert _renyi(limit, privacy.delta) == pytest.approx(privacy.epsilon, rel=1e-4)
    assert _renyi(1.01 * limit, privacy.delta) > privacy.epsilon


def test_spent_epsilon_is_what_dp_accounting_says():
    fits = [Cost.of(Gaussian(multiplier), 1e-6) for multiplier in (10.0, 15.0, 20.0)]
    rho = sum(cost.rho for cost in fits)
    assert Filter(BUDGET).epsilon(fits) == pytest.approx(_renyi(rho, 1e-6), rel=1e-4)
    one = [Cost.of(Gaussian(10.0), 1e-6)]
    assert Filter(BUDGET).epsilon(one) == epsilon(Gaussian(10.0), 1e-6)
    assert Filter(BUDGET).epsilon([]) == 0.0


def test_what_is_let_through_costs_no_more_than_the_budget():
    """For lists that were fixed beforehand composition is known exactly, and must be within the budget."""
    rng = np.random.default_rng(0)
    budget = Filter(BUDGET)
    for _ in range(20):
        events, costs = [], []
        for _ in range(200):
            event = [Gaussian(rng.uniform(8, 60)), BoundedRange(rng.uniform(0.01, 0.2)), Laplace(rng.uniform(10, 90))]
            event = event[rng.integers(3)]
            cost = Cost.of(event, BUDGET.delta)
            if budget.admits(costs, cost):
                events.append(event)
                costs.append(cost)
        assert len(events) > 5
        assert epsilon(Sequential(tuple(events)), BUDGET.delta) <= BUDGET.epsilon
        assert budget.epsilon(costs) <= BUDGET.epsilon


def test_the_first_fit_may_take_all_and_then_nothing_is_left():
    whole = Cost.of(Gaussian(4.22479), BUDGET.delta)
    budget = Filter(BUDGET)
    assert whole.rho > budget.rho
    assert whole.alone <= 1.0
    assert budget.admits([], whole)
    assert budget.epsilon([whole]) == whole.alone
    assert not budget.admits([Cost.of(Gaussian(1e6), BUDGET.delta)], whole)
    for small in (Gaussian(1e9), Pure(1e-9), BoundedRange(1e-9)):
        assert not budget.admits([whole], Cost.of(small, BUDGET.delta))
    assert not budget.admits([], Cost.of(Gaussian(4.2), BUDGET.delta))
    assert budget.left([whole]) == 0.0
    assert budget.next_epsilon([whole]) == 0.0


def test_pure_costs_add_up_in_both_kinds_of_budget():
    tenth = Cost.of(Pure(0.1), 0.0)
    for budget in (Filter(Privacy(1.0)), Filter(BUDGET)):
        assert budget.admits([tenth] * 9, tenth)
        assert not budget.admits([tenth] * 10, tenth) or not budget.privacy.pure
    # Ten tenths of a pure ε are far beyond the ρ of the budget, and not a hair more is let through.
    halves = [Cost.of(Pure(0.5), 1e-6)] * 2
    assert not Filter(BUDGET).admits(halves, Cost.of(Pure(1e-6), 1e-6))
    assert not Filter(BUDGET).admits(halves, Cost.of(Gaussian(1e6), 1e-6))
    assert Filter(Privacy(1.0)).epsilon([tenth] * 10) == 1.0


def test_a_pure_budget_takes_no_gaussian():
    budget = Filter(Privacy(1.0))
    assert not budget.admits([], Cost.of(Gaussian(1e9), 0.0))
    assert budget.rho == 0.0
    assert budget.next_epsilon([Cost.of(Pure(0.25))], fits=3) == 0.25


def test_costs_with_a_delta_of_their_own_need_slack():
    other = Cost.elsewhere(Privacy(0.1, 1e-7), BUDGET.delta)
    small = Cost.of(Gaussian(100.0), BUDGET.delta)
    assert other.rho == pytest.approx(0.005)
    assert not Filter(BUDGET).admits([small], other)
    roomy = Filter(BUDGET, slack=2e-7)
    assert roomy.rho < Filter(BUDGET).rho
    assert roomy.admits([small], other)
    assert roomy.admits([small, other], other)
    assert not roomy.admits([small, other, other], other)
    assert Cost.elsewhere(Privacy(0.1), 1e-6) == Cost.of(Pure(0.1), 1e-6)
    assert roomy.epsilon([small, other]) < 1.0
    assert Filter(BUDGET).epsilon([small, other]) == math.inf


@pytest.mark.parametrize("slack", [-1.0, 1e-6, 2.0, math.nan])
def test_slack_is_a_part_of_delta(slack):
    with pytest.raises(ParameterError, match="slack"):
        Filter(BUDGET, slack=slack)


def test_the_next_fit_that_is_promised_is_let_through():
    budget, spent = Filter(BUDGET), [Cost.of(Gaussian(20.0), 1e-6)]
    for fits in (1, 3, 10):
        e = budget.next_epsilon(spent, fits)
        multiplier = _multiplier(e * (1 - 1e-6))
        cost = Cost.of(Gaussian(multiplier), 1e-6)
        assert budget.admits(spent + [cost] * (fits - 1), cost)
        more = Cost.of(Gaussian(multiplier * 0.99), 1e-6)
        assert not budget.admits(spent + [more] * (fits - 1), more)


def _multiplier(e):
    from tailguard.privacy import gaussian_multiplier

    return gaussian_multiplier(Privacy(e, 1e-6))


def test_zcdp_beats_the_sum_of_epsilon():
    accountant = RdpAccountant()
    accountant.compose(SelfComposedDpEvent(GaussianDpEvent(15.0), 10))
    cost = Cost.of(Gaussian(15.0), 1e-6)
    spent = Filter(BUDGET).epsilon([cost] * 10)
    assert spent <= accountant.get_epsilon(1e-6)
    assert spent < 0.4 * 10 * cost.alone


@pytest.mark.parametrize("seed", range(6))
def test_adaptive_choices_stay_within_the_budget_exactly(seed):
    """Randomised responses whose ε depends on all answers so far, until the filter says no: every path enumerated."""
    budget, rng = Filter(Privacy(1.5, 0.02)), np.random.default_rng(seed)
    excess, most = 0.0, 0
    paths = [((), 1.0, 1.0)]
    while paths:
        spent, p, q = paths.pop()
        # The greedy adversary goes for large steps where the loss is high already, and for small ones elsewhere.
        e = rng.choice([0.5, 0.7]) if p > q else rng.choice([0.25, 0.35])
        cost = Cost.of(Pure(float(e)), 0.02)
        if not budget.admits(spent, cost):
            excess += max(0.0, p - math.exp(1.5) * q)
            most = max(most, len(spent))
            continue
        true = math.exp(e) / (1.0 + math.exp(e))
        paths.append(((*spent, cost), p * true, q * (1.0 - true)))
        paths.append(((*spent, cost), p * (1.0 - true), q * true))
    assert 4 <= most <= 14
    assert excess <= 0.02
