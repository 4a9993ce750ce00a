"""How losses of classes curve around a model, against rows that are drawn."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from tailguard.losses import Huber, Logistic
from tailguard.losses.balanced import BalancedLogistic
from tailguard.solvers.bounded_descent import BoundedDescent, Course, Walk
from tailguard.solvers.clip_level import ClipLevel
from tailguard.solvers.normal_odds import moments, straightened
from tailguard.statistics.view import View

POINT = np.array([0.9, -0.6, 0.3, -1.2])
"""Three slopes and an intercept."""


def hessian(loss):
    """Return the mean curvature of a right model on normal rows, by drawing them."""
    rng = np.random.default_rng(500)
    rows = np.c_[rng.standard_normal((400_000, 3)), np.ones(400_000)]
    odds = rows @ POINT
    labels = (rng.random(len(odds)) < expit(odds)).astype(float)
    return (rows * loss.second_derivative(odds, labels)[:, np.newaxis]).T @ rows / len(rows)


@pytest.mark.parametrize("loss", [Logistic(), BalancedLogistic()])
def test_a_step_is_newtons(loss):
    curved = hessian(loss)
    across = moments(loss.second_derivative, -1.2, float(np.linalg.norm(POINT[:3])))[0]
    gradient = np.array([0.3, 1.0, -0.5, 0.7])
    step = straightened(loss, POINT, True, gradient) / across
    assert np.allclose(step, np.linalg.solve(curved, gradient), rtol=0.03, atol=0.03)
    assert not np.allclose(gradient / across, np.linalg.solve(curved, gradient), rtol=0.2, atol=0.2)


def test_what_is_no_model_of_classes_stays():
    gradient = np.array([0.3, 1.0, -0.5, 0.7])
    assert straightened(Huber(1.0), POINT, True, gradient) is gradient
    assert straightened(Logistic(), np.array([0.0, 0.0, 0.0, -3.0]), True, gradient) is gradient


@pytest.mark.parametrize("point", [[1e300, 0.0, 0.0, 1e300], [1e-300, 0.0, 0.0, 700.0], [3.0, 0.0, 0.0, -50.0]])
def test_absurd_points_make_finite_steps(point):
    step = straightened(BalancedLogistic(), np.array(point), True, np.ones(4))
    assert np.all(np.isfinite(step))
    assert np.linalg.norm(step) < 40.0


@pytest.mark.parametrize(
    ("most", "paces"), [(0.5, [1.0, 1.0, 1.0]), (0.02, [1.0, 0.39, 0.195]), (0.1, [1.0, 0.5, 0.5])]
)
def test_points_settle_down_where_classes_are_rare(most, paces):
    course = Course(BalancedLogistic(), View(3, intercept=True), 1.0, np.zeros(4), most=most)
    descent = BoundedDescent(1000, 20, 24, 3, ClipLevel(0.1))
    walks = [Walk(descent, course, [course.start] * steps, [], 1.0, most) for steps in (1, 10, 20)]
    assert [walk._pace for walk in walks] == pytest.approx(paces)


def test_where_a_class_is_scarce_steps_start_from_averages_drawn_to_the_start():
    start = np.array([0.0, 0.0, 0.0, -3.0])
    course = Course(BalancedLogistic(), View(3, intercept=True), 1.0, start, most=0.03)
    found = [np.array([2.0, 0.0, 0.0, -4.0]), np.array([0.0, 2.0, 0.0, -3.0])]
    descent = BoundedDescent(1000, 20, 24, 3, ClipLevel(0.1), settling=True)
    walk = Walk(descent, course, [start], [4.0, 4.0], 1.0, 0.03, found=found)
    assert walk.settles
    assert walk.point == pytest.approx([1.0, 1.0, 0.0, -3.5])
    assert walk.variance == pytest.approx(1.0 / 8.0)
    kept = 1.0 - 0.3 * 3 * walk.variance / 2.0  # James–Stein, with a part of the noise; the intercept stays
    assert walk._settled == pytest.approx([kept, kept, 0.0, -3.5])
    assert not replace(walk, course=replace(course, most=0.3)).settles
    assert not replace(walk, descent=replace(descent, settling=False)).settles
