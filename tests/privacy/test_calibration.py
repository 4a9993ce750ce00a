"""Calibration: inside the budget, never by more than a hair, and refused where nothing helps."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailguard.errors import BudgetError, ParameterError
from tailguard.privacy import (
    BoundedRange,
    Event,
    Gaussian,
    Laplace,
    Privacy,
    Pure,
    Repeat,
    Sequential,
    bounded_range_eta,
    calibrate,
    delta,
    epsilon,
    gaussian_multiplier,
    gdp_mu,
    pure_multiplier,
    recompute,
    zcdp_rho,
)
from tailguard.privacy._search import smallest

ONE = Privacy(1.0, 1e-6)

BUILDERS = {
    "gaussians": lambda s: Repeat(Gaussian(s, 1e-18), 7),
    "laplace": lambda s: Repeat(Laplace(s), 7),
    "selections": lambda s: Repeat(BoundedRange(1.0 / s), 20),
    "mixed": lambda s: Sequential((Gaussian(2.0 * s), Repeat(BoundedRange(0.3 / s), 4), Pure(0.1 / s))),
}


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS.keys())
@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.floats(math.log(1e-2), math.log(50.0)), st.floats(math.log(1e-12), math.log(1e-3)))
def test_inside_the_budget_and_tight(build: object, log_epsilon: float, log_delta: float) -> None:
    privacy = Privacy(math.exp(log_epsilon), math.exp(log_delta))
    scale = calibrate(build, privacy)  # type: ignore[arg-type]
    assert epsilon(build(scale), privacy.delta) <= privacy.epsilon  # type: ignore[operator]
    assert epsilon(build(scale * (1.0 - 1e-6)), privacy.delta) > privacy.epsilon  # type: ignore[operator]
    assert recompute(build(scale), privacy.delta) <= privacy.epsilon  # type: ignore[operator]


BUDGETS = [Privacy(1e-3, 1e-12), ONE, Privacy(60.0, 1e-6), Privacy(1e6, 1e-3)]
SEARCHES = [(name, privacy) for name in BUILDERS for privacy in BUDGETS]


@pytest.mark.parametrize(("name", "privacy"), [*SEARCHES, ("laplace", Privacy(2.0)), ("selections", Privacy(2.0))])
def test_the_scale_is_that_of_a_plain_bisection_with_fewer_questions(name: str, privacy: Privacy) -> None:
    build = BUILDERS[name]
    asked = []

    def counted(scale: float) -> Event:
        asked.append(scale)
        return build(scale)

    target = privacy.epsilon * (1.0 - 1e-7)
    plain = smallest(lambda s: epsilon(build(s), privacy.delta) <= target, 1e-12, 1e12, tolerance=1e-7)
    assert calibrate(counted, privacy) == plain
    assert len(asked) <= 22  # a bisection asks 31 times


def test_pure_budgets() -> None:
    pure = Privacy(2.0)
    assert calibrate(lambda s: Repeat(Laplace(s), 10), pure) == pytest.approx(5.0, rel=1e-6)
    assert pure_multiplier(pure, 10) == 5.0
    assert bounded_range_eta(pure, 10) == pytest.approx(0.2, rel=1e-6)
    for search in (gdp_mu, gaussian_multiplier, zcdp_rho):
        with pytest.raises(BudgetError, match="A pure budget"):
            search(pure)
    with pytest.raises(BudgetError, match="at any noise"):
        calibrate(lambda s: Gaussian(s), pure)


def test_a_fixed_cost_beyond_the_budget_is_refused() -> None:
    with pytest.raises(BudgetError, match="at any noise"):
        calibrate(lambda s: Sequential((Gaussian(s), Pure(2.0))), ONE)
    assert calibrate(lambda s: Sequential((Gaussian(s), Pure(0.5))), ONE) > gaussian_multiplier(ONE)


def test_a_scale_that_a_mechanism_refuses_is_too_small() -> None:
    def build(scale: float) -> Event:
        if scale < 100.0:
            raise ParameterError("too little noise for the grid")
        return Gaussian(scale)

    assert calibrate(build, ONE) == pytest.approx(100.0, rel=1e-6)


def test_an_error_of_the_builder_is_not_hidden() -> None:
    with pytest.raises(ParameterError, match="made of the events"):
        calibrate(lambda s: Event(), ONE)


def test_everything_inside_gives_the_smallest_scale() -> None:
    assert calibrate(lambda s: Pure(0.5), ONE) == 1e-12


@pytest.mark.parametrize("level", [1e-3, 0.1, 1.0, 10.0, 1e4])
@pytest.mark.parametrize("target", [1e-12, 1e-6, 1e-2])
def test_gaussian_and_zcdp_at_their_limits(level: float, target: float) -> None:
    privacy = Privacy(level, target)
    mu, rho = gdp_mu(privacy), zcdp_rho(privacy)
    assert delta(Gaussian(1.0 / mu), level) == pytest.approx(target, rel=1e-6)
    assert gaussian_multiplier(privacy) == pytest.approx(1.0 / mu, rel=1e-15)
    assert epsilon(Gaussian(1.0 / math.sqrt(2.0 * rho), distance=0.9), target) == pytest.approx(level, rel=1e-9)
    assert 2.0 * rho < mu * mu  # zCDP promises more than (ε, δ), so it carries less noise reduction


def test_known_values() -> None:
    assert gaussian_multiplier(ONE) == pytest.approx(4.2247, abs=1e-4)
    assert gaussian_multiplier(Privacy(0.5, 1e-5)) == pytest.approx(7.0318, abs=1e-3)  # Balle and Wang
    assert zcdp_rho(ONE) == pytest.approx(0.024356, abs=1e-6)


@pytest.mark.parametrize("count", [1, 10, 100, 1000])
@pytest.mark.parametrize("target", [1e-5, 1e-6, 1e-9])
def test_what_hu_et_al_leave_unspent(count: int, target: float) -> None:
    step = 1.0 / (2.0 * math.sqrt(2.0 * count * math.log(1.0 / target)))  # Hu et al. 2022, Algorithm 2, ε = 1
    as_pure = recompute(Repeat(Pure(step), count), target)
    as_selections = epsilon(Repeat(BoundedRange(step), count), target)
    assert as_pure < 0.42
    assert as_selections < 0.22
    assert bounded_range_eta(Privacy(1.0, target), count) > 4.4 * step
    if count >= 100 and target == 1e-5:
        assert 0.33 < as_pure < 0.36
        assert 4.7 < bounded_range_eta(Privacy(1.0, target), count) / step < 4.8


def test_wrong_counts() -> None:
    for function in (pure_multiplier, bounded_range_eta):
        with pytest.raises(ParameterError, match="The 'count' parameter of"):
            function(ONE, 0)


def test_a_budget_that_no_noise_fits_is_refused_and_not_answered_by_the_end_of_the_search():
    from tailguard.errors import BudgetError
    from tailguard.privacy import Privacy, gaussian_multiplier, gdp_mu

    for search in (gaussian_multiplier, gdp_mu):
        with pytest.raises(BudgetError, match="at any noise"):
            search(Privacy(1e-18, 1e-18))
