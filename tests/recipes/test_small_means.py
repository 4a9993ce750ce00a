"""Means at budgets that carry no median of every column by counts, and with δ = 0: medians are picked."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.errors import BudgetError
from tailguard.solvers.base import Released
from tailguard.solvers.spread import HIGH, LOW, spread
from tailguard.statistics.scalars import Columns
from tailguard.statistics.view import View

SMALL, PURE = {"epsilon": 0.1, "delta": 1e-6}, {"epsilon": 1.0, "delta": 0.0}
D = 10


def years(rng, n):
    return np.rint(rng.normal(1990.0, 12.0, (n, D)))


def costs(rng, n):
    """Lognormal, in units from 1e-5 to 1e4."""
    return rng.lognormal(size=(n, D)) * 10.0 ** np.arange(-5.0, 5.0)


def defaults(rng, n):
    """Six of ten records are 100, the others are larger."""
    return 100.0 + np.where(rng.random((n, D)) < 0.6, 0.0, rng.lognormal(2.0, 1.0, (n, D)))


def zeros(rng, n):
    return np.where(rng.random((n, D)) < 0.7, 0.0, rng.lognormal(3.0, 1.0, (n, D)))


def temperatures(rng, n):
    """Around 0: their own medians are next to it, on either side."""
    return rng.normal(0.3, 8.0, (n, D))


LAWS = (years, costs, defaults, zeros, temperatures)


def error(law, budget, seed, n=10_000):
    """Return the root mean square error over columns, in their standard deviations."""
    large = law(np.random.default_rng(seed + 1), 400_000)
    found = tg.Mean(**budget, random_state=seed).fit(law(np.random.default_rng(seed), n)).mean_
    return float(np.sqrt(np.mean(((found - large.mean(axis=0)) / large.std(axis=0)) ** 2)))


def picks(plan):
    """Return how many releases of the medians there are, and whether they are picks."""
    steps = [step for step in plan.steps if step.name == "feature centre"]
    return sum(step.count for step in steps), {step.statistic for step in steps} == {"signed rank distances"}


def test_medians_are_picked_where_counts_cannot_be_carried():
    few, many = (tg.Mean(**SMALL).plan(n_rows=n, n_features=D) for n in (10_000, 100_000))
    assert picks(few) == (D, True)
    assert not picks(many)[1]


def test_without_a_delta_a_median_is_picked_again_around_the_last_pick_where_that_is_cheap():
    found = [picks(tg.Mean(**PURE).plan(n_rows=n, n_features=D)) for n in (10_000, 20_000, 100_000)]
    assert found == [(D, True), (2 * D, True), (3 * D, True)]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("budget", [SMALL, PURE])
def test_columns_of_any_kind_have_a_mean(law, budget):
    """The sample mean is off by 0.01. Years were off by 4 at the first budget, all were refused at the second."""
    # A pick tells years within 20 of them, which may all be the same: the scale stays in doubt.
    most = (0.2 if law is years else 0.06) if budget is PURE else (0.8 if law is years else 0.25)
    assert np.median([error(law, budget, seed) for seed in (510, 511, 512)]) < most


def test_such_a_mean_has_intervals():
    for budget in (SMALL, PURE):
        found = tg.Mean(**budget, random_state=500).fit(costs(np.random.default_rng(500), 10_000))
        assert np.all(np.isfinite(found.mean_interval()))


@pytest.mark.parametrize("budget", [{"epsilon": 0.1}, {"epsilon": 0.5, "delta": 0.0}])
def test_what_cannot_be_carried_is_refused(budget):
    with pytest.raises(BudgetError, match=r"A private scale of every column .* needs about"):
        tg.Mean(**({"delta": 1e-6} | budget)).plan(n_rows=5_000, n_features=D)


def test_a_single_column_needs_a_clip_level_alone():
    with pytest.raises(BudgetError, match=r"A private clip level .* needs about"):
        tg.Mean(epsilon=0.1, delta=0.0).plan(n_rows=2_000, n_features=1)
    tg.Mean(epsilon=0.5, delta=0.0).plan(n_rows=2_000, n_features=1)


@pytest.mark.parametrize("share", [0.6, 0.7, 0.95, 1.0])
def test_a_column_that_may_be_an_atom_has_a_scale_between_that_of_rounding_and_its_size(share):
    """All records within the rounding of 100, or some of them 30 away: the fewer at the atom, the larger the scale."""
    n, size, rounded = 10_000, 100.0, 0.01
    X = size + np.where(np.arange(n) < share * n, 0.3, 30.0)[:, None]
    asked = spread(
        "feature scale", Columns(View(1, centre=[size])), np.array([size]), n, 20, 0.0, rounded=rounded, atoms=False
    )
    query = next(asked)
    exact = query.statistic.kernel()(X, None) * query.statistic.unit
    with pytest.raises(StopIteration) as stop:
        asked.send(Released("feature scale", exact, 100.0, exponential=False))
    small, large = 0.3, 0.25 * size
    wanted = np.clip(4.0 * (share - (1.0 - share)) - 2.0, 0.0, 1.0)
    assert stop.value.value[0] == pytest.approx(small**wanted * large ** (1.0 - wanted), rel=0.5)


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
