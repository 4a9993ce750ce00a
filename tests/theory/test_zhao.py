"""Zhao et al. 2024: the functions against the printed formulas, what contradicts them, and simulated data."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tailguard.theory import Packing, Setting, random_code, zhao
from tests.support.heavy_tails import student_moment

GRID = [
    Setting(n=n, d=d, epsilon=epsilon, delta=delta, order=p, bound=bound)
    for n in (500, 10**6)
    for d in (1, 20, 300)
    for epsilon in (0.02, 1.0)
    for delta, bound in ((1e-9, 2.0), (0.1, 0.3))
    for p in (2.0, 3.5)
]


@pytest.mark.parametrize("setting", GRID)
def test_as_printed(setting: Setting) -> None:
    """(14), (19), (20), (21) and (36) in the paper's letters, with M put back by scaling."""
    n, d, p, M, eps, beta = setting.n, setting.d, setting.order, setting.bound, setting.epsilon, setting.failure
    log = math.log(1 / setting.delta)
    rho = eps**2 / (1 + 2 * math.sqrt(log)) ** 2
    R = min(math.sqrt(d) * (n * math.sqrt(rho) / math.sqrt(d)) ** (1 / p), math.sqrt(d) * (n / d) ** (1 / p))
    cover = math.log(2 / beta) + d * math.log(6)
    mean = max(math.sqrt(12 / n * cover), 8 * R / n * cover)
    mean += d ** (p / 2) / (p - 1) * R ** (1 - p) + 4 * R / (n * math.sqrt(rho)) * math.sqrt(cover)
    risk = math.sqrt(d * math.log(n) / n) + math.sqrt(d) * (math.sqrt(d) / (n * eps) * math.sqrt(log)) ** (1 - 1 / p)
    risk += d ** (1.5 - 1 / p) / n ** (1 - 1 / p) * math.log(n)
    R7 = math.sqrt(d) * (n * eps / math.sqrt(d)) ** (1 / p)
    size = d + math.log(1 / beta)
    iterated = math.sqrt(size / n) + d ** (p / 2) * R7 ** (1 - p)
    iterated += R7 / (n * eps) * math.sqrt(size) * (log + math.sqrt(log * math.log(math.log(1 / beta))))
    optimal = math.sqrt(d / n) + math.sqrt(d) * (math.sqrt(d) / (n * eps)) ** (1 - 1 / p) * log * math.log(n * d)
    assert zhao.clip_radius(setting) == pytest.approx(M * R)
    assert zhao.clipped_mean(setting) == pytest.approx(M * mean)
    assert zhao.clipped_risk(setting) == pytest.approx(M * risk)
    assert zhao.iterated_mean(setting) == pytest.approx(M * iterated)
    assert zhao.iterated_risk(setting) == pytest.approx(M * optimal)
    disjoint = math.sqrt(size / n) + d ** (p / 2) * R7 ** (1 - p)
    disjoint += R7 / n * math.sqrt(800 * math.log(1 / beta) / rho) * math.sqrt(size)
    assert zhao.disjoint_mean(setting, M * R7) == pytest.approx(M * disjoint)


def _best(function, setting: Setting) -> float:
    middle = math.log(zhao.clip_radius(setting))
    found = minimize_scalar(
        lambda log: function(setting, math.exp(log)), bounds=(middle - 9, middle + 9), method="bounded"
    )
    return float(found.fun)


@pytest.mark.parametrize("setting", GRID)
def test_the_theorems_radius_is_best_up_to_a_constant(setting: Setting) -> None:
    best = _best(zhao.clipped_mean, setting)
    assert best * (1 - 1e-9) <= zhao.clipped_mean(setting) <= 8.0 * best


@pytest.mark.parametrize("setting", GRID)
def test_the_sharper_bound_and_its_radius(setting: Setting) -> None:
    best = _best(zhao.sharp_clipped_mean, setting)
    assert best * (1 - 1e-9) <= zhao.sharp_clipped_mean(setting) <= 8.0 * best
    assert best <= _best(zhao.clipped_mean, setting) * (1 + 1e-6)


def test_disjoint_groups_take_their_best_radius() -> None:
    for setting in GRID:
        assert zhao.disjoint_mean(setting) == pytest.approx(_best(zhao.disjoint_mean, setting), rel=1e-6)


@pytest.mark.parametrize("order", [2.0, 4.0])
def test_clipping_bias_of_packings(order: float) -> None:
    """The exact bias q·(‖x‖ − R)₊ is within both bounds for every q; at d = 1 the sharper one is nearly reached."""
    for d, R in itertools.product((1, 100), (2.0, 20.0, 200.0)):
        instances = [Packing((1,) * d, q, order, 1.0, "direction") for q in np.geomspace(1e-12, 1, 400)]
        worst = max(i.probability * max(0.0, i.height * math.sqrt(d) - R) for i in instances)
        norms, sharp = d ** (order / 2) * R ** (1 - order) / (order - 1), (math.sqrt(d) / R) ** (order - 1)
        setting = Setting(n=10**9, d=d, order=order)
        gain = zhao.clipped_mean(setting, R) - zhao.sharp_clipped_mean(setting, R)
        assert gain == pytest.approx(max(0.0, norms - sharp), rel=1e-6, abs=1e-9)
        assert worst <= min(norms, sharp)
        assert d > 1 or worst > 0.1 * min(norms, sharp)


