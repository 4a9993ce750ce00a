"""Where columns lie and how wide they are, from a few faint histograms."""

import numpy as np
import pytest

from tailguard.solvers.base import Released
from tailguard.solvers.places import places
from tailguard.statistics.view import View

N, ROUNDS = 4000, 4


def driven(d, answer):
    """The view that answers to all questions lead to; they come in the order of the plan."""
    ask, steps = places(View(d, intercept=True), N, 20, ROUNDS), []
    query = next(ask)
    while True:
        steps.append(query.step)
        try:
            query = ask.send(answer(query))
        except StopIteration as stop:
            assert steps == [*["feature scale"] * (ROUNDS - 1), "feature mean", "feature scale"]
            return stop.value


def found(X, noise, seed=500):
    """The view, where every mass has this noise, and means have as much."""
    rng = np.random.default_rng(seed)

    def answer(query):
        exact = query.statistic.kernel()(X, None) * query.statistic.unit
        return Released(query.step, exact + noise * N * rng.standard_normal(exact.size), noise * N)

    return driven(X.shape[1], answer)


def off(view, centre, scale):
    """How far the centres are off, in scales, and the scales, in octaves."""
    return np.abs(np.asarray(view.centre) - centre) / scale, np.abs(np.log2(np.asarray(view.scale) / scale))


@pytest.mark.parametrize("noise", [0.002, 0.05, 0.08])
@pytest.mark.parametrize("size", [1e-6, 1.0, 3e7])
def test_columns_around_0_have_their_deviations_for_scales(noise, size):
    view = found(size * np.random.default_rng(500).standard_normal((N, 20)), noise)
    centres, octaves = off(view, 0.0, size)
    assert np.all(centres < 0.5)
    assert np.all(octaves < 1.0)


@pytest.mark.parametrize("far", [-1700.0, -20.0, 100.0, 1000.0])
def test_columns_far_from_0_are_found(far):
    view = found(7.0 * (far + np.random.default_rng(501).standard_normal((N, 20))), 0.06)
    centres, octaves = off(view, 7.0 * far, 7.0)
    assert np.mean((centres < 1.0) & (octaves < 1.5)) >= 0.8
    # One that is not found is scaled by its size, or dropped: no column outweighs all others.
    assert np.all(np.asarray(view.scale) > 7.0 / 4.0)


def test_columns_a_few_deviations_from_0_are_narrower_than_their_size():
    view = found(5.0 + np.random.default_rng(502).standard_normal((N, 20)), 0.03)
    centres, octaves = off(view, 5.0, 1.0)
    assert np.median(centres) < 1.0
    assert np.median(octaves) < 1.0


@pytest.mark.parametrize(
    ("share", "noise"), [*((share, 0.04) for share in (0.5, 0.8, 0.9, 1.0)), (0.8, 0.2), (0.9, 0.2), (1.0, 0.2)]
)
def test_atoms_are_no_spread(share, noise):
    """However precisely a value is known that most rows have: what is left over is as far from it as it is from 0."""
    ones = (np.random.default_rng(503).random((N, 40)) < share).astype(float)
    scale = np.asarray(found(ones, noise).scale)
    assert np.mean(scale > 0.2) >= 0.95


def test_columns_without_numbers_are_dropped():
    X = np.random.default_rng(504).standard_normal((N, 6))
    X[:, :2], X[:, 2:4] = 0.0, np.nan
    scale = np.asarray(found(X, 0.05).scale)
    assert np.all(np.isinf(scale[:4]))
    assert np.all(np.isfinite(scale[4:]))


EXTREMES = [0.0, 1.0, -1.0, 2.0**62, -(2.0**62), 1e-300]


@pytest.mark.parametrize("noise", [1e-9, 1.0, 2.0**62])
def test_whatever_was_released_makes_a_view(noise):
    rng = np.random.default_rng(505)

    def answer(query):
        return Released(query.step, rng.choice(EXTREMES, query.statistic.dimension), noise)

    for _ in range(20):
        view = driven(3, answer)
        assert np.all(np.isfinite(view.centre))
        assert np.all(np.asarray(view.scale) > 0.0)


@pytest.mark.parametrize("noise", [0.002, 0.05, 0.08])
@pytest.mark.parametrize(("low", "high", "share"), [(-0.0446, 0.0507, 0.53), (0.0, 1.0, 0.74), (1000.0, 1001.0, 0.6)])
def test_two_values_are_no_spread_about_either_of_them(noise, low, high, share):
    """A scale far below their distance makes rows enormous: half of the fits of such a table were lost."""
    X = np.where(np.random.default_rng(503).random((N, 20)) < share, high, low)
    scale = np.asarray(found(X, noise).scale)
    true = (high - low) * np.sqrt(share * (1.0 - share))
    assert np.mean(scale > true / 6.0) >= (0.95 if noise < 0.06 else 0.8)
    assert np.mean((scale < 6.0 * true) | (scale > 100.0)) >= 0.9  # far off: dropped, or scaled by its size


@pytest.mark.parametrize("noise", [0.2, 0.3, 0.4])
def test_noise_beside_many_zeros_is_no_size(noise):
    """Where it was taken for one, such an indicator had a scale of 1e-12, and predictions were absurd."""
    rng = np.random.default_rng(506)
    for seed in range(4):
        ones = (rng.random((N, 50)) < 0.04).astype(float)
        assert np.all(np.asarray(found(ones, noise, seed).scale) > 0.02)


@pytest.mark.parametrize(("far", "least"), [(30.0, 0.9), (100.0, 0.9), (1000.0, 0.85)])
def test_columns_far_from_0_are_found_where_noise_is_a_fifth_of_the_records(far, least):
    """A narrow law of positive numbers is no other law than one size; what a window shows of a spread is remembered."""
    rng, sizes = np.random.default_rng(507), np.exp2(np.arange(80) / 80.0)
    view = found(sizes * (far + rng.standard_normal((N, 80))), 0.2)
    centres, octaves = off(view, sizes * far, sizes)
    assert np.mean((centres < 1.0) & (octaves < 1.5)) >= least


def test_a_column_with_an_absurd_scale_leaves_room_for_the_others_in_a_mean():
    """Rows are shortened for a mean; how far one column may be in a row is limited before."""

    def answer(query):
        counts = query.statistic.kernel()(rows, None) * query.statistic.unit
        if query.step == "feature mean":
            means.append(query.statistic.kernel()(np.array([[1e9, 1.0], [0.0, 1.0]]), None))
            means.append(query.statistic.kernel()(np.array([[0.0, 1.0], [0.0, 1.0]]), None))
        return Released(query.step, counts, 1e-3 * N)

    rows, means = np.random.default_rng(508).standard_normal((N, 2)), []
    driven(2, answer)
    assert means[0][1] > 0.6 * means[1][1]
