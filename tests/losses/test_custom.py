"""A custom loss: what it passes on, what it refuses, what its value is made of."""

import dataclasses

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.losses import CustomLoss
from tests.support.sentences import sentence


def gradient(point, rows, target):
    return point - rows


def test_functions_get_float_arrays_and_the_target():
    def record(point, rows, target):
        assert point.dtype == rows.dtype == target.dtype == np.float64
        return rows * target[:, None]

    np.testing.assert_array_equal(
        CustomLoss("weighted", record).gradient([1, 1], [[1, 2], [3, 4]], [2, 0]), [[2.0, 4.0], [0.0, 0.0]]
    )


def test_a_missing_target_is_passed_on_as_none():
    seen = []
    CustomLoss("quiet", lambda w, z, t: seen.append(t) or w - z).gradient([1.0], [[2.0]])
    assert seen == [None]


def test_only_the_name_is_its_value():
    assert CustomLoss("a", gradient) == CustomLoss("a")
    assert hash(CustomLoss("a", gradient)) == hash(CustomLoss("a"))
    assert CustomLoss("a", gradient) != CustomLoss("b", gradient)
    assert [field.name for field in dataclasses.fields(CustomLoss)] == ["name"]
    assert repr(CustomLoss("a", gradient)) == "CustomLoss(name='a')"


def test_nothing_is_assumed_of_it():
    loss = CustomLoss("a", gradient)
    assert (loss.convex, loss.smoothness, loss.lipschitz) == (False, None, None)


def test_overflow_in_the_function_is_silent():
    loss = CustomLoss("exploding", lambda w, z, t: np.exp(z) / (w - w))
    assert not np.isfinite(loss.gradient([0.0], [[1e308], [0.0]])).any()


@pytest.mark.parametrize("result", [np.zeros(2), np.zeros((2, 1)), np.zeros((1, 3)), 0.0])
def test_a_gradient_of_wrong_shape_is_refused(result):
    loss = CustomLoss("flat", lambda w, z, t: result)
    rule = "a function that returns an array of shape (2, 3)"
    with pytest.raises(ParameterError, match=sentence("gradient", "CustomLoss", rule)):
        loss.gradient(np.zeros(3), np.zeros((2, 3)))


def test_a_value_of_wrong_shape_is_refused():
    loss = CustomLoss("flat", gradient, lambda w, z, t: z)
    rule = "a function that returns an array of shape (2,)"
    with pytest.raises(ParameterError, match=sentence("value", "CustomLoss", rule, r"\(2, 3\)")):
        loss.value(np.zeros(3), np.zeros((2, 3)))


@pytest.mark.parametrize("name", ["gradient", "value"])
def test_a_function_that_was_not_given_is_asked_for(name):
    rule = "given before the loss is evaluated"
    with pytest.raises(ParameterError, match=sentence(name, "CustomLoss", rule, "None")):
        getattr(CustomLoss("a"), name)(np.zeros(1), np.zeros((1, 1)))


@pytest.mark.parametrize("name", ["", None, 3])
def test_the_name_must_be_words(name):
    with pytest.raises(ParameterError, match=sentence("name", "CustomLoss", "a name in words")):
        CustomLoss(name, gradient)


@pytest.mark.parametrize("name", ["gradient", "value"])
def test_functions_must_be_callable(name):
    rule = "a function of (point, rows, target)"
    with pytest.raises(ParameterError, match=sentence(name, "CustomLoss", rule, "3")):
        CustomLoss("a", **{name: 3})
