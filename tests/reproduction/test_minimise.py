"""References are true minimisers: against scikit-learn and against all supports."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import brentq
from sklearn.linear_model import Lasso, LogisticRegression

from tailguard.domains import L1Ball, Sparse
from tailguard.reproduction.minimise import minimise
from tailguard.reproduction.objectives import LogLoss, Squares
from tailguard.solvers.base import Estimate


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(5)
    X = np.exp(0.8 * rng.standard_normal((800, 7)))
    y = X @ [1.0, -2.0, 0.5, 0.0, 0.0, 0.3, 0.0] + 3.0 + rng.standard_t(4, 800)
    return X, y


@pytest.mark.parametrize("intercept", [True, False])
def test_squares_in_an_l1_ball_are_the_lasso(records, intercept):
    X, y = records
    lasso = Lasso(alpha=0.2, fit_intercept=intercept, tol=1e-12, max_iter=100_000).fit(X, y)
    radius = float(np.abs(lasso.coef_).sum())
    found = minimise(Squares.of(X, y, intercept=intercept), L1Ball(7, radius))
    assert found.coefficients == pytest.approx(lasso.coef_, abs=1e-5)
    assert found.intercept == pytest.approx(np.ravel(lasso.intercept_)[0], abs=1e-4)


@pytest.mark.parametrize("free", [True, False])
def test_log_loss_in_an_l1_ball_is_the_l1_penalised_one(records, free):
    X, y = records
    t = (y > np.median(y)).astype(float)
    saga = LogisticRegression(l1_ratio=1.0, C=0.02, fit_intercept=free, solver="saga", tol=1e-12, max_iter=200_000)
    saga.fit(X, t)
    radius = float(np.abs(saga.coef_).sum())
    found = minimise(LogLoss(X, t, free=free), L1Ball(7, radius))
    assert found.coefficients == pytest.approx(saga.coef_[0], abs=1e-4)
    assert found.intercept == pytest.approx(float(np.ravel(saga.intercept_)[0]), abs=1e-3)


@pytest.mark.parametrize("radius", [None, 1.0])
def test_pursuit_finds_the_best_of_all_supports(radius):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((500, 8))
    y = X @ [0.0, 1.5, 0.0, 0.0, -1.0, 0.0, 0.7, 0.0] + 2.0 + rng.standard_normal(500)
    objective = Squares.of(X, y)
    found = minimise(objective, Sparse(8, 3, radius))

    def best_on(support):
        part = objective.restricted(np.array(support))

        def shrunk(multiplier):
            return np.linalg.solve(part.covariance + multiplier * np.eye(3), part.cross)

        if radius is None or np.linalg.norm(shrunk(0.0)) <= radius:
            return shrunk(0.0)
        return shrunk(brentq(lambda multiplier: np.linalg.norm(shrunk(multiplier)) - radius, 0.0, 100.0))

    def risk(support):
        w = np.zeros(8)
        w[list(support)] = best_on(support)
        return objective.risk(objective.model(w))

    supports = min(combinations(range(8), 3), key=risk)
    assert set(np.flatnonzero(found.coefficients)) == set(supports)
    assert objective.risk(found) == pytest.approx(risk(supports), rel=1e-4)


def test_risks_are_averages_of_losses(records):
    X, y = records
    model = Estimate(np.linspace(-0.5, 0.5, 7), 0.3)
    p = X @ model.coefficients + model.intercept
    assert Squares.of(X, y).risk(model) == pytest.approx(np.mean((p - y) ** 2))
    plain = Estimate(model.coefficients)
    assert Squares.of(X, y, intercept=False).risk(plain) == pytest.approx(np.mean((p - 0.3 - y) ** 2))
    t = (y > 3.0).astype(float)
    expected = np.mean(np.log1p(np.exp(p)) - t * p) + 0.05 * np.sum(model.coefficients**2)
    assert LogLoss(X, t, ridge=0.1).risk(model) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["squares", "log-loss"])
def test_gradients_are_those_of_the_profiled_risk(records, kind):
    X, y = records
    objective = Squares.of(X, y) if kind == "squares" else LogLoss(X, (y > 3.0).astype(float), ridge=0.1)
    w, h = np.linspace(-0.3, 0.3, 7), 1e-5

    def profiled(v):
        return objective.risk(objective.model(v))

    numeric = [(profiled(w + h * e) - profiled(w - h * e)) / (2 * h) for e in np.eye(7)]
    assert objective.gradient(w) == pytest.approx(np.array(numeric), abs=1e-6)
    change = objective.gradient(w + 0.01) - objective.gradient(w)
    assert np.linalg.norm(change) <= objective.smoothness * 0.01 * np.sqrt(7)
