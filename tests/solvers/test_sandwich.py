"""What a noisy bread is shrunk to: the size that levels and rows tell, the shape of rows whitened by a noisy matrix."""

import numpy as np
import pytest

from tailguard.losses import Squared
from tailguard.solvers.base import Query, Released
from tailguard.solvers.clip_level import CELLS
from tailguard.solvers.sandwich import _expected, _whitened_gram
from tailguard.solvers.whitening import whitened
from tailguard.statistics.fields import Gradient
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

N, D, BITS = 20_000, 12, 30


def _whitening(noise, seed=0):
    """Return independent columns, a log with a noisy Gram matrix of them, and the view that it whitens."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    view = View(D, centre=np.zeros(D), scale=np.ones(D), intercept=True)
    solve = whitened("gram", view, 100.0, 0.5, 0.01, N, BITS)
    query = next(solve)
    rows = np.column_stack([X, np.ones(N)])
    matrix = rows.T @ rows
    entries = matrix[np.triu_indices(D + 1)] * np.where(np.eye(D + 1)[np.triu_indices(D + 1)], 1.0, np.sqrt(2.0))
    np.testing.assert_allclose(query.statistic.matrix(entries), matrix)  # the statistic's own coordinates
    reply = Released("gram", entries + noise * N * rng.standard_normal(entries.size), noise * N)
    try:
        solve.send(reply)
    except StopIteration as stop:
        return X, [(query, reply)], stop.value.view
    raise AssertionError


@pytest.mark.parametrize("noise", [1e-6, 0.05, 0.1])
def test_moments_of_whitened_rows_are_known_but_for_noise(noise):
    X, log, view = _whitening(noise)
    rows = view.rows(X)
    exact, found = rows.T @ rows / N, _whitened_gram(log, view, N)
    error = np.linalg.norm(found - exact) / np.linalg.norm(exact)
    assert error < 0.02 + 3.0 * noise
    if noise == 0.1:
        scale = np.trace(exact) / (D + 1)
        assert error < 0.5 * np.linalg.norm(np.diag(np.full(D + 1, scale)) - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("noise", [1e-9, 1.0])
def test_the_size_of_a_noisy_bread_is_what_levels_and_rows_tell(noise):
    X, log, view = _whitening(0.01)
    lengths = np.linalg.norm(view.rows(X), axis=1)
    mass = np.zeros(CELLS)
    np.add.at(mass, np.floor(2 * (np.log2(lengths) + 64)).astype(int), 1.0)
    gradient = Weighted(Gradient(view, Squared(), np.zeros(D + 1)), 3.0, 1.0, BITS)
    log = [
        *log,
        (Query("leverage level", None), Released("leverage level", mass, 0.0)),
        (Query("gradient", gradient), Released("gradient", np.zeros(D + 1), 1.0)),
    ]
    gram = np.eye(D + 1)
    size = 0.6 * np.mean(lengths * np.minimum(lengths, 3.0)) / (D + 1)
    released = 2.0 * size * gram
    found = _expected(released, noise, gram, 0.6, log, N)
    np.testing.assert_allclose(found, gram * (2.0 * size if noise < 1.0 else size), rtol=0.15 if noise == 1.0 else 1e-3)
