"""Whole solvers, told exact values: they compute what their papers say, twice the same, and hold no data."""

import json

import numpy as np
import pytest

from tailguard.domains import L2Ball, WholeSpace
from tailguard.engines import Block
from tailguard.losses import Squared
from tailguard.plans.codec import encode
from tailguard.solvers import PrivateMean, ProjectedGradient
from tailguard.solvers.oracles import Clip, MedianOfMeans, Truncate
from tests.support.exactly import told_exactly
from tests.support.registry_plans import CASES

N, BITS = 300, 30
X = np.random.default_rng(0).standard_t(3, size=(N, 2)) * [1.0, 5.0] + [3.0, 0.0]
ALL = pytest.mark.parametrize("case", CASES, ids=str)


def _mean(oracle, domain=None, records=X):
    solver = PrivateMean(domain or WholeSpace(2), len(records), 2, BITS, oracle)
    return told_exactly(solver.solve(), records)[0].coefficients


def test_a_clipped_mean():
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(_mean(Clip(4.0)), (X * np.minimum(1.0, 4.0 / norms)).mean(axis=0), atol=1e-6)


def test_a_truncated_mean():
    np.testing.assert_allclose(_mean(Truncate(4.0)), np.where(np.abs(X) <= 4.0, X, 0.0).mean(axis=0), atol=1e-6)


@pytest.mark.parametrize("groups", [1, 3, 7])
def test_a_median_of_means(groups):
    kept = np.where(np.abs(X) <= 4.0, X, 0.0)
    means = [kept[Block(g, groups).rows(N)].mean(axis=0) for g in range(groups)]
    np.testing.assert_allclose(_mean(MedianOfMeans(4.0, groups)), np.median(means, axis=0), atol=1e-6)


def test_the_answer_is_projected():
    found = _mean(Clip(100.0), L2Ball(2, 1.0))
    assert np.linalg.norm(found) == pytest.approx(1.0)
    np.testing.assert_allclose(found, X.mean(axis=0) / np.linalg.norm(X.mean(axis=0)), atol=1e-6)


@pytest.mark.parametrize("answer", ["average", "last"])
def test_descent_returns_the_average_or_the_last_point(answer):
    y = X @ [0.3, -0.1]
    solver = ProjectedGradient(Squared(), WholeSpace(2), N, 2, BITS, False, Clip(1e3), 6, 0.02, answer)
    w, points = np.zeros(2), []
    for _ in range(6):
        points.append(w)
        w = w - 0.02 * ((X @ w - y)[:, None] * X).mean(axis=0)
    found, _ = told_exactly(solver.solve(), X, y)
    np.testing.assert_allclose(found.coefficients, np.mean(points, axis=0) if answer == "average" else w, atol=1e-5)


@ALL
def test_a_solver_can_be_asked_twice(case):
    one, two = (told_exactly(case.plan.solver.solve(), *case.records(), plan=case.plan) for _ in range(2))
    np.testing.assert_array_equal(one[0].coefficients, two[0].coefficients)
    assert one[0].intercept == two[0].intercept
    assert [query.step for query in one[1]] == [query.step for query in two[1]]


@ALL
def test_a_solver_is_plain_public_numbers(case):
    """Whatever a solver knows can be written down, so it can hold no records."""
    assert len(json.dumps(encode(case.plan.solver))) < 3000


@ALL
def test_questions_follow_the_plan(case):
    _, queries = told_exactly(case.plan.solver.solve(), *case.records(), plan=case.plan)
    assert [query.step for query in queries] == [step.name for step in case.plan.steps for _ in range(step.count)]
