"""Clip levels that follow the tail, a common scale for rare columns, and losses in other units."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.losses import Absolute, Biweight, Huber, Squared
from tailguard.solvers import Released
from tailguard.solvers.clip_level import CELLS, SUBSTEPS, Histogram, of_reply
from tailguard.solvers.spread import LOW


def _histogram(values):
    cells = np.clip(np.floor(SUBSTEPS * (np.log2(np.abs(values)) - LOW)), 0, CELLS - 1).astype(int)
    return np.bincount(cells, minlength=CELLS) / values.size


@pytest.mark.parametrize("tail", [0.3, 0.1, 0.03])
def test_a_resolved_tail_is_read_off(tail):
    values = np.random.default_rng(0).pareto(3.0, 100_000) + 1.0
    level = Histogram(_histogram(values), 1e-6).beyond(tail)
    assert np.mean(values > level) == pytest.approx(tail, rel=0.15)


@pytest.mark.parametrize("index", [2.5, 4.0])
def test_an_unresolved_tail_follows_the_power_law_of_what_is_seen(index):
    rng = np.random.default_rng(1)
    noise = 2e-3
    mass = _histogram(rng.pareto(index, 100_000) + 1.0) + noise * rng.standard_normal(CELLS)
    level = Histogram(mass, noise).beyond(1e-3)
    assert 0.4 < level / 1e-3 ** (-1.0 / index) < 2.5


def test_noise_alone_does_not_widen_a_level():
    rng = np.random.default_rng(2)
    values, noise = rng.uniform(1.0, 2.0, 10_000), 5e-3
    levels = [
        Histogram(_histogram(values) + noise * rng.standard_normal(CELLS), noise).beyond(0.01) for _ in range(500)
    ]
    assert max(levels) < 20.0


@pytest.mark.parametrize("tail", [0.2, 0.1])
def test_mass_that_is_spread_too_thinly_for_a_single_cell_is_seen(tail):
    """Two in three values are small, the others lie in four octaves: no cell of theirs is certain."""
    rng = np.random.default_rng(4)
    values = np.where(rng.random(100_000) < 2 / 3, rng.uniform(0.1, 0.14, 100_000), 2.0 ** rng.uniform(0, 4, 100_000))
    mass, noise = _histogram(values), 0.012
    assert mass[2 * -LOW :].max() < 4.0 * noise
    levels = [Histogram(mass + noise * rng.standard_normal(CELLS), noise).beyond(tail) for _ in range(200)]
    exact = np.quantile(values, 1.0 - tail)
    assert np.mean(np.abs(np.log2(levels / exact)) < 1.5) > 0.9
    assert max(levels) < 2.0**4 * 8.0  # noise beyond the last octave is not taken for mass


def test_a_run_that_rounding_empties_is_none():
    """Sums of the same cells in another order differ: without noise, a run may be full by one and empty by another."""
    mass = np.zeros(CELLS)
    mass[-2 * LOW : -2 * LOW + 4] = 0.1, 0.2, -0.1, -0.2
    for noise in (0.0, 1e-300):
        assert 0.5 < Histogram(mass, noise).beyond(0.1) < 8.0


def test_empty_cells_are_hardly_ever_taken_for_a_run_of_mass():
    rng = np.random.default_rng(5)
    mass = np.zeros(CELLS)
    mass[2 * -LOW] = 1.0
    levels = [Histogram(mass + 0.02 * rng.standard_normal(CELLS), 0.02).beyond(0.1) for _ in range(2000)]
    assert np.mean(np.array(levels) > 4.0) < 1e-3 + 3.0 * np.sqrt(1e-3 / 2000)


def test_rare_large_values_are_not_lost_in_a_mean():
    """Each column is mostly 0 and has no significant spread of its own; together they have one."""
    rng = np.random.default_rng(3)
    X = (rng.random((20_000, 30)) < 0.01) * 10.0
    mean = tg.Mean(epsilon=1.0, random_state=0).fit(X).mean_
    assert np.linalg.norm(mean - 0.1) < 0.5 * np.linalg.norm(np.full(30, 0.1))


@pytest.mark.parametrize("loss", [Squared(), Huber(1.5), Biweight(2.0), Absolute(0.3)], ids=lambda loss: loss.name)
def test_a_rescaled_loss_is_the_same_loss_in_other_units(loss):
    scale, residuals = 7.0, np.linspace(-9.0, 9.0, 101)
    raw = loss.value(residuals, 0.0)
    scaled = loss.rescaled(scale).value(residuals / scale, 0.0)
    ratio = raw[raw > 0] / scaled[raw > 0]
    np.testing.assert_allclose(ratio, ratio[0])


def _noisy(values, noise, seed=0):
    return Histogram(_histogram(values) + noise * np.random.default_rng(seed).standard_normal(CELLS), noise)


@pytest.mark.parametrize("level", [0.1, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("law", ["normal", "pareto", "cauchy"])
def test_a_quantile_is_read_off(level, law):
    rng = np.random.default_rng(4)
    values = {
        "normal": rng.normal(size=50_000),
        "pareto": rng.pareto(1.0, 50_000),
        "cauchy": rng.standard_cauchy(50_000),
    }
    found = _noisy(values[law], 1e-5).quantile(level)
    assert np.mean(np.abs(values[law]) < found) == pytest.approx(level, abs=0.02)


@pytest.mark.parametrize("power", [-20, -1, 7])
def test_quantiles_follow_the_data_by_octaves(power):
    values = np.random.default_rng(5).normal(size=5000)
    one, other = (Histogram(_histogram(factor * values), 1e-4) for factor in (1.0, 2.0**power))
    for read in (lambda h: h.quantile(0.3), lambda h: h.quantile(0.5), lambda h: h.beyond(0.05)):
        assert read(other) == pytest.approx(2.0**power * read(one), rel=1e-12)
    assert other.far(2.0**power * 3.0)[0] == pytest.approx(one.far(3.0)[0], rel=1e-12)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("noise", [1e-5, 2e-4])
def test_zeros_and_missing_records_do_not_count_in_a_quantile(share, noise):
    mass = _histogram(np.random.default_rng(6).normal(size=50_000))
    zeros = np.where(np.arange(CELLS) == 0, share, 0.0)
    for other in (zeros + (1.0 - share) * mass, (1.0 - share) * mass):
        found = Histogram(other + noise * np.random.default_rng(7).standard_normal(CELLS), noise)
        assert found.quantile(0.5) == pytest.approx(0.6745, rel=0.25)


@pytest.mark.parametrize("share", [0.4, 0.8])
def test_a_heap_below_the_floor_counts_as_zeros(share):
    """Targets that equal their median are not exactly 0 after centring: the grid of medians is not fine enough."""
    mass = _histogram(np.random.default_rng(8).normal(size=50_000))
    heap = share * _histogram(np.full(10, 1e-3)) + (1.0 - share) * mass
    found = Histogram(heap + 1e-4 * np.random.default_rng(9).standard_normal(CELLS), 1e-4)
    assert found.quantile(0.3) < 2e-3
    assert found.quantile(0.5, 2e-3) == pytest.approx(0.6745, rel=0.15)


def test_a_floor_above_everything_is_no_floor():
    found = _noisy(np.random.default_rng(10).normal(size=10_000), 1e-3)
    assert found.quantile(0.5, 1e6) == found.quantile(0.5)


def test_the_share_beyond_a_level_is_unbiased_and_knows_its_noise():
    values, noise = np.random.default_rng(11).pareto(0.5, 20_000) + 1.0, 1e-3
    shares = np.array([_noisy(values, noise, seed).far(64.0) for seed in range(400)])
    assert shares[:, 0].mean() == pytest.approx(np.mean(values > 64.0), abs=5e-3)
    assert shares[:, 0].std() == pytest.approx(shares[0, 1], rel=0.15)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_missing_records_are_not_far_away(missing):
    mass = (1.0 - missing) * _histogram(np.random.default_rng(12).normal(size=10_000))
    assert Histogram(mass, 1e-6).far(100.0)[0] == pytest.approx(0.0, abs=1e-9)


GARBAGE = {
    "zero": np.zeros(CELLS),
    "negative": np.full(CELLS, -1.0),
    "everything": np.ones(CELLS),
    "huge": np.full(CELLS, 1e12),
    "zeros alone": np.where(np.arange(CELLS) == 0, 1.0, 0.0),
    "infinities alone": np.where(np.arange(CELLS) == CELLS - 1, 1.0, 0.0),
    "wild": 1e6 * np.random.default_rng(13).standard_cauchy(CELLS),
}


@pytest.mark.parametrize("mass", GARBAGE.values(), ids=GARBAGE.keys())
@pytest.mark.parametrize("noise", [1e-12, 1e-3, 1e6])
def test_whatever_is_released_levels_stay_in_their_public_range(mass, noise):
    found = Histogram(mass, noise)
    levels = [found.quantile(level, floor) for level in (0.01, 0.5, 0.99) for floor in (2.0**-64, 1e-300, 1.0, 1e300)]
    levels += [found.beyond(tail) for tail in (1e-9, 0.1, 0.5)]
    assert all(2.0**-64 <= level <= 2.0**64 for level in levels)
    assert all(np.isfinite(found.far(level)).all() for level in (1e-300, 2.0**-64, 1.0, 2.0**64, 1e300))


def test_laplace_noise_gives_no_false_alarm_either():
    """Its tails are longer: with the threshold of Gaussian noise a cell far out looks occupied in every run."""
    rng, scale = np.random.default_rng(3), 0.002
    mass = _histogram(np.random.default_rng(4).standard_t(3, size=20_000))
    noisy = [mass + scale * rng.laplace(size=CELLS) for _ in range(300)]
    levels = [of_reply(Released("level", 1000.0 * cells, 1000.0 * scale, True), 1000).beyond(0.01) for cells in noisy]
    assert max(levels) < 100.0
    assert max(Histogram(cells, scale).beyond(0.01) for cells in noisy) > 1e6


def test_releases_say_which_law_their_noise_has():
    for delta, exponential in ((1e-6, False), (0.0, True)):
        model = tg.Mean(method="clipping", epsilon=30.0, delta=delta, random_state=0).fit(np.ones((400, 2)))
        assert {reply.exponential for reply in model.release_.released if reply.noise > 0.0} == {exponential}
