"""Hu et al. 2022: the functions against the printed formulas, the sums their proofs end with, and what is false."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from tailguard.errors import ParameterError
from tailguard.theory import Setting, hu, tao

GRID = [
    Setting(n=n, d=d, epsilon=epsilon, delta=delta, order=4.0, failure=failure, diameter=diameter, **curvature)
    for n, d in ((10**4, 50), (10**7, 10**5))
    for epsilon in (0.05, 1.0)
    for delta, failure in ((1e-9, 0.2), (0.1, 1e-3))
    for diameter, curvature in ((1.0, {}), (2.0, {"smoothness": 5.0, "convexity": 0.5, "bound": 3.0}))
]
UNIT = [setting for setting in GRID if setting.diameter == 1.0]


def _slope(function, first: Setting, second: Setting, factor: float) -> float:
    return math.log(function(second) / function(first)) / math.log(factor)


@pytest.mark.parametrize("setting", UNIT)
def test_as_printed(setting: Setting) -> None:
    """(6), (7), (8), (9) and Theorems 7 and 8 in the paper's letters, where ‖W‖₁ = M = τ = 1 and γ = μ = 1."""
    n, d, eps, zeta, V = setting.n, setting.d, setting.epsilon, setting.failure, 2 * setting.d
    delta, s, alpha = setting.delta, 4, 3.0
    smooth = replace(setting, smoothness=alpha, convexity=1.0)
    assert hu.frank_wolfe_risk(smooth) == pytest.approx(
        (alpha * math.log(n * V * d / zeta)) ** (1 / 3) / (n * eps) ** (1 / 3)
    )
    corollary = (alpha * math.log(d / zeta) * math.log(n)) ** (1 / 3) / (n * eps) ** (1 / 3)
    assert hu.lasso_corollary_risk(smooth) == pytest.approx(corollary)
    assert hu.robust_risk(setting) == pytest.approx(math.log(d * n / zeta) ** 0.25 / (n * eps) ** 0.25)
    logs = math.sqrt(math.log(1 / delta)) * math.log(d * n / zeta)
    assert hu.shrunken_lasso_risk(smooth) == pytest.approx(alpha**0.2 * logs**0.8 / (n * eps) ** 0.4)
    sparse = replace(setting, sparsity=s)
    seventh = s**2 * math.log(n) * math.log(d / zeta) ** 2 * math.log(1 / delta) / (n * eps)
    eighth = s**1.5 * math.log(n) * math.log(d / zeta) * math.sqrt(math.log(1 / delta)) / (n * eps)
    assert hu.shrunken_thresholding_risk(sparse) == pytest.approx(seventh)
    assert hu.catoni_thresholding_risk(sparse) == pytest.approx(eighth)
    lower = min(s * math.log(d), math.log(1 / delta)) / (n * eps)
    assert hu.sparse_mean_lower(replace(sparse, order=2.0)) == pytest.approx(min(1.0, lower))


def test_parameters_as_printed() -> None:
    setting = Setting(n=10**6, d=300, epsilon=0.5, delta=1e-6, order=4.0, failure=0.05, sparsity=2)
    n, d, eps, zeta, V = 10**6, 300, 0.5, 0.05, 600
    T = math.floor((n * eps / math.log(V * d / zeta)) ** (1 / 3))
    assert hu.frank_wolfe_steps(setting) == T
    assert hu.frank_wolfe_scale(setting) == pytest.approx(math.sqrt(n * eps / (T * math.log(V * d * T / zeta))))
    assert [hu.frank_wolfe_step(t) for t in (1, 2, 8)] == pytest.approx([2 / 3, 2 / 4, 2 / 10])
    T = math.floor(math.sqrt(n * eps / math.log(d / zeta)))
    assert hu.robust_steps(setting) == T
    assert hu.robust_scale(setting) == pytest.approx(math.sqrt(n * eps) / math.sqrt(T * math.log(d * T / zeta)))
    assert hu.robust_step(setting) == 1 / math.sqrt(T)
    T = math.floor((math.sqrt(n * eps) / (math.sqrt(math.log(1e6)) * math.log(d / zeta))) ** 0.8)
    assert hu.shrunken_lasso_steps(setting) == T
    assert hu.shrunken_lasso_threshold(setting) == pytest.approx((n * eps) ** 0.25 / T**0.125)
    assert (hu.kept(setting), hu.thresholding_steps(setting), hu.thresholding_step(setting)) == (144, 14, 2 / 3)
    assert hu.shrunken_thresholding_threshold(setting) == pytest.approx((n * eps / (144 * 14)) ** 0.25)
    assert hu.shrunken_thresholding_threshold(setting, 4, 13) == pytest.approx((n * eps / 52) ** 0.25)
    other = replace(setting, smoothness=2.0, vertices=7)
    assert hu.kept(other) == 300  # 72·4·2 entries are more than there are
    assert hu.thresholding_steps(other) == 28
    assert hu.frank_wolfe_scale(other, 9) == pytest.approx(math.sqrt(n * eps / (9 * math.log(7 * d * 9 / zeta))))


