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


def test_a_constant_column_is_dropped_wherever_it_sits():
    X = np.column_stack([np.zeros(20_000), np.full(20_000, 17.3), np.full(20_000, -1e9)])
    for seed in range(10):
        assert np.all(np.isinf(scales(X, seed)))
