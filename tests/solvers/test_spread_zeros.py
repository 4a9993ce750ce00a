"""The private scale of columns that are mostly one value."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.solvers.base import Released
from tailguard.solvers.preparation import prepare_features
from tailguard.solvers.spread import HIGH, LOW, spread
from tailguard.statistics.scalars import Columns
from tailguard.statistics.view import View


def scales(X, seed, epsilon=0.5):
    """The scales that a fit of means released, by replaying its preparation."""
    model = tg.Mean(epsilon=epsilon, random_state=seed).fit(X)
    solver = model.plan_.solver
    preparation = prepare_features(View(X.shape[1]), solver.preparation, solver.n, solver.bits)
    answers = iter(model.release_.released)
    next(preparation)
    while True:
        try:
            preparation.send(next(answers))
        except StopIteration as stop:
            return np.asarray(stop.value.scale)


@pytest.mark.parametrize("share", [0.5, 0.2, 0.15, 0.1])
def test_an_indicator_is_scaled_by_its_ones_however_rare(share):
    rng = np.random.default_rng(5)
    X = (rng.random((20_000, 3)) < share).astype(float)
    for seed in range(3):
        found = scales(X, seed)
        assert np.all((found > 0.2 * np.sqrt(share)) & (found < 4.0 * np.sqrt(share)))


CONSTANT = np.array([0.0, 17.3, -1e9])


def test_the_mean_of_a_constant_column_has_no_spread_beyond_rounding():
    X = np.tile(CONSTANT, (20_000, 1))
    for seed in range(10):
        found = scales(X, seed)
        assert np.all(np.isinf(found) | (found <= 1e-4 * np.abs(CONSTANT)))


def test_a_constant_column_is_dropped_from_a_model_wherever_it_sits():
    x = np.random.default_rng(6).standard_normal((20_000, 1))
    X = np.column_stack([np.tile(CONSTANT, (20_000, 1)), x])
    for seed in range(3):
        model = tg.LinearRegression(epsilon=1.0, random_state=seed).fit(X, 2.0 * x[:, 0] + 3.0)
        assert np.all(model.coef_[:3] == 0.0)
        assert model.coef_[3] == pytest.approx(2.0, abs=0.1)


def spread_around(X, centre, noise, seed=0, resolution=0.3):
    """The scales that a noisy histogram around given centres shows."""
    ask = spread("feature scale", Columns(View(X.shape[1], centre=centre)), centre, len(X), 30, resolution)
    query = next(ask)
    exact = query.statistic.kernel()(X, None) * query.statistic.unit
    rng = np.random.default_rng(seed)
    try:
        ask.send(Released("feature scale", exact + noise * rng.standard_normal(exact.size), noise))
    except StopIteration as stop:
        return stop.value
    pytest.fail("one histogram is all that is asked for")


@pytest.mark.parametrize("octaves", [1.0, 9.0], ids=["together", "spread thinly"])
@pytest.mark.parametrize("centre", [2.0**-60, 1.4e-17, 6e-8, 2.0**-10, -1e-6])
def test_zeros_around_a_median_that_is_hardly_one_are_no_spread(centre, octaves):
    """Where 60 % are 0, noise may put the median anywhere between 0 and the next value."""
    rng = np.random.default_rng(7)
    X = np.where(rng.random((5000, 1)) < 0.6, 0.0, 4.0 * 2.0 ** rng.uniform(0.0, octaves, (5000, 1)))
    for seed in range(5):
        assert 2.0 < spread_around(X, np.array([centre]), 90.0, seed)[0] < 2000.0


@pytest.mark.parametrize("centre", [2.0**-60, 1.4e-17, 6e-8])
def test_zeros_are_no_scale_even_where_noise_hides_all_the_others(centre):
    """One fit of a table in ten had a unit of 1e-15, and slopes, residuals and an intercept to match."""
    rng = np.random.default_rng(8)
    X = np.where(rng.random((5000, 1)) < 0.57, 0.0, 4.0 * 2.0 ** rng.uniform(0.0, 12.0, (5000, 1)))
    found = np.array([spread_around(X, np.array([centre]), 120.0, seed)[0] for seed in range(40)])
    assert np.all(found > 1.0)
    assert np.isinf(found).any()  # dropped: nothing says where they are


@pytest.mark.parametrize("centre", [0.5, 1.0, 0.9])
def test_an_indicator_keeps_its_scale_wherever_its_centre_is(centre):
    X = (np.random.default_rng(8).random((5000, 1)) < 0.6).astype(float)
    for seed in range(5):
        assert 0.2 < spread_around(X, np.array([centre]), 90.0, seed)[0] < 2.0


def _sparse_counts(n=20_000, seed=8):
    """Twelve columns of small counts, seven in a hundred of them not 0; the last is never anything else."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, 12)) < 0.07, rng.integers(1, 4, (n, 12)), 0).astype(float)
    X[:, -1] = 0.0
    return X


def test_columns_that_are_mostly_zero_are_seen_together():
    X = _sparse_counts()
    noise = 0.012 * len(X)  # too much for any column alone
    for seed in range(5):
        assert np.all(np.isinf(spread_around(X[:, :1], np.zeros(1), noise, seed)))
        found = spread_around(X, np.zeros(12), noise, seed)
        seen = np.isfinite(found)
        assert np.count_nonzero(seen) >= 6
        true = np.sqrt(np.mean(X**2, axis=0))
        assert np.median(found[seen]) == pytest.approx(0.54, rel=0.6)
        assert true[0] == pytest.approx(0.54, rel=0.1)