def test_few_records_leave_one_step() -> None:
    tiny = Setting(n=2, d=1000, epsilon=0.01, order=4.0, bound=100.0)
    for steps in (hu.frank_wolfe_steps, hu.robust_steps, hu.shrunken_lasso_steps, hu.thresholding_steps):
        assert steps(tiny) == 1
        assert steps(Setting(n=3, d=2, order=4.0, smoothness=1e6, convexity=1.0)) == 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: hu.frank_wolfe_scale(Setting(n=100), 0),
        lambda: hu.thresholding.shrunken_thresholding_threshold(Setting(n=100, order=4.0), kept=2),
        lambda: hu.catoni_thresholding_scale(Setting(n=100), steps=101),
        lambda: tao.sparse_threshold(Setting(n=100), kept=2),
        lambda: hu.catoni_mean(Setting(n=100), smoothing=0.0),
        lambda: hu.error_probability(Setting(n=100), 3.0, 1.5),
        lambda: hu.sparse_packing(Setting(n=100, d=2), np.random.default_rng(0)),
    ],
)
def test_rules(make) -> None:
    with pytest.raises(ParameterError, match=r"^The '(steps|kept|smoothing|probability)' parameter of "):
        make()


# The sums at which the proofs end, at the parameters and around them.


def _frank_wolfe(setting: Setting, T: float, s: float) -> float:
    """α·D²/T + D·τ/s + D·s·T·Λ/(nε)."""
    D, logs = setting.diameter, math.log(2 * setting.d**2 * T / setting.failure)
    noise = s * T * logs / (setting.n * setting.epsilon)
    return setting.smoothness * D**2 / T + D * (setting.bound**2 / s + noise)


def _robust(setting: Setting, T: float, s: float) -> float:
    """α·D²/(ηT) + α·η·D²/2 + D·(τ/s + s·T·Λ/(nε)) with η = 1/√T, since the risk at the start is at most α·D²/2."""
    D, logs = setting.diameter, math.log(setting.d * T / setting.failure)
    noise = s * T * logs / (setting.n * setting.epsilon)
    return setting.smoothness * D**2 / math.sqrt(T) + D * (setting.bound**2 / s + noise)


def _lasso(setting: Setting, T: float, K: float) -> float:
    """α·D²/T + D·K²·√T·G/(nε) + D²·M⁴/K²."""
    D, nε = setting.diameter, setting.n * setting.epsilon
    logs = math.sqrt(math.log(1 / setting.delta)) * math.log(setting.d * T / setting.failure)
    return setting.smoothness * D**2 / T + D * K**2 * math.sqrt(T) * logs / nε + D**2 * setting.bound**4 / K**2


PROOFS = [
    (_frank_wolfe, hu.frank_wolfe_risk, hu.frank_wolfe_steps, hu.frank_wolfe_scale, 5.0),
    (_robust, hu.robust_risk, hu.robust_steps, hu.robust_scale, 5.0),
    (_lasso, hu.shrunken_lasso_risk, hu.shrunken_lasso_steps, hu.shrunken_lasso_threshold, 8.0),
]


