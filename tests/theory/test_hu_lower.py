"""Hu et al. 2022, Theorem 9: the code, the instances, Lemma 3 against the best private decoders, the explicit bound."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from tailguard.theory import Packing, Setting, explicit, gilbert_varshamov, hu, random_code, tao

SETTINGS = [
    Setting(n=n, d=d, epsilon=epsilon, delta=delta, order=order, bound=2.0, sparsity=s)
    for n in (50, 10**5)
    for d, s in ((40, 1), (40, 3), (500, 10), (10**5, 60))
    for epsilon in (0.01, 0.5, 3.0)
    for delta in (0.0, 1e-9, 1e-5)
    for order in (1.5, 2.0)
]


def _greedy_code(d: int, s: int) -> np.ndarray:
    """Every word of {−1, 0, 1}^d with s non-zero entries, kept if it is far from all that were kept before."""
    kept: list[np.ndarray] = []
    for places in itertools.combinations(range(d), s):
        for signs in itertools.product((-1, 1), repeat=s):
            word = np.zeros(d, dtype=int)
            word[list(places)] = signs
            if all(2 * np.count_nonzero(word != other) >= s for other in kept):
                kept.append(word)
    return np.array(kept)


@pytest.mark.parametrize("d", range(2, 8))
def test_lemma_11_by_construction(d: int) -> None:
    for s in range(1, d + 1):
        code = _greedy_code(d, s)
        assert math.log(len(code)) >= hu.log_code_size(Setting(n=1, d=d, sparsity=s)) - 1e-12
        assert math.log(len(code)) >= gilbert_varshamov(d, s, math.ceil(s / 2), signed=True) - 1e-12


def test_lemma_11_by_counting() -> None:
    """(2(d − s)/s)^(s/2) words, for every s < d < 80 and some large d."""
    sizes = [(d, s) for d in range(2, 80) for s in range(1, d)] + [(10**4, s) for s in (1, 5, 20, 101)]
    for d, s in sizes:
        stated = hu.log_code_size(Setting(n=1, d=d, sparsity=s))
        assert stated == pytest.approx(max(0.0, s / 2 * math.log((d - s) / (s / 2))))
        assert gilbert_varshamov(d, s, math.ceil(s / 2), signed=True) >= stated


@pytest.mark.parametrize(("d", "s", "size"), [(30, 1, 8), (60, 4, 40), (200, 11, 60)])
@pytest.mark.parametrize("order", [1.5, 2.0])
def test_instances(d: int, s: int, size: int, order: float) -> None:
    """Sparse means, moments with equality, and the separation M·q^κ·√(s/2): exactly what the bound uses."""
    setting = Setting(n=1000, d=d, epsilon=0.5, delta=1e-8, order=order, bound=3.0, sparsity=s)
    family = hu.sparse_packing(setting, np.random.default_rng(1), size)
    q = hu.sparse_probability(setting)
    means = np.array([instance.mean for instance in family])
    assert len(family) == size
    assert np.all(np.count_nonzero(means, axis=1) == s)
    for instance in family:
        assert (instance.probability, instance.order, instance.bound) == (q, order, 3.0)
        assert instance.moment(order) == pytest.approx(3.0**order)
    gaps = np.linalg.norm(means[:, None] - means, axis=2)[~np.eye(size, dtype=bool)]
    separation = 3.0 * q**setting.power * math.sqrt(s / 2)
    assert gaps.min() >= separation * (1 - 1e-12)
    assert hu.explicit_sparse_mean_lower(setting) == pytest.approx((separation / 2) ** 2 / 8)
    again = hu.sparse_packing(setting, np.random.default_rng(1), size)
    assert again == family
    x = family[0].sample(20_000, np.random.default_rng(2))
    hits = np.count_nonzero(x.any(axis=1))
    assert abs(hits - 20_000 * q) <= 5 * math.sqrt(20_000 * q)


def test_scaled_words_are_half_a_unit_apart() -> None:
    """Not √2, which is the most that two vectors of length 1/√2 can be."""
    s = 8
    code = _greedy_code(8, s) / math.sqrt(2 * s)
    gaps = np.linalg.norm(code[:, None] - code, axis=2)[~np.eye(len(code), dtype=bool)]
    assert np.linalg.norm(code, axis=1) == pytest.approx(1 / math.sqrt(2))
    assert gaps.max() <= math.sqrt(2) + 1e-12
    sparse = random_code(64, 200, np.random.default_rng(0), weight=4, distance=2, signed=True)
    gaps = np.linalg.norm(sparse[:, None] - sparse, axis=2)[~np.eye(200, dtype=bool)] / math.sqrt(8)
    assert 0.5 <= gaps.min() < 1.0


def test_lemma_3_needs_half_of_the_separation() -> None:
    """The midpoint of two means is private and never misses by the whole separation, where (10) says 1/4 or so."""
    setting = Setting(n=10, epsilon=0.01, delta=0.0)
    assert hu.error_probability(setting, math.log(2.0), 0.1) > 0.24
    one, other = (Packing(word, 0.1).mean for word in ((1, 1, 0, 0), (0, 0, 1, 1)))
    midpoint, separation = (one + other) / 2, np.linalg.norm(one - other)
    assert np.linalg.norm(midpoint - one) == np.linalg.norm(midpoint - other) == pytest.approx(separation / 2)


def _chances(words: float, n: int, epsilon: float, delta: float) -> np.ndarray:
    """Chance s_k to name the right word on k of its records: s_0 = 1/|V|, then as fast as (ε, δ) allows."""
    chance = [1.0 / words]
    for _ in range(n):
        up, down = math.exp(epsilon) * chance[-1] + delta, 1.0 - math.exp(-epsilon) * (1.0 - delta - chance[-1])
        chance.append(min(up, down, 1.0))
    return np.array(chance)


@pytest.mark.parametrize("words", [2, 50, 10**6])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 0.0), (0.5, 0.0), (0.5, 1e-4), (2.0, 1e-3)])
def test_no_private_decoder_is_better_than_lemma_3(words: int, epsilon: float, delta: float) -> None:
    n = 60
    setting = Setting(n=n, epsilon=epsilon, delta=delta)
    chance, tight = _chances(words, n, epsilon, delta), []
    for q in (0.01, 0.05, 0.2, 0.5):
        error = 1.0 - binom.pmf(np.arange(n + 1), n, q) @ chance
        assert hu.error_probability(setting, math.log(words), q) <= error + 1e-12
        tight.append(hu.error_probability(setting, math.log(words), q) / error)
    assert max(tight) > 0.15


def test_lemma_3_as_printed() -> None:
    setting, size, q = Setting(n=200, epsilon=0.3, delta=1e-4), 5.0, 0.04
    k, V = math.ceil(200 * q), math.exp(size)
    x = math.exp(-0.3 * k)
    printed = (V - 1) * (x / 2 - 1e-4 * (1 - x) / (1 - math.exp(-0.3))) / (1 + (V - 1) * x)
    assert hu.error_probability(setting, size, q) == pytest.approx(printed)
    assert hu.error_probability(setting, size, 1.0) == 0.0
    assert hu.error_probability(setting, 0.0, q) == 0.0
    assert hu.error_probability(replace(setting, n=10**9, delta=0.0), size, 1.0) == 0.0
    assert hu.error_probability(setting, size, 0.0) == pytest.approx(0.5 * (1 - math.exp(-size)))


@pytest.mark.parametrize("setting", SETTINGS)
def test_one_case_of_eight_is_missed(setting: Setting) -> None:
    q = hu.sparse_probability(setting)
    assert 0.0 <= q <= 1.0
    size = hu.log_code_size(setting)
    if q == 0.0:
        assert min(size, math.log(setting.epsilon / (4 * setting.delta)) if setting.delta else size) <= 3.1
        assert hu.explicit_sparse_mean_lower(setting) == 0.0
    else:
        assert hu.error_probability(setting, size, q) >= 0.125 * (1 - 1e-12)


def test_the_printed_probability_misses_the_eighth() -> None:
    """With ln|V| for ln(|V| − 1), at |V| = 2√2: the code of one non-zero entry among five."""
    setting = Setting(n=10**6, d=5, epsilon=0.5, delta=0.0)
    size = hu.log_code_size(setting)
    printed = (size - 0.5) / (0.5 * 10**6)
    cost = math.exp(-0.5 * (10**6 * printed + 1))
    others = math.exp(size) - 1
    assert 0.25 * cost * others / (1 + others * cost) < 0.125
    ours = math.exp(-0.5 * (10**6 * hu.sparse_probability(setting) + 1))
    assert 0.25 * ours * others / (1 + others * ours) == pytest.approx(0.125)


@pytest.mark.parametrize("setting", SETTINGS)
def test_explicit_is_below_the_rate(setting: Setting) -> None:
    """ln(ε/δ) stands for ln(1/δ) in (11), and the proof has (s/2)·ln(2d/s) for s·ln d."""
    assert hu.explicit_sparse_mean_lower(setting) <= hu.sharp_sparse_mean_lower(setting)
    assert hu.sparse_mean_lower(setting) * setting.sparsity == pytest.approx(hu.sharp_sparse_mean_lower(setting))


def test_explicit_has_the_order_of_the_rate() -> None:
    for d, s in ((10**3, 2), (10**4, 20), (10**6, 100)):
        setting = Setting(n=10**7, d=d, epsilon=0.5, delta=0.0, sparsity=s)
        assert hu.explicit_sparse_mean_lower(setting) >= hu.sharp_sparse_mean_lower(setting) / 400


def test_the_gap_to_theorem_8() -> None:
    """At ln(1/δ) = s·ln d upper ÷ sharper lower is a power of logarithms whatever s is; with (11) it grows like s."""

    def ratios(s: int) -> tuple[float, float]:
        setting = Setting(n=10**9, d=10**4, epsilon=0.5, delta=1e-4**s, sparsity=s)
        upper = hu.catoni_thresholding_risk(setting) / (math.log(setting.n) * math.log(setting.d / setting.failure))
        return upper / hu.sharp_sparse_mean_lower(setting), upper / hu.sparse_mean_lower(setting)

    (sharp, printed), (sharp_wide, printed_wide) = ratios(2), ratios(64)
    assert sharp_wide == pytest.approx(sharp, rel=1e-9)
    assert printed_wide == pytest.approx(32 * printed, rel=1e-9)


def test_theorem_11_of_tao_meets_theorem_10() -> None:
    """Both are s·(√(s·ln(1/δ)))^(2κ), up to logarithms of n and d, for every p and s."""

    def ratio(s: int, order: float) -> float:
        setting = Setting(n=10**12, d=10**4, epsilon=0.5, delta=1e-4, order=order, sparsity=s)
        assert tao.sharp_sparse_lower(setting) == pytest.approx(s * tao.sparse_lower(setting))
        return tao.sparse_risk(setting) / tao.sharp_sparse_lower(setting)

    for order in (1.3, 2.0):
        assert ratio(100, order) == pytest.approx(ratio(2, order), rel=1e-9)


def test_pure_and_dense_neighbours() -> None:
    """For δ = 0, (11) is Theorem 11 of Tao et al. 2022; half of the coordinates are Lemma 21, up to its constants."""
    pure = Setting(n=10**6, d=1000, epsilon=0.5, delta=0.0, order=1.7, sparsity=9)
    assert hu.sparse_mean_lower(pure) == pytest.approx(tao.sparse_lower_pure(pure))
    dense = replace(pure, sparsity=500)
    assert 1e-4 < hu.explicit_sparse_mean_lower(dense) / explicit.packing(dense) ** 2 < 100.0