def test_neither_missing_columns_nor_columns_of_larger_sizes_are_taken_for_others():
    X = _sparse_counts()
    X[:, 3] = np.nan
    X[:, 5] *= 2.0**20
    for seed in range(20):
        found = spread_around(X, np.zeros(12), 0.008 * len(X), seed)
        assert np.isinf(found[3])
        assert np.isinf(found[5]) or found[5] > 2.0**15


def test_columns_of_many_sizes_and_loud_histograms_tell_nothing_together():
    X = _sparse_counts()
    assert np.all(np.isinf(spread_around(X, np.zeros(12), 0.06 * len(X))))
    sizes = X * np.exp2(np.arange(-30.0, 30.0, 5.0))
    assert np.count_nonzero(np.isfinite(spread_around(sizes, np.zeros(12), 0.02 * len(X)))) <= 2


INDICATOR, FINE = 0.74, 1e-4
"""Share of ones, far from a half and from one: the usual column of a factor with a dominant level; and resolution of
the medians of a fit that can afford it."""


@pytest.mark.parametrize("noise", [1e-9, 90.0, 300.0], ids=["exact", "quiet", "loud"])
@pytest.mark.parametrize("centre", [0.989, 0.96, 1.0 - 2.0**-12, 0.9999])
def test_most_of_a_column_at_one_value_beside_its_centre_is_no_spread(centre, noise):
    """Noise in ranks leaves a median of 0.989 where most are 1; scaled by 0.01, the others are 90 units off."""
    rng = np.random.default_rng(9)
    ones = (rng.random((5000, 1)) < INDICATOR).astype(float)
    counts = np.minimum(rng.geometric(0.55, (5000, 1)), 8).astype(float)
    for X, true in ((ones, 0.44), (counts, 0.9)):
        found = np.array([spread_around(X, np.array([centre]), noise, seed, FINE)[0] for seed in range(10)])
        lost = np.isinf(found)  # mass beyond that noise hides: such a column is dropped
        assert np.count_nonzero(lost) <= (2 if noise > 100.0 else 0)
        assert np.all((found[~lost] > true / 4.0) & (found[~lost] < 4.0 * true))


def test_an_atom_is_none_where_nothing_lies_beyond_or_numbers_spread_about_the_centre():
    """A column that is constant but for rounding keeps that as its scale, and far-off columns keep their spread."""
    rng = np.random.default_rng(10)
    constant = np.full((5000, 1), 1.0)
    assert spread_around(constant, np.array([0.96]), 90.0, 0, FINE)[0] < 0.1
    for far in (50.0, 1000.0):
        X = far + rng.standard_normal((5000, 3)) * [1.0, 1.0, 0.1] + rng.standard_t(3, (5000, 3))
        found = spread_around(X, np.full(3, far + 0.4), 90.0, 0, FINE)
        np.testing.assert_allclose(found, 1.5, rtol=0.5)


@pytest.mark.parametrize("noise", [20.0, 90.0, 300.0])
def test_a_constant_column_has_no_scale(noise):
    """One in forty had that of a window of noise, and a slope which an intercept made up for."""
    constant = np.full((5000, 1), 7.0)
    found = [spread_around(constant, np.array([7.00001]), noise, seed, 1e-5)[0] for seed in range(400)]
    assert np.count_nonzero(np.isfinite(found)) <= 4


@pytest.mark.parametrize("epsilon", [0.2, 0.3])
def test_classes_with_indicator_columns_are_no_worse_than_the_null_model_at_small_budgets(epsilon):
    """Every fit, not most: one in five was, by up to a quarter."""
    rng = np.random.default_rng(11)
    X = (rng.random((20_000, 24)) < np.repeat([INDICATOR, 0.85, 0.3, 0.1], 6)).astype(float)
    odds = 1.5 * (X[:, 0] - X[:, 7] + X[:, 12] + X[:, 18]) - 1.0
    y = (rng.random(20_000) < 1.0 / (1.0 + np.exp(-odds))).astype(float)
    share = y.mean()
    null = -share * np.log(share) - (1.0 - share) * np.log(1.0 - share)
    for seed in range(8):
        model = tg.LogisticRegression(epsilon=epsilon, delta=1e-6, random_state=seed).fit(X, y)
        chance = np.clip(model.predict_proba(X)[:, 1], 1e-12, 1.0 - 1e-12)
        assert -np.mean(y * np.log(chance) + (1.0 - y) * np.log1p(-chance)) < null


def test_eight_bins_of_noise_are_no_scale_where_nearly_all_are_zero():
    """Zeros say that nothing else can be there. A unit of 1e-12 took a fit of an indicator with 72 ones to R² −9."""
    rng = np.random.default_rng(12)
    X = np.zeros((40_000, 27))
    X[:72, :] = 1.0
    noise = 460.0 * rng.standard_normal((27, HIGH - LOW))
    noise[24, 20:28] = 1000.0 * (1.0 + 0.1 * rng.standard_normal(8))  # 6 deviations together, 2 each
    ask = spread("feature scale", Columns(View(27, centre=np.zeros(27))), np.zeros(27), len(X), 30, FINE)
    query = next(ask)
    exact = query.statistic.kernel()(X, None) * query.statistic.unit
    with pytest.raises(StopIteration) as stop:
        ask.send(Released("feature scale", exact + noise.ravel(), 460.0))
    assert np.all(np.isinf(stop.value.value))
