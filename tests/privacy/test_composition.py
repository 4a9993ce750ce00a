"""The closed forms: hand-computed values, mechanisms enumerated outcome by outcome, and what must not be believed."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from tailguard.errors import ParameterError
from tailguard.privacy import (
    BoundedRange,
    Disjoint,
    Event,
    Gaussian,
    Laplace,
    Pure,
    Repeat,
    Sequential,
    cumulants,
    delta,
    epsilon,
)
from tailguard.privacy.gaussian import hazard, log_delta
from tests.support.profiles import hockey_stick, product_law
from tests.support.registry_events import trees

Law = NDArray[np.float64]


def test_values_worked_out_by_hand() -> None:
    assert epsilon(Repeat(Pure(0.5), 3), 0.0) == 1.5
    assert epsilon(Sequential((Laplace(4.0), BoundedRange(0.5))), 0.0) == 0.75
    assert math.isinf(epsilon(Sequential((Pure(0.5), Gaussian(100.0))), 0.0))
    assert delta(Repeat(Pure(0.5), 3), 1.5) == 0.0
    assert delta(Gaussian(2.0), 0.0) == pytest.approx(2.0 * norm.cdf(0.25) - 1.0, rel=1e-10)  # total variation
    assert epsilon(Repeat(Gaussian(30.0), 9), 1e-6) == pytest.approx(epsilon(Gaussian(10.0), 1e-6), rel=1e-12)
    assert epsilon(Sequential((Gaussian(3.0), Gaussian(4.0))), 1e-6) == pytest.approx(epsilon(Gaussian(2.4), 1e-6))
    assert epsilon(Gaussian(1.0), 0.3829249226) == pytest.approx(0.0, abs=1e-8)  # Φ(1/2) − Φ(−1/2)


def test_one_selection_costs_hardly_more_than_its_exact_profile() -> None:
    for eta in (0.01, 0.5, 3.0):
        for target in (1e-9, 1e-4):
            exact = eta + 2.0 * math.log1p(-math.sqrt(-target * math.expm1(-eta)))
            assert exact * (1.0 - 1e-12) <= epsilon(BoundedRange(eta), target) < exact * (1.0 + 1e-4)


def test_zcdp_conversion_of_canonne_kamath_and_steinke() -> None:
    rho, target = 0.5, 1e-6
    alpha = np.exp(np.linspace(math.log(1.01), math.log(1e4), 400_001))
    best = np.min(rho * alpha + np.log1p(-1.0 / alpha) - np.log(target * alpha) / (alpha - 1.0))
    coarse = Gaussian(1.0, distance=0.5)  # so far from Gaussian that only zCDP is left
    assert epsilon(coarse, target) == pytest.approx(float(best), rel=1e-9)
    assert epsilon(Gaussian(1.0), target) < 0.95 * epsilon(coarse, target)


@pytest.mark.parametrize("count", [1, 2, 6])
@pytest.mark.parametrize("cost", [0.1, 0.7, 2.0])
def test_randomised_response_by_enumeration(cost: float, count: int) -> None:
    yes = 1.0 / (1.0 + math.exp(-cost))
    first, second = product_law([np.array([yes, 1.0 - yes])] * count), product_law([np.array([1.0 - yes, yes])] * count)
    for x in np.linspace(0.0, 1.1 * cost * count, 12):
        bound = delta(Repeat(Pure(cost), count), float(x))
        assert hockey_stick(first, second, float(x)) <= bound * (1.0 + 1e-9) + 1e-15
    assert hockey_stick(first, second, 0.5 * cost) > 0.2 * delta(Repeat(Pure(cost), count), 0.5 * cost)


def exponential_mechanism(scores: Law, eta: float) -> Law:
    weights = np.exp(0.5 * eta * scores)  # scores change by at most 1
    return np.asarray(weights / weights.sum())


@pytest.mark.parametrize("eta", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_exponential_mechanism_on_three_items_by_enumeration(eta: float, count: int) -> None:
    for change in ([1.0, -1.0, -1.0], [1.0, 1.0, -1.0], [1.0, 0.0, -1.0]):
        for scores in ([0.0, 0.0, 0.0], [3.0, 0.0, 1.0], [0.0, 4.0, 4.0]):
            before = exponential_mechanism(np.array(scores), eta)
            after = exponential_mechanism(np.array(scores) + np.array(change), eta)
            laws = product_law([before] * count), product_law([after] * count)
            for x in np.linspace(0.0, eta * count, 7):
                bound = delta(Repeat(BoundedRange(eta), count), float(x))
                assert hockey_stick(*laws, float(x)) <= bound * (1.0 + 1e-9) + 1e-15


def adaptive_selections(eta: float, count: int, x: float) -> float:
    """Return δ(x) of `count` selections whose worst interval is chosen anew after every release."""
    if count == 0:
        return max(0.0, -math.expm1(x))
    best = 0.0
    for t in np.linspace(0.0, eta, 9)[1:-1]:
        top = math.expm1(t - eta) / math.expm1(-eta)
        rest = top * adaptive_selections(eta, count - 1, x - t) + (1.0 - top) * adaptive_selections(
            eta, count - 1, x - t + eta
        )
        best = max(best, rest)
    return best


@pytest.mark.parametrize("eta", [0.3, 1.5])
def test_selections_that_adapt(eta: float) -> None:
    for x in (0.1 * eta, 0.5 * eta, eta, 2.0 * eta):
        assert adaptive_selections(eta, 3, x) <= delta(Repeat(BoundedRange(eta), 3), x) * (1.0 + 1e-9)


def gaussian_then_adaptive_selection(mu: float, eta: float, x: float) -> float:
    loss = np.linspace(mu * mu / 2.0 - 12.0 * mu, mu * mu / 2.0 + 12.0 * mu, 40_001)
    left = x - loss
    inside = np.expm1(0.5 * np.clip(left - eta, -2.0 * eta, 0.0)) ** 2 / -math.expm1(-eta)
    profile = np.maximum(inside, -np.expm1(np.minimum(left, 0.0)))
    return float(np.trapezoid(norm.pdf(loss, mu * mu / 2.0, mu) * profile, loss))


@pytest.mark.parametrize(
    ("mu", "eta", "x"), [(1.0, 0.3, 4.984), (1.0, 1.0, 4.984), (0.3, 0.1, 1.3175), (0.2, 0.03, 0.8508)]
)
def test_selections_folded_into_the_gaussian_formula_would_be_wrong(mu: float, eta: float, x: float) -> None:
    truth = gaussian_then_adaptive_selection(mu, eta, x)
    points = np.linspace(x - 2.0 * eta, x, 400)
    folded = min(
        cumulants.selection(eta, hazard(mu, p))[0] + log_delta(mu, p) - hazard(mu, p) * (x - p) for p in points.tolist()
    )
    assert math.exp(folded) < 0.99 * truth
    assert truth <= delta(Sequential((Gaussian(1.0 / mu), BoundedRange(eta))), x) < 1.05 * truth


def test_the_papers_gaussian_formula_is_not_private_at_large_epsilon() -> None:
    multiplier = math.sqrt(2.0 * math.log(1.25 / 1e-6)) / 10.0
    assert delta(Gaussian(multiplier), 10.0) == pytest.approx(1.902e-6, rel=1e-3)
    assert epsilon(Gaussian(multiplier), 1e-6) > 10.0
    assert epsilon(Gaussian(multiplier * 10.0), 1e-6) < 1.0  # where it was proved, it holds


def discrete_gaussian(sigma: float) -> tuple[Law, Law, float]:
    """Return a discrete Gaussian, itself shifted by one, and its distance to a rounded continuous one."""
    integers = np.arange(-60, 61)
    weights = np.exp(-(integers**2) / (2.0 * sigma**2))
    law = weights / weights.sum()
    rounded = norm.cdf((integers + 0.5) / sigma) - norm.cdf((integers - 0.5) / sigma)
    return law[1:], law[:-1], 0.5 * float(np.abs(law - rounded).sum()) + 1e-15


@pytest.mark.parametrize("sigma", [1.0, 2.0, 6.0])
def test_a_coarse_discrete_gaussian_needs_its_distance(sigma: float) -> None:
    first, second, distance = discrete_gaussian(sigma)
    excess = 0.0
    for x in np.linspace(0.02, 3.0, 40):
        truth = hockey_stick(first, second, float(x))
        assert truth <= delta(Gaussian(sigma, distance), float(x)) * (1.0 + 1e-9)
        excess = max(excess, truth / math.exp(log_delta(1.0 / sigma, float(x))) - 1.0)
    assert excess > 1e-3  # it is not Gaussian differential privacy


def test_the_distance_is_charged() -> None:
    event = Gaussian(5.0, distance=1e-9)
    ideal = epsilon(Gaussian(5.0), 1e-6)
    assert ideal < epsilon(event, 1e-6) < ideal * 1.001
    level = epsilon(event, 1e-6)
    assert delta(Gaussian(5.0), level) + 1e-9 * (1.0 + math.exp(level)) == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.parametrize("distance", [1e-300, 1e-18, 1e-9])
def test_at_a_huge_epsilon_zcdp_answers(distance: float) -> None:
    event = Gaussian(7.1e-4, distance)
    assert math.isfinite(epsilon(event, 1e-6))
    assert 1.0 < epsilon(event, 1e-6) / epsilon(Gaussian(7.1e-4), 1e-6) < 1.002
    assert 9.9e5 < epsilon(event, 1e-6) < 1.01e6


def test_mixtures_cost_less_than_their_zcdp_or_their_sum() -> None:
    noise, picks = Gaussian(5.0), Repeat(BoundedRange(0.03), 4)
    mixed = epsilon(Sequential((noise, picks)), 1e-6)
    assert mixed < epsilon(noise, 1e-6) + 0.15 * 4 * 0.03
    assert mixed < 0.95 * epsilon(Sequential((Gaussian(5.0, distance=0.5), picks)), 1e-6)
    # simple composition: δ(ε) ≤ δ_GDP(ε − Σ ε) is never better
    for pure in (1e-4, 0.1, 5.0):
        assert epsilon(Sequential((noise, Pure(pure))), 1e-6) <= epsilon(noise, 1e-6) + pure


@settings(max_examples=40, deadline=None, derandomize=True)
@given(trees, st.floats(math.log(1e-14), math.log(0.3)))
def test_delta_inverts_epsilon(event: Event, log_target: float) -> None:
    target = math.exp(log_target)
    level = epsilon(event, target)
    back = delta(event, level)
    # near the pure cost the last digit of ε is worth as much in δ
    assert back <= target * (1.0 + 1e-9) + 1e-15 * (1.0 + level)
    assert epsilon(event, back) <= level


@settings(max_examples=60, deadline=None, derandomize=True)
@given(trees, st.floats(1.0, 3.0), st.sampled_from([0.0, 1e-9, 1e-3]))
def test_more_noise_costs_less(event: Event, factor: float, target: float) -> None:
    assert epsilon(scaled(event, factor), target) <= epsilon(event, target) * (1.0 + 1e-12)


def scaled(event: Event, factor: float) -> Event:
    match event:
        case Gaussian(multiplier, distance):
            return Gaussian(multiplier * factor, distance)
        case Laplace(multiplier):
            return Laplace(multiplier * factor)
        case BoundedRange(eta):
            return BoundedRange(eta / factor)
        case Pure(cost):
            return Pure(cost / factor)
        case Repeat(child, count):
            return Repeat(scaled(child, factor), count)
        case Sequential(children):
            return Sequential(tuple(scaled(child, factor) for child in children))
        case Disjoint(children):
            return Disjoint(tuple(scaled(child, factor) for child in children))
    raise AssertionError


@pytest.mark.parametrize("wrong", [-0.1, 1.0, math.nan, "1e-6", None, True])
def test_wrong_numbers(wrong: object) -> None:
    with pytest.raises(ParameterError, match=r"The 'delta' parameter of epsilon must be .*\. Got"):
        epsilon(Pure(1.0), wrong)  # type: ignore[arg-type]
    if wrong != 1.0:
        with pytest.raises(ParameterError, match=r"The 'epsilon' parameter of delta must be .*\. Got"):
            delta(Pure(1.0), wrong)  # type: ignore[arg-type]


def test_extreme_deltas() -> None:
    event = Sequential((Gaussian(3.0, 1e-18), Repeat(BoundedRange(0.2), 5), Pure(0.1)))
    costs = [epsilon(event, target) for target in (5e-324, 1e-300, 1e-100, 1e-10, 0.1, 0.9, 1.0 - 1e-16)]
    assert costs == sorted(costs, reverse=True)
    assert all(math.isfinite(cost) for cost in costs)
    assert delta(event, 0.0) < 1.0
    assert delta(event, 1e6) == 5e-324  # not zero: it is not pure
    assert delta(Gaussian(1e-3), 0.0) == 1.0
