"""Means at budgets that carry no median of every column."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.errors import BudgetError
from tailguard.solvers.base import Released
from tailguard.solvers.spread import HIGH, LOW, spread
from tailguard.statistics.scalars import Columns
from tailguard.statistics.view import View

SMALL = {"epsilon": 0.1, "delta": 1e-6}


def test_no_centre_is_asked_for_where_it_cannot_be_carried():
    few, many = (tg.Mean(**SMALL).plan(n_rows=n, n_features=10) for n in (10_000, 100_000))
    assert "feature centre" not in {step.name for step in few.steps}
    assert "feature centre" in {step.name for step in many.steps}


def test_such_a_mean_is_far_better_than_none():
    X = np.exp(np.random.default_rng(500).standard_normal((10_000, 10))) * 10.0 ** np.arange(-5.0, 5.0)
    found = tg.Mean(**SMALL, random_state=500).fit(X)
    relative = found.mean_ / (np.exp(0.5) * 10.0 ** np.arange(-5.0, 5.0)) - 1.0
    assert np.sqrt(np.mean(relative**2)) < 0.2
    assert np.all(np.isfinite(found.mean_interval()))


@pytest.mark.parametrize(
    ("budget", "missing"), [({"epsilon": 0.1}, "scale"), ({"epsilon": 0.5, "delta": 0.0}, "median")]
)
def test_what_cannot_be_carried_is_refused(budget, missing):
    with pytest.raises(BudgetError, match=f"A private {missing} of every column .* needs about"):
        tg.Mean(**({"delta": 1e-6} | budget)).plan(n_rows=5_000, n_features=10)


@pytest.mark.parametrize("scale", [3.0, 400.0])
@pytest.mark.parametrize("exponential", [False, True])
def test_noise_alone_is_no_spread(scale, exponential):
    """Laplace noise has longer tails than Gaussian noise of the same scale: bins must hold more to be believed."""
    rng, d, n = np.random.default_rng(501), 20, 10_000
    draw = rng.laplace if exponential else rng.normal
    for _ in range(50):
        asked = spread("feature scale", Columns(View(d)), np.zeros(d), n, 20, 0.0)
        next(asked)
        with pytest.raises(StopIteration) as stop:
            asked.send(Released("feature scale", draw(0.0, scale, d * (HIGH - LOW)), scale, exponential))
        assert np.all(np.isinf(stop.value.value))
