"""Selection: bounded range by brute force, and why other noise does not have it."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailguard.errors import ParameterError
from tailguard.mechanisms import Exponential, NoisyMax, TopK
from tailguard.mechanisms.gumbel import pick_loss
from tailguard.privacy import events
from tailguard.run.randomness import Simulation
from tests.support.laws import p_value, softmax


def loss_range(p: np.ndarray, q: np.ndarray) -> float:
    loss = np.log(p / q)
    return float(loss.max() - loss.min())


def test_bounded_range_over_all_neighbours_of_small_scores() -> None:
    sensitivity, multiplier = 2.0, 1.5
    eta = NoisyMax().event(multiplier, sensitivity, 3).eta
    worst = 0.0
    for scores in itertools.product(range(-3, 4, 3), repeat=3):
        for change in itertools.product(range(-2, 3), repeat=3):
            p, q = (softmax(np.array(v) / 3.0) for v in (scores, np.add(scores, change)))
            worst = max(worst, loss_range(p, q))
            assert np.abs(np.log(p / q)).max() <= eta + 1e-12
    assert worst == pytest.approx(eta)


@pytest.mark.parametrize("alpha", [1.001, 2.0, 8.0, 64.0])
def test_bounded_range_implies_its_zcdp(alpha: float) -> None:
    randomness = Simulation(0)
    for eta in (0.1, 1.0, 4.0):
        scores = 12 * randomness.uniform(800).reshape(200, 4)
        change = eta / 2 * np.sign(randomness.uniform(800) - 0.5).reshape(200, 4)
        for v, shift in zip(scores, change, strict=True):
            p, q = np.log(softmax(v)), np.log(softmax(v + shift))
            divergence = np.logaddexp.reduce(alpha * p + (1 - alpha) * q) / (alpha - 1)
            assert divergence <= alpha * eta**2 / 8 + 1e-12


def test_top_k_is_k_rounds_of_the_exponential_mechanism() -> None:
    scores, scale, randomness = np.array([60, 30, 0], dtype=np.int64), 40.0, Simulation(2)
    orders = list(itertools.permutations(range(3), 2))
    hits = [tuple(TopK(2).release(scores, 10.0, 4.0, randomness)[0].tolist()) for _ in range(8000)]
    w = np.exp(scores / scale)
    law = np.array([w[i] / w.sum() * w[j] / (w.sum() - w[i]) for i, j in orders])
    assert p_value([hits.count(order) for order in orders], law) > 1e-4
    wrong = np.exp(scores / (1.1 * scale))
    wrong_law = np.array([wrong[i] / wrong.sum() * wrong[j] / (wrong.sum() - wrong[i]) for i, j in orders])
    assert p_value([hits.count(order) for order in orders], wrong_law) < 1e-2


def test_exponential_noise_has_no_bounded_range() -> None:
    for shift in (0.01, 0.5, 2.0):  # Δ ÷ scale
        lose = 0.5 * math.exp(-shift)
        found = loss_range(np.array([1 - lose, lose]), np.array([lose, 1 - lose]))
        assert found == pytest.approx(2 * math.log(2 * math.exp(shift) - 1))
        assert found > 2 * shift


def test_laplace_noise_has_no_bounded_range() -> None:
    x = np.linspace(-40, 40, 160_001)
    density = 0.5 * np.exp(-np.abs(x))

    def wins(gap: float) -> np.ndarray:
        y = x + gap
        below = np.where(y < 0, 0.5 * np.exp(np.minimum(y, 0)), 1 - 0.5 * np.exp(-np.maximum(y, 0)))
        first = float(np.trapezoid(density * below**2, x))
        return np.array([first, (1 - first) / 2, (1 - first) / 2])

    shift = 0.01
    assert loss_range(wins(shift), wins(-shift)) == pytest.approx(9 / 8 * 2 * shift, rel=1e-3)


@given(st.floats(1e-12, 1e12))
def test_pick_loss_is_rounded_up(multiplier: float) -> None:
    loss = pick_loss(multiplier)
    assert Fraction(loss) * Fraction(multiplier) >= 2
    assert Fraction(math.nextafter(loss, 0.0)) * Fraction(multiplier) < 2


def test_events_of_one_pick_and_of_many() -> None:
    assert Exponential is NoisyMax
    assert NoisyMax().event(4.0, 2.0, 9) == TopK(1).event(4.0, 2.0, 9) == events.BoundedRange(0.5)
    assert TopK(3).event(4.0, 2.0, 9) == events.Repeat(events.BoundedRange(0.5), 3)


def test_more_picks_than_scores_are_refused() -> None:
    rule = "The 'count' parameter of TopK must be an integer of at least 1 and at most 2"
    with pytest.raises(ParameterError, match=rule):
        TopK(3).event(4.0, 2.0, 2)
    with pytest.raises(ParameterError, match=rule):
        TopK(3).release(np.zeros(2, dtype=np.int64), 2.0, 4.0, Simulation(0))
    with pytest.raises(ParameterError):
        TopK(0)
