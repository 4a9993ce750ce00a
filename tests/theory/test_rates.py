"""What every rate must do: fall with n and ε, scale with the data, have its stated exponents, and leave room below."""

import itertools
import math
from dataclasses import replace

import pytest

from tailguard.theory import Rate, Setting, rates

RATES = {rate.name: rate for rate in rates()}
FIXED_EPSILON = "coordinatewise means, second moments, convex"  # its exponent of ε belongs to ε ≥ 1/d
LOGARITHMS = 0.04  # what logarithms of the sizes below may add to an exponent


def _orders(rate: Rate) -> list[float]:
    least, greatest = rate.orders
    return [p for p in (1.3, 1.6, 2.0, 3.0, 8.0) if least <= p <= greatest]


EACH = [pytest.param(rate, order, id=f"{name} p={order}") for name, rate in RATES.items() for order in _orders(rate)]


def _setting(rate: Rate, order: float, **changes: float) -> Setting:
    d = 1 if rate.exponent_d is None else 40
    return replace(Setting(n=10**6, d=d, epsilon=0.5, order=order, sparsity=min(d, 3)), **changes)


def _slope(rate: Rate, setting: Setting, field: str, factor: float) -> float:
    value = getattr(setting, field)
    scaled = value * int(factor) if isinstance(value, int) else value * factor
    return math.log(rate(replace(setting, **{field: scaled})) / rate(setting)) / math.log(factor)


@pytest.mark.parametrize(("rate", "order"), EACH)
def test_exponents_where_privacy_dominates(rate: Rate, order: float) -> None:
    """At absurd sizes the private term stands alone and logarithms hardly move."""
    epsilon = 0.3 if rate.name == FIXED_EPSILON else 1e-90
    setting = _setting(rate, order, n=10**200, epsilon=epsilon, delta=1e-200)
    wide = setting if rate.exponent_d is None else replace(setting, d=10**20)
    assert _slope(rate, setting, "n", 1e6) == pytest.approx(rate.exponent_n(order), abs=LOGARITHMS / 4)
    assert _slope(rate, wide, "epsilon", 2.0) == pytest.approx(rate.exponent_epsilon(order), abs=1e-3)
    if rate.exponent_d is not None:
        assert _slope(rate, wide, "d", 1e4) == pytest.approx(rate.exponent_d(order), abs=LOGARITHMS)


@pytest.mark.parametrize(("rate", "order"), [case for case in EACH if case.values[0].exponent_sampling is not None])
def test_exponents_where_sampling_dominates(rate: Rate, order: float) -> None:
    setting = _setting(rate, order, n=10**200, epsilon=1.0)
    assert _slope(rate, setting, "n", 1e6) == pytest.approx(rate.exponent_sampling(order), abs=LOGARITHMS / 4)


@pytest.mark.parametrize(("rate", "order"), EACH)
def test_falls_with_n_and_epsilon(rate: Rate, order: float) -> None:
    """The clipped means have the theorem's radius and not their best one; more budget may cost them 2 %."""
    room = 1.02 if rate.name.startswith("clipped mean") else 1.0
    for n, epsilon in itertools.product([300, 10**4, 10**7], [0.01, 0.1, 0.5]):
        setting = _setting(rate, order, n=n, epsilon=epsilon)
        value = rate(setting)
        assert math.isfinite(value)
        assert value > 0.0
        assert rate(replace(setting, n=2 * n)) <= value
        assert rate(replace(setting, epsilon=1.7 * epsilon)) <= room * value


def _scaled(rate: Rate, setting: Setting, c: float) -> tuple[Setting, float]:
    """Return the setting of data that are c times as large, and what the rate is to be multiplied by.

    The domain of a convex problem grows with the data, and that of a regression does not.
    """
    larger = replace(setting, bound=c * setting.bound)
    if rate.task == "mean":
        return larger, c
    if rate.moment == "data":
        return replace(larger, smoothness=c**2 * setting.smoothness, convexity=c**2 * setting.convexity), c**2
    if rate.task in ("convex", "polytope"):
        return replace(larger, diameter=c * setting.diameter), c**2
    return larger, c**2


@pytest.mark.parametrize(("rate", "order"), EACH)
def test_scales_with_the_data(rate: Rate, order: float) -> None:
    """Means have the unit of the data, losses its square."""
    setting = _setting(rate, order)
    larger, factor = _scaled(rate, setting, 7.0)
    assert rate(larger) == pytest.approx(factor * rate(setting), rel=1e-12)


UPPER = [case for case in EACH if case.values[0].kind == "upper" and case.values[0].task != "mean"]


@pytest.mark.parametrize(("rate", "order"), [case for case in UPPER if case.values[0].moment != "data"])
def test_a_loss_times_c_has_the_risk_times_c(rate: Rate, order: float) -> None:
    setting = _setting(rate, order, smoothness=2.0, convexity=0.5)
    times = replace(setting, bound=3.0, smoothness=6.0, convexity=1.5)
    assert rate(times) == pytest.approx(3.0 * rate(setting), rel=1e-12)


def _classes(lower: Rate, upper: Rate) -> bool:
    """Whether the lower bound is about the upper bound's algorithms and data, both as rates or both as bounds."""
    same = lower.task == upper.task and (lower.moment == upper.moment or lower.exponent_d is None)
    return same and lower.privacy not in ("pure",) and upper.privacy != "none"


PAIRS = [
    pytest.param(lower, upper, id=f"{lower.name} < {upper.name}")
    for lower, upper in itertools.product(RATES.values(), RATES.values())
    if lower.kind == "lower" and upper.kind == "upper" and _classes(lower, upper)
]


@pytest.mark.parametrize(("lower", "upper"), PAIRS)
def test_lower_bounds_are_below_upper_bounds(lower: Rate, upper: Rate) -> None:
    """Proved constants leave no room. With hidden ones, two lower terms may each reach an upper one.

    Upper rates that leave out logarithms are compared at ln(1/δ) ≈ 1.
    """
    scalar = lower.exponent_d is None or upper.exponent_d is None
    deltas = [1e-100, 1e-6, 1e-2] if "δ" in upper.formula or upper.explicit else [0.36]
    grid = itertools.product([10**3, 10**5, 10**8], [1] if scalar else [1, 8, 60], [1e-3, 0.1, 1.0], deltas)
    orders = [p for p in _orders(lower) if p in _orders(upper)]
    room = 1.0 if lower.explicit and upper.explicit else 2.0
    for (n, d, epsilon, delta), order in itertools.product(grid, orders):
        setting = Setting(n=n, d=d, epsilon=epsilon, delta=delta, order=order, sparsity=min(d, 3))
        assert lower(setting) <= room * upper(setting)


def test_enough_pairs_are_compared() -> None:
    assert len(PAIRS) >= 20
    assert {lower.task for lower, _ in (pair.values for pair in PAIRS)} == {
        "mean",
        "convex",
        "strongly convex",
        "sparse",
    }
