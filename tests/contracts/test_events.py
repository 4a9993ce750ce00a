"""What every event must do: cost the same however it is written down, more when there is more of it."""

import math

import pytest

from tailguard.privacy import Disjoint, Event, Gaussian, Repeat, Sequential, delta, epsilon, recompute
from tests.support.registry_events import ALL, LEAVES

events = pytest.mark.parametrize("event", ALL.values(), ids=ALL.keys())
leaves = pytest.mark.parametrize("event", LEAVES.values(), ids=LEAVES.keys())
deltas = pytest.mark.parametrize("target", [0.0, 1e-12, 1e-6, 1e-2])

COMPANY = Gaussian(7.0, distance=1e-17)


@events
@deltas
@pytest.mark.parametrize("accountant", [epsilon, recompute])
def test_repeating_is_writing_copies(event: Event, target: float, accountant: object) -> None:
    copies = Sequential((event,) * 5)
    nested = Repeat(Sequential((event,)), 2), Sequential((Sequential((event, event)), event))
    for form in (
        Repeat(event, 5),
        Sequential(nested),
        Sequential((Sequential(()), copies)),
        Repeat(Repeat(copies, 1), 1),
    ):
        assert accountant(form, target) == accountant(copies, target)  # type: ignore[operator]


@events
def test_repeating_counts_for_delta_too(event: Event) -> None:
    assert delta(Repeat(event, 3), 0.7) == delta(Sequential((event,) * 3), 0.7)


@events
@deltas
def test_many_repetitions_cost_more_than_few(event: Event, target: float) -> None:
    costs = [epsilon(Repeat(event, count), target) for count in (1, 2, 6)]
    assert costs == sorted(costs)
    assert costs[0] > 0.0
    assert costs[0] < costs[-1] or math.isinf(costs[0])


@events
@deltas
def test_company_and_order(event: Event, target: float) -> None:
    together = epsilon(Sequential((event, COMPANY)), target)
    assert together == epsilon(Sequential((COMPANY, event)), target)
    assert together >= max(epsilon(event, target), epsilon(COMPANY, target))


@events
@deltas
def test_disjoint_copies_cost_one(event: Event, target: float) -> None:
    assert epsilon(Disjoint((event,) * 7), target) == pytest.approx(epsilon(event, target), rel=1e-12)


@leaves
def test_a_cost_at_a_smaller_delta_is_larger(event: Event) -> None:
    costs = [epsilon(Repeat(event, 50), target) for target in (0.5, 1e-2, 1e-4, 1e-8, 1e-16, 1e-100, 0.0)]
    assert costs == sorted(costs)


@leaves
def test_both_accountants_agree_on_one_event(event: Event) -> None:
    for target in (1e-9, 1e-6, 1e-3):
        assert 0.9 * epsilon(event, target) <= recompute(event, target) <= epsilon(event, target) * (1.0 + 1e-8)