@pytest.mark.parametrize("setting", GRID)
@pytest.mark.parametrize(("terms", "risk", "steps", "threshold", "room"), PROOFS, ids=["2", "3", "5"])
def test_theorems_follow_from_their_proofs(setting: Setting, terms, risk, steps, threshold, room: float) -> None:
    """At the theorem's T and s or K the sum is the rate up to a constant; no T, s or K makes it much smaller."""
    T = steps(setting)
    if T == 1:  # so few records that rounding T up to 1 is all that happens
        return
    assert terms(setting, T, threshold(setting)) <= room * risk(setting)
    factors = np.geomspace(1e-2, 1e2, 41)
    best = min(
        terms(setting, max(1.0, T * a), threshold(setting, T) * b) for a, b in itertools.product(factors, factors)
    )
    assert best >= risk(setting) / (room if risk is hu.frank_wolfe_risk or risk is hu.robust_risk else 20.0)


def _thresholding(setting: Setting, bias: float, noise: float) -> float:
    """N·γ/μ with N = γ·s·‖noise‖² + (s/γ)·‖g̃ − g‖², noise in units of the step 1/γ."""
    s = setting.condition**2 * setting.sparsity
    return setting.condition / setting.smoothness * s * (noise**2 + bias**2)


def _sizes(setting: Setting) -> tuple[float, float, float]:
    """Return s and T with the constant 1, and G = √ln(1/δ)·ln(dT/ζ)."""
    s, T = setting.condition**2 * setting.sparsity, setting.condition * math.log(setting.n)
    return s, T, math.sqrt(math.log(1 / setting.delta)) * math.log(setting.d * T / setting.failure)


def _catoni(setting: Setting, k: float) -> float:
    """The sum of Theorem 8 at scale k: noise k·T·√s·G/(nε), bias τ/k."""
    s, T, logs = _sizes(setting)
    return _thresholding(setting, setting.bound**2 / k, k * T * math.sqrt(s) * logs / (setting.n * setting.epsilon))


def _shrunken(setting: Setting, K: float) -> float:
    """The sum of Theorem 7 at threshold K: noise K²·√s·T·√s·G/(nε), bias √s·M⁴/K²."""
    s, T, logs = _sizes(setting)
    noise = K**2 * T * s * logs / (setting.n * setting.epsilon)
    return _thresholding(setting, math.sqrt(s) * setting.bound**4 / K**2, noise)


@pytest.mark.parametrize("setting", GRID)
@pytest.mark.parametrize("s", [1, 8])
def test_theorem_8_follows_with_the_balanced_scale(setting: Setting, s: int) -> None:
    setting = replace(setting, sparsity=s)
    size, T, logs = _sizes(setting)
    k = setting.bound * math.sqrt(setting.n * setting.epsilon / (math.sqrt(size) * T * logs))
    risk = hu.catoni_thresholding_risk(setting)
    assert risk <= _catoni(setting, k) <= 4.0 * risk
    assert _catoni(setting, k) <= min(_catoni(setting, k * c) for c in (0.5, 0.9, 1.1, 2.0))
    assert risk == pytest.approx(tao.sparse_risk(replace(setting, order=2.0)), rel=1e-9)


def _at(function, scale, first: Setting) -> float:
    """Exponent of s in `function` at the threshold that `scale` gives for each s."""
    second = replace(first, sparsity=100 * first.sparsity)
    return math.log(function(second, scale(second)) / function(first, scale(first))) / math.log(100.0)


def test_printed_scales_of_theorem_8_lose_the_exponent() -> None:
    """Of s: 3/2 with √s in k², 2 with the s of the proof or with nothing, as in the theorem."""
    setting = Setting(n=10**12, d=10**40, epsilon=0.5, delta=1e-6, order=4.0, sparsity=10**12)

    def scale(power: float):
        return lambda c: math.sqrt(c.n * c.epsilon / (math.log(c.n) * c.sparsity**power))

    balanced = lambda c: scale(0.5)(c) / math.sqrt(_sizes(c)[2])  # noqa: E731 - a parameter, as the others
    assert _at(_catoni, balanced, setting) == pytest.approx(1.5, abs=1e-9)
    assert _at(_catoni, scale(1.0), setting) == pytest.approx(2.0, abs=1e-3)
    assert _at(_catoni, scale(0.0), setting) == pytest.approx(2.0, abs=1e-3)


