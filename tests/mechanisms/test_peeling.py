"""Sparse releases: what they cost, what they pick, and that picks by Laplace noise are private."""

import itertools
import math

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.mechanisms import LaplacePeeling, Peeling
from tailguard.mechanisms.peeling import LARGEST_LAPLACE_SCALE, magnitudes, peel
from tailguard.privacy import events
from tailguard.run.randomness import Simulation
from tests.support.laws import discrete_laplace, laplace_favourite, p_value


def first_pick(scores: tuple[int, ...], scale: float) -> np.ndarray:
    """Return the exact law of one Laplace round with ties to the lowest index."""
    k, p = discrete_laplace(scale)
    at_most = np.cumsum(p)

    def below(bound: np.ndarray) -> np.ndarray:
        return np.where(bound < k[0], 0.0, at_most[np.clip(bound - k[0], 0, k.size - 1)])

    wins = []
    for r, score in enumerate(scores):
        others = [below(k + score - other - (j < r)) for j, other in enumerate(scores) if j != r]
        wins.append(float(p @ np.prod(others, axis=0)))
    return np.array(wins)


def test_laplace_picks_are_private_for_all_neighbours_of_small_scores() -> None:
    sensitivity, multiplier = 1.0, 1.5
    picks = LaplacePeeling(1).event(multiplier, sensitivity, 3).events[0]
    laws = {v: first_pick(v, multiplier) for v in itertools.product(range(-1, 5), repeat=3)}
    worst = 0.0
    for v in itertools.product(range(4), repeat=3):
        for change in itertools.product((-1, 0, 1), repeat=3):
            neighbour = tuple(a + b for a, b in zip(v, change, strict=True))
            worst = max(worst, float(np.abs(np.log(laws[v] / laws[neighbour])).max()))
    assert laws[0, 0, 0].sum() == pytest.approx(1.0)
    assert 0.7 * picks.event.epsilon < worst <= picks.event.epsilon


def test_rounds_of_laplace_peeling_use_fresh_noise() -> None:
    scores, randomness = np.zeros(21, dtype=np.int64), Simulation(4)
    scores[0] = 120
    hits = [0 in peel(scores, 40.0, 2, randomness) for _ in range(6000)]
    counts = [sum(hits), len(hits) - sum(hits)]
    assert p_value(counts, laplace_favourite(120, 20, 2, 40.0)) > 1e-4
    assert p_value(counts, laplace_favourite(120, 20, 2, 44.0)) < 1e-4


def test_events() -> None:
    gumbel = Peeling(4).event(10.0, 2.0**30, 100)
    assert gumbel.events[0] == events.Repeat(events.BoundedRange(0.2), 4)
    assert gumbel.events[1].multiplier == 5.0
    assert gumbel.events[1].distance == pytest.approx(4 / 45 / (10 * 2.0**30) ** 2)
    laplace = LaplacePeeling(4).event(10.0, 2.0**30, 100)
    assert laplace.events[0] == events.Repeat(events.Pure(math.nextafter(0.2, 1)), 4)
    assert laplace.events[1] == events.Repeat(events.Laplace(10.0), 4)


@pytest.mark.parametrize("mechanism", [Peeling(3), LaplacePeeling(3)])
def test_clear_winners_are_kept_with_their_signs(mechanism: Peeling | LaplacePeeling) -> None:
    value = np.array([5, -(10**9), 0, 10**9, 3, -(10**9), 1], dtype=np.int64)
    released, _ = mechanism.release(value, 20.0, 4.0, Simulation(0))
    assert np.flatnonzero(released).tolist() == [1, 3, 5]
    assert np.abs(released - np.where(np.abs(value) > 5, value, 0)).max() < 2000


@pytest.mark.parametrize("mechanism", [Peeling(3), LaplacePeeling(3)])
def test_more_entries_than_coordinates_are_refused(mechanism: Peeling | LaplacePeeling) -> None:
    with pytest.raises(ParameterError, match=r"The 'count' parameter of .*Peeling must be"):
        mechanism.event(4.0, 20.0, 2)
    with pytest.raises(ParameterError, match=r"The 'count' parameter of .*Peeling must be"):
        mechanism.release(np.zeros(2, dtype=np.int64), 20.0, 4.0, Simulation(0))


def test_laplace_scales_whose_saturation_is_not_covered_are_refused() -> None:
    LaplacePeeling(1).event(1.0, LARGEST_LAPLACE_SCALE, 5)
    with pytest.raises(ParameterError, match="noise scale"):
        LaplacePeeling(1).event(1.0, 2 * LARGEST_LAPLACE_SCALE, 5)


def test_magnitudes_are_lipschitz_up_to_the_ends() -> None:
    ends = np.iinfo(np.int64)
    value = np.array([ends.min, ends.min + 1, -3, 0, 2**62, 2**62 + 5, ends.max], dtype=np.int64)
    assert magnitudes(value).tolist() == [2**62, 2**62, 3, 0, 2**62, 2**62, 2**62]
