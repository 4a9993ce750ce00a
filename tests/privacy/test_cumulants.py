"""Cumulants: against the laws they bound, written out, and against each other."""

import math

import numpy as np
import pytest

from tailguard.privacy import cumulants

COSTS = [1e-6, 1e-3, 0.1, 0.19, 0.21, 1.0, 4.0, 15.0]
ORDERS = [1e-6, 1e-2, 0.5, 1.0, 7.0, 40.0]
costs = pytest.mark.parametrize("cost", COSTS)
orders = pytest.mark.parametrize("h", ORDERS)
KINDS = [cumulants.pure, cumulants.selection, cumulants.selection_pair]


@costs
@orders
def test_pure_is_randomised_response(cost: float, h: float) -> None:
    yes = 1.0 / (1.0 + math.exp(-cost))
    transform = yes * math.expm1(h * cost) + (1.0 - yes) * math.expm1(-h * cost)
    assert cumulants.pure(cost, h)[0] == pytest.approx(math.log1p(transform), rel=1e-9, abs=1e-15)


@costs
@orders
def test_selection_is_the_worst_interval(cost: float, h: float) -> None:
    t = np.linspace(0.0, cost, 20_001)
    top = np.expm1(t - cost) / math.expm1(-cost)
    transforms = np.log1p(top * np.expm1(h * t) + (1.0 - top) * np.expm1(h * (t - cost)))
    assert cumulants.selection(cost, h)[0] == pytest.approx(float(transforms.max()), rel=1e-6, abs=1e-15)


@costs
@orders
def test_pair_is_the_transform_of_its_profile(cost: float, h: float) -> None:
    # the density of the loss under P is r² times the second derivative of the profile at r = e^x
    x = np.linspace(-cost, cost, 20_001)
    density = np.exp(0.5 * (x - cost)) / (-2.0 * math.expm1(-cost))
    assert np.trapezoid(density, x) == pytest.approx(1.0, rel=1e-6)
    excess = np.trapezoid(density * np.expm1(h * x), x)
    assert cumulants.selection_pair(cost, h)[0] == pytest.approx(math.log1p(excess), rel=1e-3, abs=1e-9)


@costs
def test_the_profile_of_the_pair_is_the_largest_of_all_intervals(cost: float) -> None:
    t = np.linspace(0.0, cost, 4001)
    for x in np.linspace(-cost, cost, 21):
        every = np.expm1(t - cost) * np.expm1(np.minimum(x - t, 0.0)) / -math.expm1(-cost)
        inside = every[t - cost <= x]
        formula = math.expm1(0.5 * (x - cost)) ** 2 / -math.expm1(-cost)
        assert formula == pytest.approx(float(inside.max()), rel=1e-5, abs=1e-12)


@costs
@orders
def test_order_of_the_bounds(cost: float, h: float) -> None:
    room = 1e-15
    selection, pair, pure = (
        kind(cost, h)[0] for kind in (cumulants.selection, cumulants.selection_pair, cumulants.pure)
    )
    assert 0.0 < selection <= pair + room
    assert pair <= pure + room
    assert selection <= cumulants.concentrated(cost**2 / 8.0, h)[0] * (1.0 + 1e-9) + room
    assert pure <= cumulants.concentrated(cost * math.tanh(cost / 2.0), h)[0] + room
    assert pure <= h * cost * (1.0 + 1e-12)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cost", [1e-2, 0.19, 1.0, 15.0])
@pytest.mark.parametrize("h", [0.1, 1.0, 40.0])
def test_derivative_by_differences(kind: object, cost: float, h: float) -> None:
    step = 1e-4 * h
    difference = (kind(cost, h + step)[0] - kind(cost, h - step)[0]) / (2.0 * step)  # type: ignore[operator]
    assert kind(cost, h)[1] == pytest.approx(difference, rel=1e-5)  # type: ignore[operator]


@pytest.mark.parametrize("kind", KINDS)
def test_large_orders_reach_the_pure_cost(kind: object) -> None:
    for cost in (1e-100, 1e-3, 1.0, 1e6):
        value, slope = kind(cost, 1e9 / cost)  # type: ignore[operator]
        assert value * cost / 1e9 == pytest.approx(cost, rel=1e-6)
        assert slope == pytest.approx(cost, rel=1e-6)