def test_theorem_7_repaired() -> None:
    """Of s: 3 with the printed K, 5/2 with the best one, whose risk is the function's."""
    setting = Setting(n=10**12, d=10**6, epsilon=0.5, delta=1e-6, order=4.0, sparsity=10**3)

    def printed(c: Setting) -> float:
        return (c.n * c.epsilon / (c.sparsity * math.log(c.n))) ** 0.25

    def best(c: Setting) -> float:
        s, T, logs = _sizes(c)
        return c.bound * (c.n * c.epsilon / (math.sqrt(s) * T * logs)) ** 0.25

    assert _at(_shrunken, best, setting) == pytest.approx(2.5, abs=1e-9)
    large = replace(setting, d=10**40, sparsity=10**12)
    assert _at(_shrunken, printed, large) == pytest.approx(3.0, abs=1e-3)
    for case in GRID:
        risk = hu.repaired_thresholding_risk(case)
        assert risk <= _shrunken(case, best(case)) <= 4.0 * risk
        assert _shrunken(case, best(case)) <= min(_shrunken(case, best(case) * c) for c in (0.8, 1.25))
        assert hu.repaired_thresholding_threshold(case, 1, 1) == pytest.approx(
            case.bound
            * (case.n * case.epsilon / (math.sqrt(math.log(1 / case.delta)) * math.log(case.d / case.failure))) ** 0.25
        )


# What is false.


