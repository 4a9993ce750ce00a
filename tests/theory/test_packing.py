"""Codes: their weight and distance as stated, their sizes against counting, the same code from the same generator."""

import itertools
import math

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.theory import gilbert_varshamov, random_code
from tailguard.theory.packing import GROWTH


def _distances(code: np.ndarray) -> np.ndarray:
    differ = np.count_nonzero(code[:, None] != code, axis=2)
    return differ[~np.eye(len(code), dtype=bool)]


@pytest.mark.parametrize("d", [2, 7, 16, 33, 128])
def test_codes_of_lemma_21(d: int) -> None:
    size = max(2, math.ceil(2 ** (7 * d / 128)))
    code = random_code(d, size, np.random.default_rng(d))
    assert code.shape == (size, d)
    assert set(np.unique(code)) == {0, 1}
    assert np.all(code.sum(axis=1) == d // 2)
    assert _distances(code).min() >= d / 8


@pytest.mark.parametrize(("d", "s"), [(50, 2), (100, 5), (500, 12)])
def test_codes_of_lemma_28(d: int, s: int) -> None:
    size = 60
    code = random_code(d, size, np.random.default_rng(0), weight=s, distance=math.ceil(s / 2), signed=True)
    assert set(np.unique(code)) == {-1, 0, 1}
    assert np.all(np.count_nonzero(code, axis=1) == s)
    assert _distances(code).min() >= s / 2


def test_crowded_codes_keep_their_distance() -> None:
    """Eight of the 256 sign vectors of length 8: without the check some of them would be nearer than 4."""
    code = random_code(8, 8, np.random.default_rng(1), weight=8, distance=4, signed=True)
    assert _distances(code).min() == 4


def test_a_code_is_a_function_of_its_generator() -> None:
    first, again, other = (random_code(20, 9, np.random.default_rng(seed)) for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_words_are_uniform() -> None:
    """Over the six words of weight 2 in {0, 1}⁴, first words of 3000 codes."""
    generator = np.random.default_rng(5)
    words = [tuple(random_code(4, 1, generator)[0].tolist()) for _ in range(3000)]
    counts = [words.count(word) for word in set(words)]
    assert len(counts) == 6
    assert all(abs(count - 500) < 5 * math.sqrt(500 * 5 / 6) for count in counts)


@pytest.mark.parametrize(("d", "weight", "distance"), [(6, 3, 2), (7, 3, 3), (7, 2, 1), (8, 4, 5), (5, 5, 1)])
@pytest.mark.parametrize("signed", [False, True])
def test_gilbert_varshamov_by_counting(d: int, weight: int, distance: int, signed: bool) -> None:
    entries = (-1, 0, 1) if signed else (0, 1)
    words = np.array([w for w in itertools.product(entries, repeat=d) if np.count_nonzero(w) == weight])
    near = np.count_nonzero(np.count_nonzero(words != words[0], axis=1) < distance)
    expected = math.log(len(words) / near)
    assert gilbert_varshamov(d, weight, distance, signed=signed) == pytest.approx(expected, abs=1e-12)


def test_sizes_that_the_papers_state() -> None:
    """2^(7d/128) words of weight ⌊d/2⌋, and exp((s/2)·ln((d−s)/(s/2))) signed words of weight s."""
    for d in range(2, 300):
        assert gilbert_varshamov(d, d // 2, math.ceil(d / 8)) >= GROWTH * d
    for d, s in itertools.product((20, 100, 1000), (2, 4, 8)):
        stated = s / 2 * math.log((d - s) / (s / 2))
        assert gilbert_varshamov(d, s, math.ceil(s / 2), signed=True) >= stated


def test_too_large_codes_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"^The 'size' parameter of random_code must be small enough"):
        random_code(4, 3, np.random.default_rng(0), weight=2, distance=4)
    with pytest.raises(ParameterError, match=r"^The 'weight' parameter"):
        random_code(4, 3, np.random.default_rng(0), weight=5)
