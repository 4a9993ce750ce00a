"""Where targets are, by a released histogram: a function of released numbers, cautious, silent where it is blind."""

import math

import numpy as np
import pytest

import tailguard as tg
from tailguard.run.run import drive, in_units
from tailguard.solvers.base import EVERYWHERE, Query, Released
from tailguard.solvers.spread import HIGH, LOW
from tailguard.solvers.target_range import reach, target_range
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Target
from tailguard.statistics.view import View
from tests.support.transcripts import FAMILIES, integers, told

N = 20_000
EDGES = np.exp2(np.arange(LOW, HIGH + 1.0))
LAWS = {
    "gaussian": lambda rng: rng.standard_normal(N),
    "t3": lambda rng: rng.standard_t(3, N),
    "lognormal1": lambda rng: np.exp(rng.standard_normal(N)),
    "lognormal2": lambda rng: np.exp(2.0 * rng.standard_normal(N)),
    "pareto1": lambda rng: rng.pareto(1.0, N),
}


def counts(sizes):
    cells = np.floor(np.log2(np.clip(sizes, EDGES[0], 0.99 * EDGES[-1]))).astype(int) - LOW
    return np.bincount(cells, minlength=HIGH - LOW).astype(float)


@pytest.mark.parametrize("noise", [10.0, 50.0, 150.0])
@pytest.mark.parametrize("law", LAWS)
def test_hardly_any_target_is_outside(law, noise):
    rng = np.random.default_rng(700)
    for _ in range(10):
        y = LAWS[law](rng)
        sizes = np.abs(y - np.median(y))
        level = reach(counts(sizes) + noise * rng.standard_normal(HIGH - LOW), noise, EDGES)
        assert np.sum(sizes > level) <= 20  # one in a thousand


@pytest.mark.parametrize("law", ["gaussian", "lognormal1"])
def test_what_a_histogram_resolves_is_not_left_wide_open(law):
    y = LAWS[law](np.random.default_rng(701))
    sizes = np.abs(y - np.median(y))
    assert sizes.max() < 1.5 * reach(counts(sizes), 10.0, EDGES) < 6.0 * sizes.max()


def test_atoms_say_nothing_of_other_targets():
    """Where most targets are equal, the rest may be thousands of times farther off and not be seen."""
    rng = np.random.default_rng(702)
    sizes = np.where(rng.random(N) < 0.9, 0.01, np.exp(5.0 + 2.0 * rng.standard_normal(N)))
    assert reach(counts(sizes), 150.0, EDGES) == math.inf
    assert reach(np.zeros(HIGH - LOW), 10.0, EDGES) == math.inf
    assert reach(counts(np.full(N, np.inf)), 10.0, EDGES) == math.inf


def test_the_tails_of_laplace_noise_are_no_targets():
    noisy = counts(np.abs(np.random.default_rng(703).standard_normal(N)))
    noisy[80] = 7.0 * 50.0  # hardly ever from a Gaussian, often enough from a Laplace variable
    assert reach(noisy, 50.0, EDGES, exponential=True) < 100.0 < reach(noisy, 50.0, EDGES)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, -1e300])
def test_any_released_number_gives_a_range(value):
    for place in (slice(None), 0, 70, slice(60, 70), -1):
        noisy = np.full(HIGH - LOW, 100.0)
        noisy[place] = value
        assert reach(noisy, 10.0, EDGES) > 0.0


def test_the_range_is_around_the_released_centre():
    released = counts(np.abs(np.random.default_rng(704).standard_normal(N)))
    query = Query("target scale", Octaves(Target(View(2, target_centre=100.0)), LOW, HIGH, 1, 20))
    low, high = target_range(query, Released("target scale", released, 20.0))
    assert low + high == pytest.approx(200.0)
    assert high - 100.0 == pytest.approx(reach(released, 20.0, EDGES))
    assert 3.0 < high - 100.0 < 20.0


def _plan(estimator, n=N, d=3):
    return estimator.plan(n, d)


PLANS = {
    "newton": lambda: _plan(tg.LinearRegression()),
    "newton, no intercept": lambda: _plan(tg.LinearRegression(fit_intercept=False)),
    "robust": lambda: _plan(tg.RobustRegression()),
    "centred descent": lambda: _plan(tg.LinearRegression(method="centred_descent")),
    "clipped descent": lambda: _plan(tg.LinearRegression(method="truncated_mean")),
    "sparse rounds": lambda: _plan(tg.SparseLinearRegression(2), d=20),
    "thresholding": lambda: _plan(tg.SparseLinearRegression(2, method="shrunken_thresholding"), d=20),
}


@pytest.mark.parametrize("name", PLANS)
def test_made_up_releases_make_the_range(name):
    """No record is there: two transcripts with one histogram of the target have one range."""
    plan, ranges = PLANS[name](), []
    histogram = counts(np.abs(np.random.default_rng(705).standard_normal(N)))
    for rng in map(np.random.default_rng, (1, 2)):

        def answer(step, statistic, block, rng=rng):
            if step.name == "target scale":
                return Released(step.name, histogram, 20.0), step.release_event
            family = "zero" if step.name == "target centre" else "noise"
            return in_units(step, statistic, integers(family, step, N, rng)), step.release_event

        estimate, _, ledger = drive(plan, answer)
        ledger.check(plan)
        ranges.append(estimate.prediction_range)
    assert ranges[0] == ranges[1] != EVERYWHERE
    assert 3.0 < 0.5 * (ranges[0][1] - ranges[0][0]) < 20.0


@pytest.mark.parametrize("family", FAMILIES)
def test_a_range_is_a_range_whatever_was_released(family):
    low, high = told(PLANS["newton"](), family, 706).prediction_range
    assert low <= high


@pytest.mark.parametrize(
    "model", [tg.LinearSVC(), tg.LinearRegression(scales=tg.Scales(target=1.0, target_centre=0.0))], ids=str
)
def test_no_histogram_no_range(model):
    assert told(_plan(model), "noise", 707).prediction_range == EVERYWHERE
