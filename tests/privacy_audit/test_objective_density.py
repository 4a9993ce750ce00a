"""The density of a perturbed minimiser on neighbouring data sets, by brute force; and that samples follow it."""

import numpy as np
import pytest
from scipy.stats import gamma, kstest

from tailguard.losses import Absolute, Hinge, Huber, Logistic, Squared
from tailguard.mechanisms import ObjectivePerturbation
from tailguard.run.randomness import Simulation
from tailguard.statistics import PerturbedMinimiser, View
from tests.support.densities import aggressive, check_density
from tests.support.laws import p_value
from tests.support.registry_minimisers import source

MECHANISM = ObjectivePerturbation(0.8, 1000.0)  # the last release is so exact that a minimiser is seen as it is
MULTIPLIER, SIZE = 1.5, 6
LOSSES = (Squared(), Huber(threshold=1.0), Absolute(smoothing=0.2), Logistic(), Hinge(smoothing=0.5))


def statistic(loss, view, curvature=2.0):
    """Return a perturbed minimiser whose ridge is as small as its part of ε allows."""
    ridge = MECHANISM.least_ridge(curvature, SIZE, MULTIPLIER)
    return PerturbedMinimiser(view, loss, 1.0, ridge, SIZE, 40, curvature)


def mesh(asked, count, seed=0):
    """Return points of all lengths, from well inside the reach of the records to far outside."""
    rng = np.random.default_rng(seed)
    lengths = asked.clip / (asked.ridge * SIZE) * np.geomspace(0.01, 40.0, count)
    directions = rng.standard_normal((count, asked.dimension))
    return lengths[:, None] * directions / np.linalg.norm(directions, axis=1)[:, None]


def crowd(asked, *, empty):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((SIZE, asked.view.dimension_in))
    y = rng.integers(0, 2, SIZE).astype(float)
    return (np.full_like(X, np.nan), y) if empty else (X, y)


@pytest.mark.parametrize("empty", [True, False], ids=["alone", "in a crowd"])
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_no_replacement_makes_a_density_grow_by_more_than_the_event_says(loss, d, empty):
    asked = statistic(loss, View(d))
    points = mesh(asked, 18)
    check_density(asked, MECHANISM, MULTIPLIER, crowd(asked, empty=empty), aggressive(asked, points), points)


def test_an_intercept_is_inside_the_length_of_a_row():
    asked = statistic(Squared(), View(1, intercept=True))
    points = mesh(asked, 18)
    records = [(record[:1], target) for record, target in aggressive(asked, points)]
    worst = check_density(asked, MECHANISM, MULTIPLIER, crowd(asked, empty=True), records, points)
    assert worst > 0.5


@pytest.mark.parametrize("d", [1, 2])
def test_some_replacement_uses_the_whole_of_it(d):
    """Pull and curvature at once: a record at the edge of its clip against one beyond the other edge."""
    asked = statistic(Squared(), View(d))
    points = mesh(asked, 18)
    worst = check_density(asked, MECHANISM, MULTIPLIER, crowd(asked, empty=True), aggressive(asked, points), points)
    assert worst >= 0.99


def test_each_part_of_the_cost_is_needed():
    asked = statistic(Squared(), View(2))
    points = mesh(asked, 18)
    data, records = crowd(asked, empty=True), aggressive(asked, points)
    for cheaper in (ObjectivePerturbation(0.4, 1000.0), ObjectivePerturbation(1e-6, 1000.0)):
        with pytest.raises(AssertionError, match="a density grows by"):
            check_density(asked, cheaper, MULTIPLIER, data, records, points)
    with pytest.raises(AssertionError, match="a density grows by"):
        check_density(asked, MECHANISM, 1.25 * MULTIPLIER, data, records, points)


def balance(asked, X, y, released):
    """Return the tilt that makes what was released the minimiser, in units of its scale."""
    objective = asked._objective(source(X, y), np.zeros(asked.dimension), None)
    scale = MULTIPLIER * asked.sensitivity("tilt") * asked.ridge * asked.unit
    return np.array([-objective.gradient(w) / scale for w in released * asked.unit])


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
@pytest.mark.parametrize("d", [1, 2])
def test_released_minimisers_follow_the_density(loss, d):
    """Sent back by the gradient, they are isotropic Laplace noise: the change of variables, on real samples."""
    asked = statistic(loss, View(d))
    X, y = crowd(asked, empty=False)
    randomness, records = Simulation(d), source(X, y)
    sensitivity = asked.sensitivity("tilt")
    released = [MECHANISM.perform(asked, records, sensitivity, MULTIPLIER, randomness)[0] for _ in range(500)]
    tilts = balance(asked, X, y, np.array(released))
    assert kstest(np.linalg.norm(tilts, axis=1), gamma(d).cdf).pvalue > 1e-5
    assert kstest(np.linalg.norm(tilts, axis=1), gamma(d, scale=1.4).cdf).pvalue < 1e-5
    corner = (tilts > 0.0) @ 2 ** np.arange(d)
    assert p_value(np.bincount(corner, minlength=2**d), np.full(2**d, 0.5**d)) > 1e-5
