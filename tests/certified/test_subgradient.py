"""Algorithm 3 and the joint problem: as printed, on problems that are small enough."""

import math

import numpy as np
import pytest

from tailguard.certified import (
    BallExtension,
    JointProblem,
    adaptive_subgradient,
    inexact_projection,
    predicted_iterations,
    subgradient,
)
from tailguard.domains import BallIntersection, Box, L2Ball, Simplex, WholeSpace
from tailguard.errors import ParameterError
from tailguard.losses import Absolute, Hinge, Huber, Logistic, Squared
from tests.support.cone_programs import conic_joint

D = 2
BALL = L2Ball(D, 0.5)


def problem(loss, m=3, domain=BALL, radius=None, ridge=0.3, clip=0.6, seed=1, **more):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, D))
    t = rng.integers(0, 2, m).astype(float) if loss.name in ("logistic", "hinge") else rng.standard_normal(m)
    centre = domain.project([0.1, 0.2])
    return JointProblem(X, t, loss, clip, ridge, centre, domain, row_bound=1.5, radius=radius, **more)


@pytest.mark.parametrize("loss", [Huber(1.0), Absolute(0.1), Logistic(), Hinge(0.2)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("radius", [None, 0.1])
def test_algorithm_3_is_within_its_accuracy_of_a_cone_solver(loss, radius):
    joint, accuracy = problem(loss, m=2, radius=radius), 0.06
    least = conic_joint(joint.rows, joint.targets, loss, joint.clip, joint.ridge, joint.centre, BALL, radius)[1]
    found = joint.minimise(accuracy)
    assert least - 1e-7 <= joint.value(found) <= least + accuracy
    assert all(BALL.contains(row) for row in found)
    assert radius is None or np.linalg.norm(found[0] - joint.centre) <= radius * (1 + 1e-9)


@pytest.mark.parametrize("loss", [Huber(1.0), Logistic()], ids=lambda loss: loss.name)
def test_the_joint_minimum_is_that_of_the_extension(loss):
    """Lemma 2.7: the joint minimum, by a cone solver, is F_C at its w, by the search over a ball."""
    joint = problem(loss, m=4)
    w, least = conic_joint(joint.rows, joint.targets, loss, joint.clip, joint.ridge, joint.centre, BALL)
    extension = BallExtension(loss, joint.clip, BALL).value(w, joint.rows, joint.targets).mean()
    assert extension + 0.5 * joint.ridge * np.sum((w - joint.centre) ** 2) == pytest.approx(least, abs=1e-6)


def test_the_subgradient_of_the_joint_problem():
    joint = problem(Huber(1.0), m=3)
    rng = np.random.default_rng(2)
    for u, v in rng.uniform(-0.3, 0.3, (20, 2, 4, D)):
        g = joint.subgradient(u)
        assert joint.value(v) >= joint.value(u) + np.vdot(g, v - u) - 1e-12
        assert np.linalg.norm(g) <= joint.lipschitz


def slanted(x):
    """Subgradient of 0.6|x₀ − 0.3| + 0.8x₁, whose minimum over the square [−1, 1]² is −0.8."""
    return np.array([0.6 if x[0] > 0.3 else -0.6, 0.8])


def in_square(x, _):
    return np.clip(x, -1.0, 1.0)


def test_halts_within_the_predicted_number_and_as_printed():
    seen = []

    def oracle(x):
        seen.append(x.copy())
        return slanted(x)

    D = 2.0 * math.sqrt(2.0)
    found = adaptive_subgradient(oracle, in_square, [1.0, 1.0], diameter=D, lipschitz=1.0, accuracy=0.1)
    assert len(seen) == predicted_iterations(D, 1.0, 0.1) == 7200
    assert found == pytest.approx(np.mean(seen, axis=0), abs=1e-12)
    assert 0.6 * abs(found[0] - 0.3) + 0.8 * found[1] <= -0.8 + 0.1
    assert seen[1] == pytest.approx([1.0 - 0.6 * D, -1.0])  # η_t = D/√(Σ‖g‖²)
    assert seen[2] == pytest.approx([1.0 - 0.6 * D + 0.6 * D / math.sqrt(2.0), -1.0])


def test_a_zero_subgradient_ends_it():
    found = adaptive_subgradient(lambda x: 0.0 * x, lambda x, _: x, [0.4], diameter=1.0, lipschitz=1.0, accuracy=0.5)
    assert found[0] == 0.4


def test_the_projections_may_be_as_wrong_as_they_are_allowed():
    asked = []

    def project(x, accuracy):
        asked.append(accuracy)
        return np.clip(np.clip(x, -1.0, 1.0) + accuracy / math.sqrt(2.0), -1.0, 1.0)

    found = adaptive_subgradient(slanted, project, [1.0, 1.0], diameter=3.0, lipschitz=1.0, accuracy=0.1)
    assert 0.6 * abs(found[0] - 0.3) + 0.8 * found[1] <= -0.8 + 0.1
    assert asked[0] == pytest.approx(0.1 * 3.0 / (6.0 * 3.0))


def test_the_printed_problem_is_refused_with_its_number():
    joint = problem(Huber(1.0), m=100, ridge=0.12, clip=0.6)
    assert 1e13 < joint.iterations(joint.printed_accuracy) < 1e14
    with pytest.raises(ParameterError, match=r"Algorithm 3 may take .*e\+13 iterations"):
        joint.minimise()
    assert joint.printed_accuracy == pytest.approx(0.36 / (72 * 0.12 * 1e4))
    larger = problem(Huber(1.0), m=1000, ridge=0.12, clip=0.6)
    growth = larger.iterations(larger.printed_accuracy) / joint.iterations(joint.printed_accuracy)
    assert growth == pytest.approx(1e5, rel=0.1)


def test_the_printed_accuracy_on_the_smallest_of_problems(monkeypatch):
    monkeypatch.setattr(subgradient, "MOST_ITERATIONS", 10**6)
    joint = problem(Huber(0.5), m=1, domain=L2Ball(D, 0.2), ridge=0.2)
    found = joint.minimise()
    w, _ = conic_joint(joint.rows, joint.targets, joint.loss, joint.clip, joint.ridge, joint.centre, L2Ball(D, 0.2))
    assert np.linalg.norm(found[0] - w) <= math.sqrt(2.0 * joint.printed_accuracy / joint.ridge)


def test_records_that_do_not_count_and_rows_that_are_cut():
    rows = np.array([[np.nan, 1.0], [30.0, 40.0], [1.0, 0.0]])
    joint = JointProblem(rows, [0.0, 1.0, np.inf], Huber(1.0), 0.6, 0.3, [0.0, 0.0], BALL, row_bound=1.5)
    assert joint.rows == pytest.approx(np.array([[0.0, 0.0], [0.9, 1.2], [0.0, 0.0]]))
    assert np.isfinite(joint.value(np.zeros((4, D))))


@pytest.mark.parametrize(
    "domain", [Box((0.0, -1.0), (1.0, 1.0)), Simplex(2), L2Ball(2, 1.0)], ids=lambda w: type(w).__name__
)
@pytest.mark.parametrize("accuracy", [0.1, 1e-4, 1e-10])
def test_inexact_projection_is_within_its_accuracy(domain, accuracy):
    """Against the intersection's own projection, which has a certified error of 1e-13."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        centre, radius = domain.project(rng.standard_normal(2)), rng.uniform(0.05, 1.0)
        point = 3.0 * rng.standard_normal(2)
        exact = BallIntersection(domain, tuple(centre), radius).project(point)
        found = inexact_projection(domain, centre, radius, point, accuracy)
        assert np.linalg.norm(found - exact) <= accuracy + 1e-12
        assert np.linalg.norm(found - centre) <= radius
        assert domain.contains(found)


def test_what_is_refused():
    with pytest.raises(ParameterError, match="'loss' parameter of JointProblem must be a convex loss with a bounded"):
        problem(Squared())
    with pytest.raises(ParameterError, match="'domain' parameter of JointProblem must be convex and bounded"):
        problem(Huber(1.0), domain=WholeSpace(D))
    with pytest.raises(ParameterError, match="'centre' parameter of inexact_projection"):
        inexact_projection(BALL, [3.0, 0.0], 1.0, [1.0, 1.0], 0.1)
