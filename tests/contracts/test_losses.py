"""What every loss must do: true derivatives, constants that are bounds, and silence on any value."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from tailguard import losses
from tailguard.losses import Loss, RecordLoss
from tests.support.registry_losses import LABELS, LOSSES, RECORD_LOSSES

STEP = 1e-6
LARGEST = np.finfo(float).max
GRID = np.concatenate([np.linspace(-30.0, 30.0, 1201), np.geomspace(1e-9, 1e6, 60), -np.geomspace(1e-9, 1e6, 60)])
HOSTILE = np.array(
    [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        1e-300,
        1.0,
        -1.0,
        800.0,
        -800.0,
        1e154,
        1e200,
        -1e200,
        1e308,
        -1e308,
        LARGEST,
        -LARGEST,
        np.inf,
        -np.inf,
        np.nan,
    ]
)

each_loss = pytest.mark.parametrize("case", LOSSES, ids=lambda case: repr(case.loss))
each_record_loss = pytest.mark.parametrize("case", RECORD_LOSSES, ids=lambda case: repr(case.loss))


def smooth_points(case, target):
    """Predictions around the target, none within a few steps of a kink."""
    points = GRID[np.abs(GRID) <= 30.0] + (target if len(case.targets) > len(LABELS) else 0.0)
    kinks = np.array([*case.kinks(target), np.inf])
    return points[np.abs(points[:, None] - kinks).min(axis=1) > 4.0 * STEP]


@each_loss
def test_derivative_is_the_slope_of_the_value(case):
    for target in case.targets:
        p = smooth_points(case, target)
        high, low = p + STEP, p - STEP
        slope = (case.loss.value(high, target) - case.loss.value(low, target)) / (high - low)
        np.testing.assert_allclose(case.loss.derivative(p, target), slope, rtol=1e-6, atol=1e-7)


@each_loss
def test_second_derivative_is_the_slope_of_the_derivative(case):
    for target in case.targets:
        p = smooth_points(case, target)
        high, low = p + STEP, p - STEP
        slope = (case.loss.derivative(high, target) - case.loss.derivative(low, target)) / (high - low)
        np.testing.assert_allclose(case.loss.second_derivative(p, target), slope, rtol=1e-6, atol=1e-6)


@each_loss
def test_constants_are_bounds_and_nearly_attained(case):
    for constant, function in (
        (case.loss.lipschitz, case.loss.derivative),
        (case.loss.smoothness, case.loss.second_derivative),
    ):
        sizes = [np.abs(function(GRID + t, t)).max() for t in case.targets]
        sizes += [np.abs(function(GRID, t)).max() for t in case.targets]
        if constant is None:
            assert max(sizes) > 1e5
        else:
            assert max(sizes) <= constant * (1.0 + 1e-12)
            assert max(sizes) >= constant * (1.0 - 1e-3)


@pytest.mark.parametrize("case", [case for case in LOSSES if case.loss.lipschitz], ids=lambda c: repr(c.loss))
def test_lipschitz_holds_for_hostile_predictions(case):
    for target in case.targets:
        slope = case.loss.derivative(HOSTILE, target)
        assert np.isfinite(slope[~np.isnan(HOSTILE)]).all()
        assert np.nanmax(np.abs(slope)) <= case.loss.lipschitz


@each_loss
def test_convexity_is_as_declared(case):
    slopes = [np.diff(case.loss.derivative(np.sort(GRID), t)).min() for t in case.targets]
    curvatures = [case.loss.second_derivative(GRID + t, t).min() for t in case.targets]
    if case.loss.convex:
        assert min(slopes) >= -1e-9
        assert min(curvatures) >= 0.0
    else:
        assert min(curvatures) < -1e-3


@each_loss
def test_value_is_nonnegative(case):
    for target in case.targets:
        assert case.loss.value(GRID, target).min() >= -1e-9


@each_loss
def test_any_value_is_met_in_silence(case):
    prediction, target = np.meshgrid(HOSTILE, HOSTILE)
    for function in (case.loss.value, case.loss.derivative, case.loss.second_derivative):
        result = function(prediction, target)
        assert result.dtype == np.float64
        assert result.shape == prediction.shape
        assert np.isnan(result[np.isnan(prediction) | np.isnan(target)]).all()


@each_loss
def test_an_entry_depends_on_its_own_record_to_the_last_bit(case):
    rng = np.random.default_rng(1)
    p = np.concatenate([rng.standard_normal(1000) * 10.0 ** rng.integers(-5, 6, 1000), HOSTILE])
    t = rng.choice(case.targets, p.size)
    whole = case.loss.derivative(p, t)
    alone = np.array([case.loss.derivative(p[i : i + 1], t[i : i + 1])[0] for i in range(p.size)])
    np.testing.assert_array_equal(whole, alone)
    for part in (slice(3, None), slice(1, 700, 2), slice(None, None, -1)):
        np.testing.assert_array_equal(whole[part], case.loss.derivative(p[part], t[part]))


@each_loss
def test_inputs_may_be_lists_integers_or_read_only(case):
    p, t = np.array([1.0, -2.0, 0.0]), np.array([1.0, 0.0, 1.0])
    p.setflags(write=False)
    expected = case.loss.derivative(p, t)
    np.testing.assert_array_equal(case.loss.derivative([1, -2, 0], np.array([1, 0, 1])), expected)
    assert float(case.loss.derivative(1.0, 1)) == expected[0]


@pytest.mark.parametrize("case", LOSSES + RECORD_LOSSES, ids=lambda case: repr(case.loss))
def test_a_loss_is_a_frozen_value(case):
    loss = case.loss
    assert dataclasses.is_dataclass(loss)
    assert isinstance(loss.name, str)
    for twin in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        assert twin == loss
        assert hash(twin) == hash(loss)
    fields = {field.name: getattr(loss, field.name) for field in dataclasses.fields(loss)}
    assert type(loss)(**fields) == loss
    assert all(isinstance(value, (float, str, bool)) for value in fields.values())
    with pytest.raises(dataclasses.FrozenInstanceError):
        loss.name = "other"


def test_every_exported_loss_is_registered():
    exported = {getattr(losses, name) for name in losses.__all__} - {Loss, RecordLoss}
    assert exported == {type(case.loss) for case in LOSSES + RECORD_LOSSES}


def records(case, m=7, d=3, seed=5):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, 5, m).astype(float) if case.needs_target else None
    return rng.standard_normal(d), rng.standard_normal((m, d)), target


@each_record_loss
def test_record_gradient_is_the_slope_of_the_value(case):
    point, rows, target = records(case)
    gradient = case.loss.gradient(point, rows, target)
    assert gradient.shape == rows.shape
    for j, direction in enumerate(np.eye(point.size) * STEP):
        high = case.loss.value(point + direction, rows, target)
        low = case.loss.value(point - direction, rows, target)
        np.testing.assert_allclose(gradient[:, j], (high - low) / (2.0 * STEP), rtol=1e-6, atol=1e-7)


@each_record_loss
def test_record_gradient_row_depends_on_its_own_record_to_the_last_bit(case):
    point, rows, target = records(case, m=200)
    whole = case.loss.gradient(point, rows, target)
    for i in range(len(rows)):
        own = None if target is None else target[i : i + 1]
        np.testing.assert_array_equal(whole[i : i + 1], case.loss.gradient(point, rows[i : i + 1], own))


@each_record_loss
def test_record_loss_meets_any_value_in_silence(case):
    rows = np.tile(HOSTILE[:, None], (1, 3))
    target = np.full(len(rows), np.nan) if case.needs_target else None
    gradient = case.loss.gradient(np.array([1e308, 0.0, -1e308]), rows, target)
    value = case.loss.value(np.array([1e308, 0.0, -1e308]), rows, target)
    assert gradient.dtype == value.dtype == np.float64
    assert np.isnan(gradient[-1]).all()
    assert np.isnan(value[-1])


@each_record_loss
def test_record_loss_constants_are_bounds(case):
    rng = np.random.default_rng(8)
    for _ in range(20):
        first, rows, target = records(case, m=20, seed=int(rng.integers(1 << 30)))
        second = rng.standard_normal(first.size)
        change = case.loss.gradient(first, rows, target) - case.loss.gradient(second, rows, target)
        ratio = np.linalg.norm(change, axis=1) / np.linalg.norm(first - second)
        if case.loss.smoothness is not None:
            assert ratio.max() <= case.loss.smoothness * (1.0 + 1e-9)
