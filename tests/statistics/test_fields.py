"""Fields and scalars: rows and slopes as losses define them, one record at a time."""

import warnings

import numpy as np
import pytest
from scipy.stats import expon, norm

from tailguard.errors import DataError, ParameterError
from tailguard.losses import CustomLoss, Huber, Logistic, Squared, SquaredDistance
from tailguard.statistics import Columns, Gradient, Norm, RecordGradient, Rows, Slope, Target, View
from tailguard.statistics.slopes import Slopes, SquaredLengths, Tilts

RNG = np.random.default_rng(5)
X = RNG.standard_normal((40, 3))
Y = RNG.standard_normal(40)
W = np.array([0.5, -1.0, 2.0])


def test_rows():
    rows, slopes = Rows(View(3)).parts(X, None)
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(slopes, np.ones(40))


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(threshold=1.0)])
def test_gradient(loss):
    rows, slopes, squares = Gradient(View(3), loss, W).measured(X, Y)
    np.testing.assert_allclose(slopes, loss.derivative(X @ W, Y), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(squares, (X**2).sum(axis=1), rtol=1e-14)
    again = Gradient(View(3), loss, W).parts(X, Y)
    np.testing.assert_array_equal(again[0], rows)
    np.testing.assert_array_equal(again[1], slopes)


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Huber(threshold=1.0)])
def test_a_slope_does_not_depend_on_its_place_in_the_chunk(loss):
    field = Gradient(View(3), loss, W)
    whole = field.parts(X, Y)[1]
    one_by_one = np.concatenate([field.parts(X[i : i + 1], Y[i : i + 1])[1] for i in range(len(X))])
    np.testing.assert_array_equal(one_by_one, whole)


def test_record_gradient_with_and_without_a_target():
    field = RecordGradient(View(3), SquaredDistance(), W)
    np.testing.assert_array_equal(field.parts(X, None)[0], W - X)
    with_target = CustomLoss("product", lambda point, rows, target: rows * target[:, np.newaxis])
    np.testing.assert_array_equal(RecordGradient(View(3), with_target, W).parts(X, Y)[0], X * Y[:, np.newaxis])


def test_slopes_are_a_field_of_one_number():
    inner = Gradient(View(3), Squared(), W)
    rows, slopes = Slopes(inner).parts(X, Y)
    np.testing.assert_array_equal(rows, np.ones((40, 1)))
    np.testing.assert_array_equal(slopes, inner.parts(X, Y)[1])


def test_slopes_in_a_longer_row_come_last():
    inner = Gradient(View(3), Squared(), W)
    rows, slopes = Slopes(inner, 3).parts(X, Y)
    np.testing.assert_array_equal(rows, np.tile([0.0, 0.0, 1.0], (40, 1)))
    np.testing.assert_array_equal(slopes, inner.parts(X, Y)[1])


def test_squared_lengths_add_up_to_the_trace_of_products():
    inner = Gradient(View(3), Squared(), W)
    rows, lengths = SquaredLengths(inner, 2).parts(X, Y)
    np.testing.assert_array_equal(rows, np.tile([0.0, 1.0], (40, 1)))
    vectors = inner.parts(X, Y)[1][:, np.newaxis] * X
    np.testing.assert_allclose(lengths.sum(), np.trace(vectors.T @ vectors))


@pytest.mark.parametrize("shift", [-0.1, 0.0, 0.1])
def test_tilts_tell_skew_and_no_shift(shift):
    """Quantiles of a symmetric law, shifted a little, have no mean tilt; those of a skewed one have."""
    levels = (np.arange(20_000) + 0.5) / 20_000
    X, even, skewed = np.zeros((20_000, 1)), norm.ppf(levels), expon.ppf(levels) - 0.8
    within = [norm.cdf(level) - norm.cdf(-level) for level in (0.8, 1.6)]
    tilts = Tilts(Gradient(View(1), Squared(), [0.0]), 0.8, 1.6, within[1] / within[0])
    assert abs(tilts.parts(X, even + shift)[1].mean()) < 2e-3
    assert abs(tilts.parts(X, skewed)[1].mean()) > 0.04


def test_tilts_are_bounded_whatever_a_slope_is():
    tilts = Tilts(Gradient(View(1), Squared(), [0.0]), 0.8, 1.6, 1.5)
    targets = np.array([np.inf, -np.inf, 1e308, -1e308, 0.8, 1.6, 5e-324, 0.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = tilts.parts(np.zeros((8, 1)), targets)[1]
    assert np.all(np.abs(found) <= tilts.largest * (1 + 1e-12))
    assert tilts.largest == pytest.approx(0.4)


def test_scalars():
    view = View(3, intercept=True, target_centre=1.0)
    field = Gradient(view, Squared(), np.append(W, 0.3))
    gradient = (X @ W + 0.3 - (Y - 1.0))[:, np.newaxis] * np.column_stack([X, np.ones(40)])
    assert [scalars.count for scalars in (Columns(view), Target(view), Slope(field), Norm(field))] == [4, 1, 1, 1]
    np.testing.assert_array_equal(Columns(view).values(X, None), view.rows(X))
    np.testing.assert_array_equal(Target(view).values(X, Y), (Y - 1.0)[:, np.newaxis])
    np.testing.assert_allclose(np.abs(Slope(field).values(X, Y)[:, 0]), np.abs(gradient[:, 3]))
    np.testing.assert_allclose(Norm(field).values(X, Y)[:, 0], np.linalg.norm(gradient, axis=1))


def test_a_loss_must_answer_once_per_record():
    class Summed(Squared):
        def derivative(self, prediction, target):
            return super().derivative(prediction, target).sum(keepdims=True)

    with pytest.raises(ParameterError, match="one derivative per record"):
        Gradient(View(3), Summed(), W).parts(X, Y)
    with pytest.raises(ParameterError, match="one derivative per record"):
        Gradient(View(3), Squared(), W).parts(X, Y[:, np.newaxis])

    class Short(SquaredDistance):
        def gradient(self, point, rows, target=None):
            return super().gradient(point, rows, target)[:-1]

    with pytest.raises(ParameterError, match="one gradient per record"):
        RecordGradient(View(3), Short(), W).parts(X, Y)


def test_a_gradient_needs_a_target_and_a_finite_point():
    with pytest.raises(DataError, match="needs records with a target"):
        Gradient(View(3), Squared(), W).parts(X, None)
    for point in ([1.0, 2.0], [1.0, 2.0, np.nan], [[1.0, 2.0, 3.0]]):
        with pytest.raises(ParameterError, match="The 'point' parameter of Gradient must be a vector of 3"):
            Gradient(View(3), Squared(), point)
