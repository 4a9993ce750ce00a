"""Lowy 2026, appendix G: the two hard families, against the best tests that there are, private or not."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from tailguard.errors import ParameterError
from tailguard.theory import Setting, gilbert_varshamov, lowy


@pytest.mark.parametrize("n", [1, 7, 300])
@pytest.mark.parametrize("failure", [0.01, 0.1, 0.25, 0.45])
def test_no_test_of_signs_is_better(n: int, failure: float) -> None:
    """Exact: the best sum of errors is 1 − TV. Four times the bias is told apart."""
    bias = lowy.sign_bias(Setting(n=n, failure=failure))
    assert _errors(n, bias) >= 2 * failure
    assert n < 100 or failure > 0.4 or _errors(n, 4 * bias) < 2 * failure


def _errors(n: int, bias: float) -> float:
    k = np.arange(n + 1)
    up, down = binom.pmf(k, n, (1 + bias) / 2), binom.pmf(k, n, (1 - bias) / 2)
    return float(np.minimum(up, down).sum())


def _best_test(n: int, q: float, epsilon: float) -> float:
    """Smallest larger error of all private tests of spikes ν against −ν, by linear programming.

    Only data sets that occur are looked at: k spikes of one sign. Two of them differ in |k − j| records, or max(k, j)
    if their signs differ. What all data sets, and pairs far apart, would forbid is left out, which helps the test.
    """
    states = [(0, 0)] + [(sign, k) for sign in (1, -1) for k in range(1, n + 1)]
    law = binom.pmf(np.arange(n + 1), n, q)
    rows, limits = [], []
    for (i, (s, k)), (j, (t, m)) in itertools.permutations(enumerate(states), 2):
        distance = abs(k - m) if s * t >= 0 else max(k, m)
        if epsilon * distance > 10.0:
            continue
        factor = math.exp(epsilon * distance)
        said = np.zeros(len(states) + 1)
        said[i], said[j] = 1.0, -factor
        rows += [said, -said]
        limits += [0.0, factor - 1.0]
    error = np.zeros((2, len(states) + 1))
    error[:, 0] = -law[0], law[0]
    for j, (s, k) in enumerate(states[1:], 1):
        error[0, j] = -law[k] if s == 1 else 0.0
        error[1, j] = law[k] if s == -1 else 0.0
    error[:, -1] = -1.0
    rows += [*error]
    limits += [-1.0, 0.0]
    found = linprog(np.eye(len(states) + 1)[-1], A_ub=np.array(rows), b_ub=limits, bounds=[(0, 1)] * (len(states) + 1))
    return float(found.fun)


@pytest.mark.parametrize("failure", [0.05, 0.2, 0.4])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_no_private_test_of_spikes_is_better(failure: float, epsilon: float) -> None:
    n = 12
    q = lowy.spike_probability(Setting(n=n, epsilon=epsilon, failure=failure), math.log(2.0))
    assert _best_test(n, q, epsilon) >= failure - 1e-9
    assert 4.0 * q > 1.0 or _best_test(n, 4.0 * q, epsilon) < failure


@pytest.mark.parametrize(("size", "failure"), [(2, 0.3), (50, 0.25), (50, 1e-3), (10**6, 0.1)])
@pytest.mark.parametrize("epsilon", [0.2, 2.0])
def test_no_private_decoder_is_better(size: int, failure: float, epsilon: float) -> None:
    """A decoder that is fair to all words names the right one of k records with a chance of 1/(1 + (|V| − 1)·e^(−εk))
    at most: every wrong one has at least e^(−εk) of its chance.
    """
    n = 400
    q = lowy.spike_probability(Setting(n=n, epsilon=epsilon, failure=failure), math.log(size))
    k = np.arange(n + 1)
    success = binom.pmf(k, n, q) @ (1.0 / (1.0 + (size - 1.0) * np.exp(-epsilon * k)))
    assert success <= 1.0 - failure


def test_the_printed_probability_is_negative() -> None:
    """Proposition G.4 at d = 1 and ζ = 1/4 with two points; ours is positive up to 1/2."""
    assert math.log((2 - 1) / (4 * math.e * 0.25)) == pytest.approx(-1.0)
    assert lowy.spike_probability(Setting(n=100, failure=0.25), math.log(2.0)) > 0.0
    with pytest.raises(ParameterError, match="'failure' parameter of spike_probability"):
        lowy.spike_probability(Setting(n=100, failure=0.5), math.log(2.0))


def test_the_middle_step_of_lemma_g1_fails() -> None:
    """F − inf F ≥ (Dm/2)(1 − ⟨u, v⟩) with v = −w/‖w‖; the lemma's own ‖μ̂ − μ‖² ≤ (8m/D)(F − inf F) holds."""
    D, m, u = 2.0, 0.3, np.array([1.0, 0.0])
    generator = np.random.default_rng(0)
    failed = 0
    for w in [1e-3 * u, *(generator.uniform(-0.7, 0.7, (200, 2)))]:
        excess, v = m * u @ w + D * m / 2, -w / np.linalg.norm(w)
        failed += excess < D * m / 2 * (1 - u @ v)
        assert np.sum((m * v - m * u) ** 2) <= 8 * m / D * excess + 1e-12
    assert failed > 20


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 16, 33, 100])
def test_code_sizes(d: int) -> None:
    """Counting gives at least as many signs as `log_code_size` says, from the growth alone or from a pair."""
    counted = gilbert_varshamov(d, d, math.ceil(d / 4), signed=True)
    assert max(counted, math.log(2.0)) >= lowy.log_code_size(Setting(n=1, d=d)) - 1e-12


