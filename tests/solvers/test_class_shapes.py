"""What bread and meat of classes look like along the model and across it, against records drawn from a normal law."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import expit

import tailguard as tg
from tailguard.losses.balanced import BalancedLogistic
from tailguard.losses.logistic import Logistic
from tailguard.losses.squared import Squared
from tailguard.solvers.base import Query, Released
from tailguard.solvers.class_shapes import Shape, Told, _curved, _longer, class_shapes
from tailguard.solvers.clip_level import CELLS, SUBSTEPS, Histogram
from tailguard.solvers.matrices import Number, shrunk
from tailguard.solvers.spread import LOW
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Gradient
from tailguard.statistics.slopes import Leveraged
from tailguard.statistics.view import View

D, POINT = 3, np.array([1.5, -1.0, 0.0, 0.5])


def log_of(gradient):
    """Return a log with nothing but a gradient: there are no histograms that say how large the bread is."""
    return [(Query("gradient", Clipped(Leveraged(gradient, 2.0), 1.0, 20)), Released("gradient", np.zeros(4), 1.0))]


def shapes_of(loss, gram=None, point=POINT):
    gradient = Gradient(View(D, intercept=True), loss, point)
    return class_shapes(gradient, np.eye(D + 1) if gram is None else gram, log_of(gradient), 1000)


@pytest.mark.parametrize("loss", [Logistic(), BalancedLogistic()])
@pytest.mark.parametrize("mixed", [False, True])
def test_shapes_are_those_of_normal_rows(loss, mixed):
    rng = np.random.default_rng(500)
    rows = rng.normal(size=(400_000, D))
    mix = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.5], [0.0, 0.0, 0.7]]) if mixed else np.eye(D)
    rows = np.column_stack([rows @ mix, np.ones(len(rows))])
    prediction = rows @ POINT
    label = (rng.random(len(rows)) < expit(prediction)).astype(float)
    gram = rows.T @ rows / len(rows)
    found = shapes_of(loss, gram)
    for shape, weights in (
        (found.bread, loss.second_derivative(prediction, label)),
        (found.meat, loss.derivative(prediction, label) ** 2),
    ):
        exact = (rows.T * weights) @ rows / len(rows)
        np.testing.assert_allclose(shape.fitted(exact, gram)[0], exact, atol=0.02 * np.trace(exact) / (D + 1))
        assert shape.along < 0.7  # as large as across the model it is not


def test_a_meat_is_turned_into_a_bread():
    found = replace(shapes_of(BalancedLogistic()), ratio=0.5)
    across, along = found.meat.direction * 0.0, found.meat.direction
    across[2] = 1.0
    meat = np.eye(D + 1) + (found.meat.along - 1.0) * np.outer(along, along)
    bread = found.curved(np.full((4, 4), np.nan), meat, np.eye(4))  # what was released does not matter here
    assert across @ bread @ across == pytest.approx(0.5)
    assert along @ bread @ along == pytest.approx(0.5 * found.bread.along)
    assert found.bread.along > found.meat.along


def test_without_a_model_rows_count_alike_and_residuals_have_no_such_shape():
    none = shapes_of(Logistic(), point=np.zeros(D + 1))
    assert (none.bread.along, none.meat.along) == (pytest.approx(1.0), pytest.approx(1.0))
    np.testing.assert_allclose(none.bread.fitted(np.eye(D + 1), np.eye(D + 1))[0], np.eye(D + 1), atol=1e-12)
    assert shapes_of(Squared()) is None


@pytest.mark.parametrize("size", [1e-300, 1e3, 1e300])
def test_any_released_point_has_a_shape(size):
    with np.errstate(all="ignore"):
        found = shapes_of(Logistic(), point=size * np.array([1.0, -1.0, 1.0, 1.0]))
        matrix, _ = found.bread.fitted(np.eye(4), np.eye(4))
    assert np.isfinite(matrix).all()
    assert 0.0 <= found.bread.along <= 1.5


def test_a_gate_keeps_bad_luck_out():
    noise = np.random.default_rng(501).normal(0.0, 1.0, (6, 6))
    noise = (noise + noise.T) / 2.0
    noise *= np.sqrt(2.1 * 21 / np.sum(noise**2))  # more than nine hundred and ninety-nine of a thousand
    target = 0.2 * np.eye(6)
    assert np.linalg.eigvalsh(shrunk(target + noise, target, 1.0)).min() < 0.0
    np.testing.assert_array_equal(shrunk(target + noise, target, 1.0, 4.0), target)


def test_errors_of_classes_along_the_model_are_larger_than_across_it():
    """They were stated alike where noise hid the difference; along it they were up to 1.9 times that (20 columns)."""
    rng, d = np.random.default_rng(502), 12
    X, slopes = rng.normal(size=(20_000, d)), np.full(d, 1.5 / np.sqrt(d))
    y = (rng.random(len(X)) < expit(X @ slopes)).astype(float)
    fit = tg.LogisticRegression(epsilon=1.0, delta=1e-6, random_state=502).fit(X, y)
    covariance = fit.release_.estimate.uncertainty.covariance[:d, :d]
    along = slopes @ covariance @ slopes / (slopes @ slopes)
    assert 1.8 < along / ((np.trace(covariance) - along) / (d - 1)) < 6.0


def test_shape_of_a_matrix_without_intercept():
    shape = Shape(np.array([1.0, 0.0]), 0.0, 0.25, False)
    np.testing.assert_allclose(shape.fitted(np.diag([0.5, 2.0]), np.eye(2))[0], np.diag([0.5, 2.0]))


@pytest.mark.parametrize(("noise", "factor", "own"), [(1e-9, -1.0, -2.0), (1e9, 0.03, 0.02)])
def test_a_meat_that_is_mostly_noise_is_as_large_as_histograms_say(noise, factor, own):
    """It was nothing where noise happened to be negative, and so were all standard errors."""
    shape = Shape(np.array([1.0, 0.0, 0.0]), 0.0, 0.5, True)
    told = Told(Number(0.03, 0.005), Number(0.02, 0.005))
    released = np.diag([-0.5, -1.0, -2.0])
    found, known = shape.fitted(released, np.eye(3), noise, told)
    np.testing.assert_allclose(found, np.diag([0.5 * max(factor, 0.0), max(factor, 0.0), max(own, 0.0)]), atol=1e-6)
    assert known.value == pytest.approx(factor, rel=1e-3)
    assert known.deviation == pytest.approx(0.005 if noise > 1.0 else 0.0, abs=1e-6)


def test_rare_classes_have_standard_errors():
    """Three in a hundred, 20 columns, 10 000 rows, ε = ½: in one fit of five all of them were 0, or as good as."""
    for seed in (503, 506, 509, 526):
        rng, d = np.random.default_rng([seed, 10_000, 20]), 20
        X = rng.standard_t(3.0, size=(10_000, d))
        y = (rng.random(len(X)) < expit(X[:, 0] - 4.4)).astype(float)
        fit = tg.LogisticRegression(epsilon=0.5, delta=1e-6, random_state=seed).fit(X, y)
        errors, centre = fit.coef_std_error_, fit.release_.estimate.uncertainty.centre
        assert np.all(errors > 0.02)
        assert np.all(np.abs(centre[:d][np.isfinite(errors)]) < 20.0)


@pytest.mark.parametrize("law", ["gaussian", "t3", "lognormal"])
def test_a_bread_grows_beside_its_meat_with_the_lengths_of_rows(law):
    """Trace of E ω φ″ zzᵀ ÷ trace of E ω² φ′² zzᵀ, by histograms of lengths and slopes alone, and by the records."""
    rng = np.random.default_rng(4)
    t3, lognormal = partial(rng.standard_t, 3), partial(rng.lognormal, 0.0, 1.0)
    draws = {"gaussian": rng.standard_normal, "t3": t3, "lognormal": lognormal}
    X = draws[law](size=(100_000, 5))
    rows = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(X))])
    odds = rows @ [0.6, -0.5, 0.4, 0.3, -0.2, 0.1]
    loss, y = BalancedLogistic(), (rng.random(len(X)) < expit(odds)).astype(float)
    lengths, slopes = np.linalg.norm(rows, axis=1), loss.derivative(odds, y)
    radius = float(np.quantile(lengths, 0.35))
    weights = np.minimum(1.0, radius / lengths)
    exact = np.mean(weights * loss.second_derivative(odds, y) * lengths**2) / np.mean((weights * slopes * lengths) ** 2)
    found = _curved(_histogram(np.abs(slopes))) * _longer(_histogram(lengths), radius)
    assert found == pytest.approx(exact, rel=0.1)


def _histogram(sizes):
    edges = np.exp2(LOW + np.arange(CELLS + 1) / SUBSTEPS)
    return Histogram(np.histogram(sizes, edges)[0] / len(sizes), 1e-9)
