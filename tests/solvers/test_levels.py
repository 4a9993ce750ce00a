"""Clip levels that follow the tail, a common scale for rare columns, and losses in other units."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.losses import Absolute, Biweight, Huber, Squared
from tailguard.solvers.clip_level import CELLS, SUBSTEPS, Histogram
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