def _clipped_excess(s: int, K: float, moment: float) -> float:
    """Excess risk of the minimiser after shrinking, for a distribution inside Assumption 3.

    Independent signs, and with probability q = M/(16K⁴) a spike: half of the support at K, a quarter at −2K. The spike
    has ⟨w*, x⟩ = 0, and √s·K/8 after shrinking. There is no noise.
    """
    spike = np.repeat([K, -2 * K, 0.0], [s // 2, s // 4, s // 4])
    q, shrunk, w = moment / (16 * K**4), np.clip(spike, -K, K), np.full(s, 0.5 / math.sqrt(s))
    assert spike @ w == pytest.approx(0.0, abs=1e-9)
    assert math.sqrt(s) / 2 <= K  # signs and their targets are not shrunk
    second, cross = (1 - q) * np.eye(s) + q * np.outer(shrunk, shrunk), (1 - q) * w
    off = np.linalg.solve(second, cross) - w
    covariance = (1 - q) * np.eye(s) + q * np.outer(spike, spike)
    assert np.linalg.eigvalsh(covariance)[[0, -1]] == pytest.approx([1.0, 1.0], abs=0.2)
    return 0.5 * float(off @ covariance @ off)


def test_the_bias_of_theorem_7_is_there() -> None:
    """Along K⁴ = nε/(sT) at a fixed nε/T the excess risk grows like s³, not like the stated s²."""
    budget, sizes = 1e10, [32, 64, 128, 256]
    excess = [_clipped_excess(s, (budget / s) ** 0.25, 1.0) for s in sizes]
    assert np.polyfit(np.log(sizes), np.log(excess), 1)[0] == pytest.approx(3.0, abs=0.05)


def _biweight(r: np.ndarray, c: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    inside = np.abs(r) <= c
    return c**2 / 6 * np.where(inside, 1 - (1 - (r / c) ** 2) ** 3, 1.0), np.where(
        inside, r * (1 - (r / c) ** 2) ** 2, 0.0
    )


def test_lemma_7_is_false() -> None:
    """Far from w* = 1/2 the biweight's gradient is 0 and its excess risk is not; h′(0) = 1."""
    x = np.array([-10.0, 10.0])
    for w in (-1.0, 0.0, 0.35, 0.65, 1.0):
        residual = (w - 0.5) * x
        value, slope = _biweight(residual)
        assert np.mean(value) == pytest.approx(1 / 6)
        assert np.mean(slope * x) == 0.0
    slope = _biweight(np.array([1e-6]))[1] / 1e-6
    assert slope == pytest.approx(1.0)


def _recursion(setting: Setting, T: int, step) -> float:
    """Iterate Δ ← (1 − η)Δ + α·η²·D²/2 + η·μ, (32) at C_ψ = 2c_ψ, with the best s."""
    logs = math.log(setting.d * T / setting.failure)
    mu = 2.0 * setting.bound * math.sqrt(T * logs / (setting.n * setting.epsilon))
    risk = 0.5
    for t in range(1, T + 1):
        eta = step(t)
        risk = (1 - eta) * risk + 0.5 * eta**2 + eta * mu
    return risk


def test_theorem_3_can_have_the_exponent_of_theorem_2() -> None:
    """Steps 2/(t + 2) and T of Theorem 2, against 1/√T and T of Theorem 3, in the same recursion."""
    settings = [Setting(n=n, d=100) for n in (10**8, 10**11, 10**14)]
    fast = [_recursion(setting, hu.frank_wolfe_steps(setting), hu.frank_wolfe_step) for setting in settings]
    assert math.log(fast[-1] / fast[0]) / math.log(1e6) == pytest.approx(-1 / 3, abs=0.03)
    steps = hu.robust_steps(settings[0])
    assert _recursion(settings[0], steps, lambda _: hu.robust_step(settings[0], steps)) > 2 * fast[0]


def test_curvature_is_the_square_of_the_diameter() -> None:
    """Lemma 6 needs (2/η²)·(f(y) − f(x) − f′(x)(y − x)) for y = x + η(v − x): α·D² for α·w²/2 on [0, D]."""
    alpha, D = 2.0, 3.0
    x, v, eta = np.meshgrid([0.0, 1.0, D], [0.0, D], [0.1, 0.5, 1.0])
    y = x + eta * (v - x)
    gap = alpha * (y**2 / 2 - x**2 / 2 - x * (y - x))
    assert (2 / eta**2 * gap).max() == pytest.approx(alpha * D**2)


def test_what_is_left_of_the_start() -> None:
    """∏(1 − η) for η = 2/(t + 2): the first step is 2/3, not 1."""
    for T in (1, 5, 100):
        left = math.prod(1 - hu.frank_wolfe_step(t) for t in range(1, T + 1))
        assert left == pytest.approx(2 / ((T + 1) * (T + 2)))


@pytest.mark.parametrize("r", [0.5, 1.0, 2.0, 3.0, 5.0])
def test_sensitivity_of_the_shrunken_scores(r: float) -> None:
    """2⟨v, x̃⟩(⟨x̃, w⟩ − ỹ) over the corners of the cube, v and w different vertices: it changes by up to 4r(r + 1)K²."""
    K, d = 1.7, 3
    corners = np.array(list(itertools.product((-K, K), repeat=d + 1)))
    x, y, w = corners[:, :d], corners[:, d], np.array([r, 0.0, 0.0])
    scores = 2 * r * x[:, 1] * (x @ w - y)
    change = scores.max() - scores.min()
    assert change == pytest.approx(4 * r * (r + 1) * K**2)
    printed = 8 * (2 * r) * K**2
    assert (change > printed * (1 + 1e-9)) == (r > 3.0)
    if r == 1.0:
        assert change == pytest.approx(8 * K**2)  # with ‖W‖₁ read as the radius the printed number is exact


def test_bias_of_shrunken_products() -> None:
    """E xy − E x̃ỹ for x = y in {0, h}: up to M/(4K²) at E x⁴ = M, so that (38)'s √M/K² does not hold for M > 16."""
    for moment, K in ((1.0, 2.0), (10.0**4, 50.0)):
        heights = np.linspace(K, 4 * K, 2001)
        bias = moment / heights**4 * (heights**2 - K**2)
        assert bias.max() == pytest.approx(moment / (4 * K**2), rel=1e-4)
    assert bias.max() > math.sqrt(moment) / K**2


# Lemma 4.


def _phi(x: np.ndarray) -> np.ndarray:
    clipped = np.clip(x, -math.sqrt(2), math.sqrt(2))
    return clipped - clipped**3 / 6


def test_inequality_16() -> None:
    u = np.linspace(-50, 50, 400_001)
    assert np.all(_phi(u) <= np.log(1 + u + u**2 / 2) + 1e-12)
    assert np.all(_phi(u) >= -np.log(1 - u + u**2 / 2) - 1e-12)


@pytest.mark.parametrize("beta", [0.3, 1.0, 5.0])
def test_the_scale_of_lemma_4_is_best_and_smoothing_costs(beta: float) -> None:
    setting = Setting(n=500, bound=3.0, failure=0.02)
    s = hu.catoni_scale(setting, beta)
    printed = 9.0 / (2 * s) * (1 / beta + 1) + s / 500 * (beta / 2 + math.log(100))
    assert (
        hu.catoni_mean(setting, s, beta) == pytest.approx(printed) == pytest.approx(hu.catoni_mean(setting, None, beta))
    )
    assert hu.catoni_mean(setting, None, beta) < min(hu.catoni_mean(setting, s * c, beta) for c in (0.9, 1.1))
    assert hu.catoni_mean(setting, None, beta) > hu.sharp_catoni_mean(setting)


@pytest.mark.parametrize("beta", [1.0, math.inf])
@pytest.mark.parametrize("name", ["student", "spikes"])
def test_catoni_means_stay_inside(name: str, beta: float) -> None:
    """Smoothed over 31 quantiles of η, or not smoothed with the sharper bound."""
    generator, runs, n, failure = np.random.default_rng(0), 400, 300, 0.1
    x = generator.standard_t(2.5, (runs, n)) if name == "student" else 20.0 * (generator.random((runs, n)) < 1 / 400)
    mean, moment = (0.0, 5.0) if name == "student" else (20 / 400, 1.0)
    setting = Setting(n=n, bound=math.sqrt(moment), failure=failure)
    eta = [0.0] if beta == math.inf else (norm.ppf((np.arange(31) + 0.5) / 31) / math.sqrt(beta)).tolist()
    s = (
        hu.catoni_scale(setting, beta)
        if beta < math.inf
        else setting.bound * math.sqrt(n / (2 * math.log(2 / failure)))
    )
    error = np.abs(s * np.mean([_phi(x * (1 + e) / s).mean(axis=1) for e in eta], axis=0) - mean)
    bound = hu.sharp_catoni_mean(setting) if beta == math.inf else hu.catoni_mean(setting)
    assert np.mean(error > bound) <= failure
    assert error.max() > bound / 20


# The threshold of Tao et al. 2022, Theorem 10, whose other parameters are those of Theorem 8.


@pytest.mark.parametrize("order", [1.3, 2.0])
def test_threshold_of_theorem_10(order: float) -> None:
    """Bias u/B^v and noise B·T·√s·G/(nε) balance; the same B is Theorem 8's k at p = 2."""
    for case in GRID:
        setting = replace(case, order=order, sparsity=3)
        s, T, v = 40, 11, order - 1
        B = tao.sparse_threshold(setting, s, T)
        logs = math.sqrt(math.log(1 / setting.delta)) * math.log(setting.d * T / setting.failure)
        noise = B * T * math.sqrt(s) * logs / (setting.n * setting.epsilon)
        assert noise == pytest.approx(setting.bound**order / B**v)
        if order == 2.0:
            assert hu.catoni_thresholding_scale(setting, s, T) == pytest.approx(B)
        whole = tao.sparse_threshold(setting)
        assert whole == pytest.approx(tao.sparse_threshold(setting, hu.kept(setting), hu.thresholding_steps(setting)))


def test_theorem_10_as_printed() -> None:
    n, d, eps, delta, v, u, s, xi = 10**5, 200, 0.3, 1e-6, 0.6, 1.7, 5, 0.05
    setting = Setting(n, d, eps, delta, 1 + v, u ** (1 / (1 + v)), xi, sparsity=s)
    logs = math.log(n) * math.log(d / xi) * math.sqrt(math.log(1 / delta))
    printed = s ** ((1 + 2 * v) / (1 + v)) * u ** (2 / (1 + v)) * (logs / (n * eps)) ** (2 * v / (1 + v))
    assert tao.sparse_risk(setting) == pytest.approx(printed)
