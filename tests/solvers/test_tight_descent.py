"""Steps of a small budget: the mean of what they find and of a prior, and a little more."""

from itertools import pairwise

import numpy as np
import pytest

import tailguard as tg
from tailguard.losses import Squared
from tailguard.solvers import tight_descent
from tailguard.solvers.base import Released
from tailguard.statistics.view import View

D, LOSS, NULL = 3, Squared(), np.array([0.0, 0.0, 0.0, 0.5])
SOLVER = tg.LinearRegression(epsilon=0.1, delta=1e-6).plan(10_000, D).solver
RATE = SOLVER.n * SOLVER._level(LOSS)[1]


def walked(finds, doubt):
    """The points of a descent whose steps find these points, with a noise of so many variances of the prior."""
    noise = RATE * np.sqrt(doubt * SOLVER.prior / D)
    descent, points = SOLVER._descend(View(D, intercept=True), LOSS, NULL), []
    query = next(descent)
    for find in finds:
        points.append(query.statistic.field.point)
        try:
            query = descent.send(Released("gradient", RATE * (points[-1] - find), noise))
        except StopIteration as stop:
            return [*points, stop.value]
    raise AssertionError("not all steps were made")


def near(scale=0.2, seed=500):
    """What steps find: within the longest find that is believed."""
    return NULL + scale * np.random.default_rng(seed).standard_normal((SOLVER.steps, D + 1))


@pytest.mark.parametrize("doubt", [0.1, 1.0, 30.0])
def test_without_a_gain_points_are_means_of_finds_and_of_the_prior(monkeypatch, doubt):
    for name, value in (("GAIN", 1.0), ("MORE_GAIN", 0.0), ("LONGEST", 1.0)):
        monkeypatch.setattr(tight_descent, name, value)
    finds = near()
    for step, point in enumerate(walked(finds, doubt)[1:], start=1):
        mean = finds[:step].sum(axis=0) / step
        np.testing.assert_allclose(point[:D], (doubt * NULL[:D] + step * mean[:D]) / (doubt + step))
        np.testing.assert_allclose(point[D], mean[D])  # nothing is known of an intercept before


@pytest.mark.parametrize(("doubt", "gain"), [(0.0, 3.0), (1.0, 2.125), (1e6, 1.25)])
def test_steps_go_farther_where_noise_is_less(doubt, gain):
    finds = near()
    points = walked(finds, doubt)
    for step, (before, after) in enumerate(pairwise(points), start=1):
        part = np.full(D + 1, min(0.7, gain / (step + gain * doubt)))
        part[D] = min(0.7, gain / step)
        np.testing.assert_allclose(after, before + part * (finds[step - 1] - before), rtol=1e-5, atol=1e-9)


def test_where_all_is_noise_slopes_stay_at_the_null_model():
    end = walked(near(), 1e9)[-1]
    assert np.abs(end[:D]).max() < 1e-6


def test_no_find_is_believed_that_is_too_far():
    away = walked(np.tile(NULL + 1e6 * np.eye(D + 1)[0], (SOLVER.steps, 1)), 0.0)
    assert away[1][0] == pytest.approx(0.7 * SOLVER.trust)
