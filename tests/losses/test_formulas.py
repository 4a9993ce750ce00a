"""The losses against their formulas, worked by hand or in many digits."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.losses import Absolute, Biweight, Hinge, Huber, Logistic, Squared, SquaredDistance
from tests.support.sentences import sentence


def test_squared():
    np.testing.assert_array_equal(Squared().value([3.0, -1.0], [1.0, 1.0]), [2.0, 2.0])
    np.testing.assert_array_equal(Squared().derivative([3.0, -1.0], [1.0, 1.0]), [2.0, -2.0])


@pytest.mark.parametrize("prediction", [-745.0, -30.0, -1e-8, 0.0, 0.5, 33.0, 700.0])
@pytest.mark.parametrize("label", [0.0, 1.0])
def test_logistic_in_many_digits(prediction, label):
    with mpmath.workdps(400):
        p, t = mpmath.mpf(prediction), mpmath.mpf(label)
        value, slope = mpmath.log(1 + mpmath.exp(p)) - t * p, 1 / (1 + mpmath.exp(-p)) - t
        curvature = 1 / ((1 + mpmath.exp(-p)) * (1 + mpmath.exp(p)))
    assert float(Logistic().value(prediction, label)) == pytest.approx(float(value), rel=1e-14, abs=1e-13)
    assert float(Logistic().derivative(prediction, label)) == pytest.approx(float(slope), rel=1e-14, abs=1e-15)
    assert float(Logistic().second_derivative(prediction, label)) == pytest.approx(float(curvature), rel=1e-13)


def test_logistic_value_does_not_overflow():
    np.testing.assert_array_equal(
        Logistic().value([800.0, -800.0, 1e308, -1e308], [0.0, 1.0, 1.0, 0.0]), [800.0, 800.0, 0.0, 0.0]
    )


def test_huber_is_quadratic_then_linear():
    loss = Huber(threshold=2.0)
    np.testing.assert_allclose(loss.value([1.0, 2.0, -5.0], 0.0), [0.5, 2.0, 8.0])
    np.testing.assert_allclose(loss.second_derivative([1.0, -2.0, 5.0], 0.0), [1.0, 1.0, 0.0])


def test_biweight_is_the_footnote_of_hu_et_al():
    loss, c = Biweight(threshold=3.0), 3.0
    r = np.linspace(-c, c, 41)
    np.testing.assert_allclose(loss.value(r, 0.0), c**2 / 6.0 * (1.0 - (1.0 - (r / c) ** 2) ** 3), atol=1e-15)
    np.testing.assert_array_equal(loss.value([3.0, 1e300, -np.inf], 0.0), c**2 / 6.0)
    np.testing.assert_array_equal(loss.derivative([3.0, 1e300, -np.inf], 0.0), 0.0)


def test_biweight_slope_is_largest_at_its_stated_place():
    loss = Biweight(threshold=2.0)
    assert float(loss.derivative(2.0 / math.sqrt(5.0), 0.0)) == pytest.approx(loss.lipschitz, rel=1e-14)


@pytest.mark.parametrize("smoothing", [1e-6, 0.5, 10.0])
def test_absolute_is_at_most_half_the_smoothing_below_the_absolute_value(smoothing):
    r = np.linspace(-20.0, 20.0, 4001)
    gap = np.abs(r) - Absolute(smoothing).value(r, 0.0)
    assert gap.min() >= -1e-12
    assert gap.max() == pytest.approx(smoothing / 2.0)


@pytest.mark.parametrize("smoothing", [1e-6, 0.5, 10.0])
def test_hinge_is_at_most_half_the_smoothing_below_the_hinge(smoothing):
    p = np.linspace(-20.0, 20.0, 4001)
    for label, sign in ((0.0, -1.0), (1.0, 1.0)):
        gap = np.maximum(0.0, 1.0 - sign * p) - Hinge(smoothing).value(p, label)
        assert gap.min() >= -1e-12
        assert gap.max() == pytest.approx(smoothing / 2.0)


def test_hinge_labels_mirror_each_other():
    p = np.linspace(-3.0, 3.0, 61)
    loss = Hinge(smoothing=0.5)
    np.testing.assert_allclose(loss.derivative(p, 0.0), -loss.derivative(-p, 1.0))


def test_squared_distance():
    loss = SquaredDistance()
    rows = np.array([[0.0, 0.0], [3.0, 5.0]])
    np.testing.assert_array_equal(loss.value([3.0, 4.0], rows), [12.5, 0.5])
    np.testing.assert_array_equal(loss.gradient([3.0, 4.0], rows), [[3.0, 4.0], [0.0, -1.0]])
    np.testing.assert_array_equal(loss.gradient([3.0, 4.0], rows, np.array([np.nan, 1.0])), [[3.0, 4.0], [0.0, -1.0]])


@pytest.mark.parametrize("kind", [Huber, Biweight, Absolute, Hinge])
@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf, "1", None, True])
def test_parameters_must_be_positive_and_finite(kind, wrong):
    field = dataclasses.fields(kind)[0]
    with pytest.raises(ParameterError, match=sentence(field.name, kind.__name__, "a finite number greater than 0")):
        kind(wrong)


@pytest.mark.parametrize("kind", [Huber, Biweight, Absolute, Hinge])
def test_parameters_become_floats(kind):
    assert kind(np.int64(2)) == kind(2.0)
    field = dataclasses.fields(kind)[0]
    assert type(getattr(kind(np.float32(2)), field.name)) is float


@pytest.mark.parametrize("kind", [Huber, Biweight, Absolute, Hinge])
@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e200, 1.7e308])
def test_extreme_parameters_stay_silent_and_bounded(kind, size):
    loss = kind(size)
    p = np.array([0.0, 1e-320, 1.0, -1e200, 1e308, np.inf])
    for label in (0.0, 1.0):
        loss.value(p, label)
        loss.second_derivative(p, label)
        assert np.abs(loss.derivative(p, label)).max() <= loss.lipschitz
