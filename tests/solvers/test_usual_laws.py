"""Scales from histograms that are mostly noise."""

import numpy as np
import pytest

from tailguard.solvers.base import Released
from tailguard.solvers.spread import FAINT, HIGH, LOW, spread
from tailguard.solvers.usual_laws import OCTAVES, smoothed
from tailguard.statistics.scalars import Columns
from tailguard.statistics.view import View

N, COLUMNS = 4000, 20


def told(counts, noise, centre=0.0):
    """The scales that released counts of octaves show, with noise as a share of the records."""
    d = counts.size // (HIGH - LOW)
    centres = np.full(d, centre)
    ask = spread("feature scale", Columns(View(d, centre=centres)), centres, N, 30, 0.3)
    next(ask)
    with pytest.raises(StopIteration) as stop:
        ask.send(Released("feature scale", counts, noise * N))
    return stop.value.value


def found(X, noise, centre=0.0):
    """The scales of columns around a centre, from counts with noise."""
    ask = spread("feature scale", Columns(View(COLUMNS, centre=np.full(COLUMNS, centre))), np.zeros(1), N, 30, 0.3)
    statistic = next(ask).statistic
    exact = statistic.kernel()(X, None) * statistic.unit
    return told(exact + noise * N * np.random.default_rng(501).standard_normal(exact.size), noise, centre)


@pytest.mark.parametrize("noise", [1.05 * FAINT, 0.03, 0.04])
def test_scales_of_usual_columns_are_found_within_a_factor_of_two(noise):
    rng = np.random.default_rng(500)
    gaussian = rng.standard_normal((N, COLUMNS))
    for size in (1e-6, 1.0, 3e7):
        assert np.all(np.abs(np.log2(found(size * gaussian, noise) / size)) < 1.0)
    # Beside the width of their logarithm, a winsorised deviation of lognormal numbers from 0 is near 1.9.
    assert np.mean(np.abs(np.log2(found(np.exp(gaussian), noise) / 1.9)) < 1.0) >= 0.9


@pytest.mark.parametrize("centre", [1e-14, -1e-14, 2.0**-30])
@pytest.mark.parametrize("noise", [1.05 * FAINT, 0.03])
def test_an_indicator_is_scaled_by_its_ones_where_its_median_is_hardly_0(centre, noise):
    ones = (np.random.default_rng(502).random((N, COLUMNS)) > 0.53).astype(float)
    assert np.all(np.abs(np.log2(found(ones, noise, centre) / np.sqrt(0.47))) < 1.0)


@pytest.mark.parametrize("noise", [1.05 * FAINT, 0.05, 1.0, 1e6])
def test_noise_alone_is_no_law(noise):
    rng = np.random.default_rng(503)
    alarms = [np.isfinite(told(noise * N * rng.standard_normal(HIGH - LOW), noise)).any() for _ in range(100)]
    assert sum(alarms) <= 1


def test_all_columns_of_many_are_noise():
    counts = 0.05 * N * np.random.default_rng(504).standard_normal(300 * (HIGH - LOW))
    assert np.isinf(told(counts, 0.05)).sum() >= 299


EXTREMES = [0.0, 1.0, -1.0, 2.0**62, -(2.0**62), 2.0**23, 1e-300]


@pytest.mark.parametrize("noise", [1.05 * FAINT, 1.0, 1e9])
def test_whatever_was_released_is_a_scale_or_none(noise):
    rng, cells = np.random.default_rng(505), HIGH - LOW
    drawn = [rng.choice(EXTREMES, cells) for _ in range(30)]
    spikes = [np.where(np.arange(cells) == place, 2.0**62, 0.0) for place in (0, 1, 64, cells - 2, cells - 1)]
    for counts in (*drawn, *spikes, *(np.full(cells, value) for value in EXTREMES)):
        for centre in (0.0, -1e-14, 1e18, 1e75):
            scale = told(counts, noise, centre)
            assert np.all((scale >= 2.0**LOW) & ((scale < 2.0 ** (HIGH + 1)) | np.isinf(scale)))
        smooth = smoothed(counts, 1, noise, 4.0 * noise)
        assert np.all((smooth >= 0.0) & (smooth <= 1.0))
        assert smooth.sum() <= 1.0 + 1e-9


def test_positive_numbers_around_their_median_are_not_taken_for_zeros():
    """Many are as far from it as 0 is: noise beyond them is nothing that they would be zeros beside."""
    rng, noise, centre = np.random.default_rng(506), 0.047, 868.0
    X = 800.0 * np.exp(1.5 * rng.standard_normal((N, 1))) - centre
    cells = np.clip(np.floor(np.log2(np.abs(X[:, 0]))).astype(int) - LOW, 0, HIGH - LOW - 1)
    exact = np.bincount(cells, minlength=HIGH - LOW).astype(float)
    noisy = (exact + noise * N * rng.standard_normal(exact.size) for _ in range(200))
    assert max(told(counts, noise, centre)[0] for counts in noisy) < 16.0 * X.std()


def test_laws_are_as_long_as_histograms():
    assert OCTAVES == HIGH - LOW
