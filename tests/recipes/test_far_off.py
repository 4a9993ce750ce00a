"""Columns and targets many spreads from 0, such as years, are found wherever a budget carries a fit."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.privacy.budget import Privacy
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.preparation import COARSE, COMFORT, FINE, LIMIT, MEDIUM, finest
from tailguard.solvers.preparation import Preparation

DISTANCE = 1000.0
N, D = 20_000, 5


def table(seed, n=N, d=D, columns=0.0, target=0.0):
    """Return records and what a model without privacy leaves of the target's variance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(5.0, (n, d))
    noise = rng.standard_t(5.0, n)
    return X + columns, X @ np.full(d, d**-0.5) + noise + target, 0.5


def left(model, X, y):
    """Return the part of the target's variance that a model leaves."""
    return float(np.mean((y - model.predict(X)) ** 2) / np.var(y))


@pytest.mark.parametrize("epsilon", [0.08, 0.1, 0.13, 0.17, 0.25, 0.5])
def test_far_off_columns_are_found_at_every_budget(epsilon):
    X, y, best = table(1, columns=DISTANCE)
    losses = [
        left(tg.LinearRegression(epsilon=epsilon, delta=1e-6, random_state=seed).fit(X, y), X, y) for seed in range(3)
    ]
    assert float(np.median(losses)) < 1.25 * best


@pytest.mark.parametrize("epsilon", [0.1, 0.25, 0.5])
def test_far_off_columns_of_classes_are_found(epsilon):
    X, y, _ = table(2, columns=-DISTANCE)
    shares = [
        float(
            np.mean(
                tg.LogisticRegression(epsilon=epsilon, delta=1e-6, random_state=seed).fit(X, y > 0.0).predict(X)
                == (y > 0.0)
            )
        )
        for seed in range(3)
    ]
    assert float(np.median(shares)) > 0.68


@pytest.mark.parametrize(("make", "n", "d"), [
    (lambda **kwargs: tg.LinearRegression(epsilon=0.1, delta=1e-6, **kwargs), 10_000, D),
    (lambda **kwargs: tg.LinearRegression(epsilon=0.25, delta=1e-6, **kwargs), 10_000, D),
    (lambda **kwargs: tg.LinearRegression(epsilon=1.0, delta=1e-6, **kwargs), 10_000, 150),
    (lambda **kwargs: tg.RobustRegression(epsilon=0.5, delta=1e-6, **kwargs), 10_000, D),
    (lambda **kwargs: tg.SparseLinearRegression(5, epsilon=1.0, delta=1e-6, **kwargs), 10_000, 100),
    (lambda **kwargs: tg.LinearRegression(epsilon=1.0, delta=1e-6, method="clipping", **kwargs), 10_000, D),
    (lambda **kwargs: tg.LinearRegression(epsilon=1.0, delta=1e-6, method="centred_descent", **kwargs), 10_000, D),
])  # fmt: skip
@pytest.mark.parametrize("target", [DISTANCE, -30.0 * DISTANCE])
def test_far_off_targets_are_found(make, n, d, target):
    X, y, best = table(3, n, d, target=target)
    if d == 100:
        y = X[:, :D] @ np.full(D, D**-0.5) + (y - target - X @ np.full(d, d**-0.5)) + target
    assert left(make(random_state=4).fit(X, y), X, y) < (1.6 if d > D else 1.25) * best


def test_a_constant_target_is_predicted():
    X, _, _ = table(5)
    model = tg.LinearRegression(epsilon=0.1, delta=1e-6, random_state=1).fit(X, np.full(N, 1234.5))
    np.testing.assert_allclose(model.predict(X), 1234.5, rtol=1e-3)


@pytest.mark.parametrize("delta", [1e-6, 0.0])
def test_grids_are_as_fine_as_ranks_allow(delta):
    noise = CountNoise.of(Privacy(1.0, delta))
    ranks = {substeps: noise.of_bisection(0.05, Preparation(substeps).grid.depth, 7) for substeps in (FINE, MEDIUM)}
    assert finest(noise, int(1.01 * ranks[FINE] / COMFORT), 0.05, 7) == FINE
    assert finest(noise, int(0.99 * ranks[FINE] / COMFORT), 0.05, 7) == MEDIUM
    assert finest(noise, int(1.01 * ranks[MEDIUM] / LIMIT), 0.05, 7) == MEDIUM
    assert finest(noise, int(0.99 * ranks[MEDIUM] / LIMIT), 0.05, 7) == COARSE
