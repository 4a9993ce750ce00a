"""What a noisy bread is shrunk to: the size that levels and rows tell, the shape of rows whitened by a noisy matrix."""

from dataclasses import replace

import numpy as np
import pytest

from tailguard.losses import Squared
from tailguard.solvers.base import Query, Released, Uncertainty
from tailguard.solvers.bread import expected_bread, told_trace, whitened_gram
from tailguard.solvers.clip_level import CELLS, Histogram
from tailguard.solvers.matrices import Number
from tailguard.solvers.sandwich import _doubted, _in_raw_units, _with_corrected_intercept
from tailguard.solvers.spread import HIGH, LOW
from tailguard.solvers.whitening import whitened
from tailguard.statistics.fields import Gradient, Rows
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Norm
from tailguard.statistics.slopes import Slopes
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

N, D, BITS = 20_000, 12, 30
OCTAVES = Octaves(Norm(Rows(View(D))), LOW, HIGH, 2, BITS)


def _whitening(noise, seed=0, correlation=0.0):
    """Return columns, a log with a noisy Gram matrix of them, and the view that it whitens."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D))
    for j in range(1, D):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1.0 - correlation**2) * X[:, j]
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
    exact, found = rows.T @ rows / N, whitened_gram(log, view, N)
    error = np.linalg.norm(found - exact) / np.linalg.norm(exact)
    assert error < 0.02 + 3.0 * noise
    if noise == 0.1:
        scale = np.trace(exact) / (D + 1)
        assert error < 0.5 * np.linalg.norm(np.diag(np.full(D + 1, scale)) - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("correlation", [0.5, 0.9])
@pytest.mark.parametrize("noise", [0.005, 0.03])
def test_noise_in_a_gram_matrix_of_correlated_columns_does_not_hide_what_they_are(noise, correlation):
    """By the identity, variances were down to half of the exact ones; by entries shrunk one by one, up to 30 times."""
    ratios = []
    for seed in range(20):
        X, log, view = _whitening(noise, seed, correlation)
        rows = view.rows(X)
        exact, found = np.linalg.inv(rows.T @ rows / N)[:D, :D], np.linalg.inv(whitened_gram(log, view, N))[:D, :D]
        ratios.append([np.diag(view.basis @ of @ view.basis.T) for of in (found, exact)])
    found, exact = np.array(ratios).transpose(1, 0, 2)
    assert 0.9 < np.median(found / exact) < 1.6
    assert np.mean(found) < 2.5 * np.mean(exact)


@pytest.mark.parametrize("noise", [1e-9, 1.0])
def test_the_size_of_a_noisy_bread_is_what_levels_and_rows_tell(noise):
    X, log, view = _whitening(0.01)
    lengths = np.linalg.norm(view.rows(X), axis=1)
    mass = np.zeros(CELLS)
    np.add.at(mass, np.floor(2 * (np.log2(lengths) + 64)).astype(int), 1.0)
    gradient = Weighted(Gradient(view, Squared(), np.zeros(D + 1)), 3.0, 1.0, BITS)
    log = [
        *log,
        (Query("leverage level", OCTAVES), Released("leverage level", mass, 0.0)),
        (Query("gradient", gradient), Released("gradient", np.zeros(D + 1), 1.0)),
    ]
    gram = np.eye(D + 1)
    size = 0.6 * np.mean(lengths * np.minimum(lengths, 3.0)) / (D + 1)
    released = 2.0 * size * gram
    trace = told_trace(0.6, log, N)
    found, doubt = expected_bread(released, noise, gram, trace)
    np.testing.assert_allclose(found, gram * (2.0 * size if noise < 1.0 else size), rtol=0.15 if noise == 1.0 else 1e-3)
    assert doubt == pytest.approx(0.1 if noise == 1.0 else 0.0, abs=0.02)
    residuals = np.zeros(CELLS)
    residuals[2 * 64 - 4], residuals[2 * 64 + 3] = 0.45 * N, 0.55 * N  # below the limit, 1, and beyond it
    for statistic, share in ((OCTAVES, 0.45), (None, 0.6)):  # a step that was passed over says nothing
        asked = (Query("calibration level", statistic), Released("calibration level", residuals, 0.0))
        assert told_trace(0.6, [*log, asked], N).value == pytest.approx(share / 0.6 * trace.value)


def test_moments_of_whitened_rows_are_never_negative():
    """A released weight of the rows near 0 made them so: standard errors were 0 or 1e58 then (lognormal, σ = 2)."""
    _, log, view = _whitening(0.01)
    (query, reply), rng = log[0], np.random.default_rng(1)
    for weight in (0.0, 0.04):
        entries = reply.value.copy()
        entries[-1] = weight * N
        entries[D - 1 :: D] += 0.2 * N * rng.standard_normal(entries[D - 1 :: D].size)
        moments = whitened_gram([(query, Released("gram", entries, reply.noise))], view, N)
        assert np.linalg.eigvalsh(moments).min() > -1e-9
        assert np.trace(moments) < 4.0 * (D + 1)


def test_a_bread_of_uncertain_size_makes_errors_larger_and_one_that_may_be_none_says_nothing():
    found = Uncertainty(np.ones(3), np.eye(3))
    np.testing.assert_allclose(_doubted(found, 0.3).covariance, 1.09 * np.eye(3))
    for doubt in (0.6, 1e60):
        assert np.isinf(_doubted(found, doubt).std_error).all()
    assert expected_bread(-np.eye(3), 0.1, np.eye(3), Number(0.0, 1.0))[1] > 0.5


def test_no_error_is_0():
    view = View(2, centre=np.zeros(2), scale=np.ones(2), intercept=True)
    found = _in_raw_units(view, Uncertainty(np.ones(3), np.diag([0.0, 1.0, 1.0])))
    np.testing.assert_array_equal(np.isfinite(found.std_error), [False, True, True])


def test_what_lies_within_a_level_by_what_lies_beyond():
    mass = np.zeros(CELLS)
    mass[2 * 64 : 2 * 64 + 3] = 0.2, 0.1, 0.1  # from 1 to √2, to 2, to 2√2; what is farther in is not looked at
    mass[-1] = 5.0  # noise far out
    found = Histogram(mass, 1e-9)
    assert found.within(2.0) == pytest.approx(0.9)
    assert found.within(1.0) == pytest.approx(0.6)
    assert found.within(2.0**0.25) == pytest.approx(0.7)  # half of a cell
    assert found.within(1e30) == 0.0
    assert found.within(1e-30) == 1.0


@pytest.mark.parametrize("side", [1.0, -1.0, 0.0])
def test_what_a_skewed_tail_has_beyond_the_level_is_put_back_into_the_intercept(side):
    """Without it the intercept under lognormal noise was off by 0.4 deviations, and intervals were wider."""
    edges = 2.0 ** (LOW + np.arange(CELLS + 1) / 2)
    beyond = np.minimum(np.maximum(edges, 1.0) ** -3.0, 1.0)  # residuals from 1 on, by a power law of order 3
    view = View(1, centre=np.zeros(1), scale=np.ones(1), intercept=True)
    mean = Weighted(Slopes(Gradient(view, Squared(), np.zeros(2)), 2), 1.0, 4.0, BITS)
    log = [
        (Query("calibration level", OCTAVES), Released("calibration level", -np.diff(beyond) * N, 60.0)),
        (Query("intercept", mean), Released("intercept", np.array([0.0, -side * N]), 1.0)),
    ]
    tight = Uncertainty(np.zeros(2), 1e-6 * np.eye(2))
    found = _with_corrected_intercept(tight, log, np.eye(2), N)
    excess = 4.0**-2 / 2.0
    assert found.centre[1] == pytest.approx(side * (1.0 + excess), rel=0.02)
    assert np.sign(found.upward[1]) == side
    raw = _in_raw_units(replace(view, target_scale=2.0, target_centre=5.0), found)
    assert raw.upward[1] == pytest.approx(4.0 * found.upward[1])
    assert raw.upward[0] == 0.0
