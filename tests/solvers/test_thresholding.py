"""Hard thresholding against the papers' algorithms in plain NumPy, and against least squares on the true support."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from tailguard import engines
from tailguard.domains import Sparse
from tailguard.errors import ParameterError
from tailguard.losses import Logistic, Squared, SquaredDistance
from tailguard.plans import Problem
from tailguard.privacy import Privacy
from tailguard.recipes import catoni_thresholding, recipe, shrunken_thresholding, truncated_thresholding
from tailguard.solvers import HardThresholding, TruncatedEntries
from tailguard.solvers.prepared_thresholding import garrote
from tests.support.noiseless import without_noise

N, D, S, T = 600, 8, 3, 4
PRIVACY = Privacy(0.9, 1e-5)


def records(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(N, D))
    w = np.zeros(D)
    w[[1, 4, 6]] = 0.5, -0.6, 0.3
    return X, X @ w + rng.standard_t(3, size=N)


def largest(v, count):
    return np.where(np.isin(np.arange(v.size), np.argsort(-np.abs(v))[:count]), v, 0.0)


def blocks(n, count):
    """The rows of every block, by the documented permutation."""
    return [engines.Block(k, count).rows(n) for k in range(count)]


def smoothed(a):
    """E φ(a + |a|η), Hu et al. 2022, (2) to (5) at β = 1, by a fine trapezoidal rule."""
    eta = np.linspace(-9, 9, 1501)
    density = np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi) * (eta[1] - eta[0])
    x = np.asarray(a)[..., None] + np.abs(a)[..., None] * eta
    inside = np.clip(x, -np.sqrt(2), np.sqrt(2))
    return ((inside - inside**3 / 6) * density).sum(-1)


def start():
    point = np.zeros(D)
    point[[0, 4]] = 0.6, 0.8
    return point


@pytest.mark.parametrize("radius", [1.0, 0.3])
def test_algorithm_3_of_hu(radius):
    X, y = records()
    problem = Problem(Squared(), Sparse(D, S, radius), N, D)
    K, eta, w = 1.7, 0.4, start() * radius
    numbers = {"sparsity": S, "steps": T, "threshold": K, "step_size": eta, "start": w}
    plan = shrunken_thresholding.plan_with(problem, PRIVACY, **numbers)
    x, t = np.clip(X, -K, K), np.clip(y, -K, K)
    for rows in blocks(N, T):
        w = largest(w - eta / len(rows) * x[rows].T @ (x[rows] @ w - t[rows]), S)
        w *= min(1.0, radius / np.linalg.norm(w))
    np.testing.assert_allclose(without_noise(plan, X, y), w, atol=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.2])
@pytest.mark.parametrize(
    ("loss", "slope"), [(Squared(), lambda p, t: p - t), (Logistic(), lambda p, t: 1 / (1 + np.exp(-p)) - t)]
)
def test_algorithm_5_of_hu(loss, slope, ridge):
    X, y = records()
    y = y if isinstance(loss, Squared) else (y > 0).astype(float)
    k, eta, w = 1.3, 0.5, start()
    numbers = {"sparsity": S + 1, "steps": T, "threshold": k, "step_size": eta, "start": w, "ridge": ridge}
    plan = catoni_thresholding.plan_with(Problem(loss, Sparse(D, S), N, D), PRIVACY, **numbers)
    for rows in blocks(N, T):
        gradients = slope(X[rows] @ w, y[rows])[:, None] * X[rows]
        w = largest(w - eta * (k * smoothed(gradients / k).mean(0) + ridge * w), S + 1)
    np.testing.assert_allclose(without_noise(plan, X, y), largest(w, S), atol=1e-5)


@pytest.mark.parametrize("task", ["regression", "mean"])
def test_algorithm_5_of_tao(task):
    X, y = records()
    B, eta, w = 1.1, 0.6, start()
    loss = Squared() if task == "regression" else SquaredDistance()
    numbers = {"sparsity": S, "steps": T, "threshold": B, "step_size": eta, "start": w}
    plan = truncated_thresholding.plan_with(Problem(loss, Sparse(D, S), N, D), PRIVACY, **numbers)
    for rows in blocks(N, T):
        x = X[rows]
        gradients = (x @ w - y[rows])[:, None] * x if task == "regression" else w - x
        w = largest(w - eta * np.where(np.abs(gradients) <= B, gradients, 0.0).mean(0), S)
    target = (y,) if task == "regression" else ()
    np.testing.assert_allclose(without_noise(plan, X, *target), w, atol=1e-6)


def test_without_noise_or_bounds_thresholding_is_least_squares_on_the_support():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4000, 30))
    w = np.zeros(30)
    w[[3, 11, 28]] = 1.0, -2.0, 0.5
    y = X @ w + rng.standard_t(3, size=4000)
    problem = Problem(Squared(), Sparse(30, 3), 4000, 30)
    solver = HardThresholding(Squared(), problem.domain, 4000, 32, TruncatedEntries(1e4), 3, 60, 0.7)
    plan = truncated_thresholding.plan_with(problem, PRIVACY, steps=60, threshold=1e4, sparsity=3)
    steps = (dataclasses.replace(plan.steps[0], blocks=1),)
    found = without_noise(dataclasses.replace(plan, solver=solver, steps=steps), X, y)
    assert np.flatnonzero(found).tolist() == [3, 11, 28]
    expected = LinearRegression(fit_intercept=False).fit(X[:, [3, 11, 28]], y).coef_
    np.testing.assert_allclose(found[[3, 11, 28]], expected, atol=1e-5)


@pytest.mark.parametrize("name", ["shrunken_thresholding", "catoni_thresholding", "truncated_thresholding"])
@pytest.mark.parametrize("loss", [Squared(), Logistic()])
def test_practical_parameters_find_the_model_when_there_is_no_noise(name, loss):
    rng = np.random.default_rng(2)
    n, d, support = 5000, 40, [3, 11, 28]
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2, size=d) + 3.0
    w = np.zeros(d)
    w[support] = np.array([1.0, -1.2, 0.8]) / X[:, support].std(axis=0)
    y = X @ w + 5.0 + rng.logistic(size=n)
    if isinstance(loss, Logistic):
        y = (y > np.median(y)).astype(float)
    plan = recipe(name).plan("regression", Problem(loss, Sparse(d, 3), n, d, intercept=True), Privacy(100.0, 1e-6))
    found = without_noise(plan, X, y)
    few = X[:, support] - X[:, support].mean(axis=0)
    model = LinearRegression() if isinstance(loss, Squared) else LogisticRegression(C=np.inf)
    expected = model.fit(few / few.std(axis=0), y).coef_.ravel() / few.std(axis=0)
    assert np.flatnonzero(found).tolist() == support
    # Clamped slopes estimate another thing than least squares where noise is skewed; here it is not.
    np.testing.assert_allclose(found[support], expected, rtol=0.35 if isinstance(loss, Logistic) else 0.1)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"start": ((0, 0.5), (1, 0.5), (2, 0.5))},
            "at most 2 pairs of an index and a number, of Euclidean norm at most 1",
        ),
        ({"start": ((0, 0.9), (1, 0.9))}, "Euclidean norm at most 1. Got '2 of norm 1.27279'"),
        ({"start": ((1, 0.5), (0, 0.5))}, "at most 2 pairs"),
        ({"start": ((0, 0.5), (0, 0.5))}, "at most 2 pairs"),
        ({"start": ((0, float("nan")),)}, "at most 2 pairs"),
        ({"start": ((5, 0.5),)}, "an integer of at least 0 and at most 4"),
        ({"sparsity": 1}, "an integer of at least 2 and at most 5"),
        ({"sparsity": 6}, "an integer of at least 2 and at most 5"),
        ({"step_size": 0.0}, "a finite number greater than 0"),
        ({"ridge": -1.0}, "a finite number at least 0"),
    ],
)
def test_wrong_numbers_are_refused(wrong, sentence):
    usual = {"sparsity": 2, "steps": 3, "step_size": 0.5}
    with pytest.raises(ParameterError, match=sentence):
        HardThresholding(Squared(), Sparse(5, 2, 1.0), 100, 30, TruncatedEntries(1.0), **(usual | wrong))


def test_the_garrote_keeps_large_numbers_and_drops_doubtful_ones():
    values, doubt = np.array([100.0, -100.0, 2.5, 1.9, 0.0, 1.0]), np.array([2.0, 2.0, 2.0, 2.0, 2.0, 0.0])
    kept = garrote(values, doubt)
    np.testing.assert_allclose(kept, [99.96, -99.96, 0.9, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(("step_size", "converges"), [(0.5, False), (0.5 / 5.0, True)])
def test_the_papers_step_size_diverges_on_its_own_features(step_size, converges):
    """Section 6 of Hu et al. 2022 has η = 0.5 and features of variance γ = 5: |1 − ηγ| > 1."""
    rng = np.random.default_rng(3)
    n, w = 9000, np.zeros(6)
    w[:2] = 0.6, -0.8
    X = rng.normal(size=(n, 6)) * np.sqrt(5)
    y = X @ w + rng.normal(size=n)
    problem = Problem(Squared(), Sparse(6, 2), n, 6, smoothness=5.0)
    numbers = {"sparsity": 2, "steps": 9, "threshold": 1e6, "step_size": step_size}
    found = without_noise(catoni_thresholding.plan_with(problem, PRIVACY, **numbers), X, y)
    assert (np.linalg.norm(found - w) < 0.05) == converges
    assert converges or np.linalg.norm(found) > 10.0