@pytest.mark.parametrize("d", [1, 2, 3, 12])
@pytest.mark.parametrize("order", [2.0, 4.0])
def test_spiked_packing(d: int, order: float) -> None:
    """Moments of the norm with equality, means of equal length, opposite or at least 1 apart."""
    setting = Setting(n=500, d=d, epsilon=0.5, delta=0.0, order=order, bound=3.0)
    for size in (2,) if d < 3 else (2, 4):
        family = lowy.spiked_packing(setting, np.random.default_rng(d), size)
        log_size = math.log(2.0) if size == 2 else lowy.log_code_size(setting)
        q = lowy.spike_probability(setting, log_size)
        length = 3.0 * q**setting.power
        means = np.array([instance.mean for instance in family])
        assert len(family) == size
        assert np.linalg.norm(means, axis=1) == pytest.approx(np.full(size, length))
        gaps = np.linalg.norm(means[:, None] - means, axis=2)[~np.eye(size, dtype=bool)]
        assert gaps.min() >= length * (2.0 if size == 2 else 1.0) * (1 - 1e-12)
        for instance in family:
            assert instance.moment(order, "norm") == pytest.approx(3.0**order)
            assert instance.moment(1.0, "norm") == pytest.approx(length)
        assert family == lowy.spiked_packing(setting, np.random.default_rng(d), size)


def test_bounded_pair() -> None:
    setting = Setting(n=200, d=3, bound=2.0, failure=0.1)
    up, down = lowy.bounded_pair(setting, 1.5)
    assert (up.bound, up.bias) == (1.5, lowy.sign_bias(setting)) == (down.bound, -down.bias)
    assert up.mean.tolist() == (-down.mean).tolist() == [1.5 * up.bias, 0.0, 0.0]
    for of in ("coordinate", "direction", "norm"):
        assert up.moment(3.0, of) == pytest.approx(1.5**3)
    draws = up.sample(40_000, np.random.default_rng(0))
    assert set(np.unique(draws[:, 0])) == {-1.5, 1.5}
    assert not draws[:, 1:].any()
    assert draws.mean(axis=0) == pytest.approx(up.mean, abs=5 * 1.5 / 200)
    with pytest.raises(ParameterError, match="'bias'"):
        lowy.AxisSign(1, 1.5)
    with pytest.raises(ParameterError, match="'second'"):
        lowy.bounded_pair(setting, 2.5)


@pytest.mark.parametrize("d", [1, 3])
def test_one_answer_cannot_serve_two_means(d: int) -> None:
    """Lemma 1 of lower.md by random search: the larger excess risk of every answer is above the bound's constant."""
    setting, generator = Setting(n=300, d=d, epsilon=0.5, delta=0.0, diameter=2.0), np.random.default_rng(d)
    answers = generator.standard_normal((20_000, d))
    answers *= (generator.random((20_000, 1)) ** (1 / d)) / np.linalg.norm(answers, axis=1, keepdims=True)
    for pair in (lowy.bounded_pair(setting), lowy.spiked_packing(setting, generator)):
        length = np.linalg.norm(pair[0].mean)
        larger = np.max([lowy.linear_excess(instance, answers, 2.0) for instance in pair], axis=0)
        assert length * (1 - 1e-12) <= larger.min() <= 1.1 * length
    close = np.array([[1.0, 0.0], [0.5, math.sqrt(0.75)]])
    turn = np.linspace(0.0, 2 * math.pi, 10_001)
    ring = np.stack([np.cos(turn), np.sin(turn)])
    assert np.max(close @ ring + 1.0, axis=0).min() == pytest.approx((2 - math.sqrt(3)) / 4 * 2, rel=1e-3)


def test_explicit_bounds_by_their_parts() -> None:
    for d, failure in ((1, 0.2), (40, 0.01), (3000, 0.1)):
        setting = Setting(n=10**4, d=d, epsilon=0.1, delta=0.0, order=3.0, bound=2.0, diameter=5.0, failure=failure)
        pair = 2.0 * lowy.spike_probability(setting, math.log(2.0)) ** setting.power
        code = 2.0 * lowy.spike_probability(setting, lowy.log_code_size(setting)) ** setting.power
        signs = 1.5 * lowy.sign_bias(setting)
        assert lowy.explicit_mean_lower(setting, 1.5) == pytest.approx(max(signs, pair, code / 2))
        risk = 5.0 * max(signs / 2, pair / 2, (2 - math.sqrt(3)) / 4 * code)
        assert lowy.explicit_risk_lower(setting, 1.5) == pytest.approx(risk)
        assert 0.01 < lowy.explicit_risk_lower(setting) / lowy.risk_lower(setting) < 1.0
        assert 0.1 < lowy.explicit_mean_lower(setting) / lowy.mean_lower(setting) < 1.0


def test_wrong_answers_are_refused() -> None:
    with pytest.raises(ParameterError, match="'answers' parameter of linear_excess"):
        lowy.linear_excess(lowy.AxisSign(2, 0.5), np.zeros((3, 3)), 1.0)
