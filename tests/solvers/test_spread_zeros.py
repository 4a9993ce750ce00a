"""The private scale of columns that are mostly one value."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.solvers.preparation import prepare_features
from tailguard.statistics.view import View


def scales(X, seed, epsilon=0.5):
    """The scales that a fit of means released, by replaying its preparation."""
    model = tg.Mean(epsilon=epsilon, random_state=seed).fit(X)
    solver = model.plan_.solver
    preparation = prepare_features(View(X.shape[1]), solver.preparation, solver.n, solver.bits)
    answers = iter(model.release_.released)
    next(preparation)
    while True:
        try:
            preparation.send(next(answers))
        except StopIteration as stop:
            return np.asarray(stop.value.scale)


@pytest.mark.parametrize("share", [0.5, 0.2, 0.15, 0.1])
def test_an_indicator_is_scaled_by_its_ones_however_rare(share):
    rng = np.random.default_rng(5)
    X = (rng.random((20_000, 3)) < share).astype(float)
    for seed in range(3):
        found = scales(X, seed)
        assert np.all((found > 0.2 * np.sqrt(share)) & (found < 4.0 * np.sqrt(share)))


CONSTANT = np.array([0.0, 17.3, -1e9])


def test_the_mean_of_a_constant_column_has_no_spread_beyond_rounding():
    X = np.tile(CONSTANT, (20_000, 1))
    for seed in range(10):
        found = scales(X, seed)
        assert np.all(np.isinf(found) | (found <= 1e-4 * np.abs(CONSTANT)))


def test_a_constant_column_is_dropped_from_a_model_wherever_it_sits():
    x = np.random.default_rng(6).standard_normal((20_000, 1))
    X = np.column_stack([np.tile(CONSTANT, (20_000, 1)), x])
    for seed in range(3):
        model = tg.LinearRegression(epsilon=1.0, random_state=seed).fit(X, 2.0 * x[:, 0] + 3.0)
        assert np.all(model.coef_[:3] == 0.0)
        assert model.coef_[3] == pytest.approx(2.0, abs=0.1)