@pytest.mark.parametrize("order", [2.0, 4.0])
def test_theorem_1_fails_for_moments_of_directions(order: float) -> None:
    """Along n = d³, ε = 1/d clipping beats the stated lower bound by d^(1/(2p)): no constant helps."""
    path = [Setting(n=d**3, d=d, epsilon=1 / d, delta=1e-3, order=order) for d in (10**6, 10**12, 10**40, 10**80)]
    ratios = [zhao.sharp_clipped_risk(setting) / zhao.risk_lower(setting) for setting in path]
    assert ratios == sorted(ratios, reverse=True)
    last, former = ratios[-1], ratios[-2]
    assert math.log(last / former) / math.log(1e40) == pytest.approx(-1 / (2 * order), abs=1e-3)
    assert last < 1e-8


def test_its_packing_is_outside_the_assumption() -> None:
    word = tuple(random_code(64, 1, np.random.default_rng(0))[0].tolist())
    coordinates = Packing(word, 1e-3, 3.0, 1.0)
    assert coordinates.moment(3.0, "coordinate") == pytest.approx(1.0)
    assert coordinates.moment(3.0, "direction") == pytest.approx(32**1.5)


def test_the_factor_of_equation_6_contradicts_theorem_4() -> None:
    """(6) has ln(1/δ) outside, (20) has it inside the power and under a root."""

    def ratio(delta: float) -> float:
        setting = Setting(n=10**6, d=10, epsilon=0.1, delta=delta)
        printed = math.sqrt(10) * setting.private(math.sqrt(10)) * math.log(1 / delta)
        return printed / zhao.clipped_risk(setting)

    ratios = [ratio(delta) for delta in (1e-3, 1e-30, 1e-300)]
    assert ratios == sorted(ratios)
    assert ratios[-1] > 40.0


@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.3, 1.0, 50.0])
@pytest.mark.parametrize("d", [1, 2, 50, 10**4])
def test_third_row_of_table_1_by_search(d: int, epsilon: float) -> None:
    setting = Setting(n=10**4, d=d, epsilon=epsilon)
    q = np.linspace(0.5, 2.0, 20001)
    values = (d ** ((3 - q) / 2) + d ** ((1 + q) / 2) / math.sqrt(epsilon)) / math.sqrt(setting.n)
    assert zhao.kamath_quadratic_risk(setting) == pytest.approx(values.min(), rel=1e-6)


# Simulations.

RUNS, ROWS, FAILURE = 300, 500, 0.1


def _draws(name: str, d: int, order: float, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (RUNS, ROWS, d) draws, their mean and the moment bound M of every direction."""
    if name == "packing":
        word = (1,) * d
        instance = Packing.hardest(Setting(n=ROWS, d=d, epsilon=1.0, delta=1e-5, order=order), word, "direction")
        return instance.sample(RUNS * ROWS, generator).reshape(RUNS, ROWS, d), instance.mean, 1.0
    freedom = order + 0.5
    scale = np.sqrt(freedom / generator.chisquare(freedom, (RUNS, ROWS, 1)))
    x = generator.standard_normal((RUNS, ROWS, d)) * scale
    return x, np.zeros(d), student_moment(freedom, order) ** (1 / order)


@pytest.mark.parametrize("order", [2.0, 4.0])
@pytest.mark.parametrize("d", [1, 6])
@pytest.mark.parametrize("name", ["packing", "student"])
def test_clipped_means_stay_inside(name: str, d: int, order: float) -> None:
    generator = np.random.default_rng(7)
    x, mean, bound = _draws(name, d, order, generator)
    setting = Setting(n=ROWS, d=d, epsilon=1.0, delta=1e-5, order=order, bound=bound, failure=FAILURE)
    for function, R in (
        (zhao.clipped_mean, zhao.clip_radius(setting)),
        (zhao.sharp_clipped_mean, zhao.sharp_clip_radius(setting)),
    ):
        norms = np.linalg.norm(x, axis=2, keepdims=True)
        clipped = (x * np.minimum(1.0, R / np.maximum(norms, R))).mean(axis=1)
        noise = math.sqrt(2 / setting.rho) * R / ROWS * generator.standard_normal((RUNS, d))
        error = np.linalg.norm(clipped + noise - mean, axis=1)
        assert np.mean(error > function(setting)) <= FAILURE
        assert np.quantile(error, 1 - FAILURE) > function(setting) / 30
