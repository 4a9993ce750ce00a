"""What every function of a coordinatewise sum must do: move by no more than is declared when one record is replaced."""

import dataclasses
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from tailguard import engines
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.errors import LedgerError, ParameterError
from tailguard.mechanisms import TopK
from tailguard.plans.step import Step
from tailguard.run.run import _check
from tailguard.statistics import Signed, Vertices, statistic_type
from tests.support import neighbours
from tests.support.registry_scores import SCORED

ALL = pytest.mark.parametrize(
    "statistic", SCORED, ids=lambda s: f"{s.kind}, {s.inner.kind}, {s.inner.dimension}, {type(s.inner.field).__name__}"
)
REPLACEMENTS = 400


@dataclass
class Summed:
    """Records whose inner sum is known already."""

    size: int
    integers: np.ndarray

    def total(self, kernel):
        return self.integers.copy()


def _records(statistic, size, seed=0):
    inner = statistic.inner
    special = neighbours.around(inner.threshold, 0.99 * inner.threshold)
    return neighbours.records(inner.field.view, special, size, np.random.default_rng(seed))


def _value(statistic, X, y):
    return statistic.evaluate(Selection(engines.open(X, y), WHOLE))


def _base(own):
    """Return the sum of some records that is far from 0 in every coordinate, so that magnitudes move freely."""
    return 3 * own[np.argmax(own.sum(axis=1))] + 2 * own[np.argmin(np.abs(own).sum(axis=1))]


@ALL
def test_no_replacement_exceeds_the_sensitivity_and_some_come_near(statistic):
    X, y = _records(statistic, REPLACEMENTS)
    own = neighbours.contributions(statistic.inner, X, y)
    base = _base(own)
    values = np.stack([statistic.evaluate(Summed(6, base + one)) for one in own])
    assert values.dtype == np.int64
    assert values.shape[1] == statistic.dimension
    for norm in statistic.norms:
        sensitivity = statistic.sensitivity(norm)
        ratios = np.stack(list(neighbours.changes(values, norm))) / sensitivity
        assert ratios.size >= 10_000
        for a, b in zip(*np.unravel_index(np.argsort(ratios, axis=None)[-25:], ratios.shape), strict=True):
            assert neighbours.within(values[b] - values[a], norm, sensitivity)
        assert ratios.max() <= 1 + 1e-12
        # A truncated gradient hardly ever comes near its threshold in all coordinates at once.
        assert ratios.max() >= (0.9 if norm == "linf" else 0.6)


@ALL
def test_replacing_a_record_of_a_data_set_moves_the_value_within_the_sensitivity(statistic):
    X, y = _records(statistic, 30, seed=1)
    before = _value(statistic, X[:7], y[:7])
    for replacement in range(7, 30):
        rows = [*range(6), replacement]
        change = _value(statistic, X[rows], y[rows]) - before
        for norm in statistic.norms:
            assert neighbours.within(change, norm, statistic.sensitivity(norm))


@ALL
def test_order_does_not_matter_and_no_integer_overflows(statistic):
    X, y = _records(statistic, 40, seed=2)
    shuffle = np.random.default_rng(3).permutation(len(X))
    np.testing.assert_array_equal(_value(statistic, X[shuffle], y[shuffle]), _value(statistic, X, y))
    largest = np.full(statistic.inner.dimension, 2 ** (62 - statistic.bits + statistic.inner.bits))
    for sign in (-1, 1):
        exact = statistic.evaluate(Summed(2 ** (62 - statistic.bits), sign * largest))
        assert np.abs(exact).max() <= 2**62 + 2**61
        steps = _exactly(statistic, [sign * int(entry) for entry in largest])
        assert [int(entry) for entry in exact] == steps


def _exactly(statistic, total):
    """The same function in Python's own integers."""
    d = len(total)
    if statistic.kind == "opposed scores":
        return [-g for g in total]
    if statistic.kind == "signed scores":
        return [-g for g in total] + total
    if statistic.kind == "vertex scores":
        return [-sum(int(v) * g for v, g in zip(corner, total, strict=True)) for corner in statistic._steps]
    if statistic.kind == "magnitudes":
        out = set(np.asarray(statistic.excluded).tolist())
        return [-(2**62) if j in out else abs(total[j]) for j in range(d)]
    if statistic.kind == "nearest sums":
        return [-abs(g + (0 if statistic.shift == 0.0 else -(2**61))) for g in total]
    return [g + int(step) for g, step in zip(total, statistic._steps, strict=True)]


@ALL
def test_records_that_could_overflow_are_refused_by_public_numbers(statistic):
    too_many = Summed(2 ** (62 - statistic.bits) + 1, np.zeros(statistic.inner.dimension, np.int64))
    with pytest.raises(ParameterError, match=f"{statistic.bits} bits could overflow a sum over {too_many.size}"):
        statistic.evaluate(too_many)


@ALL
def test_a_plan_accepts_the_statistic_and_no_other(statistic):
    kind = statistic_type(statistic.kind)
    assert kind is type(statistic)
    sensitivity = kind.sensitivity_of("linf", statistic.dimension, statistic.bits)
    assert statistic.sensitivity("linf") == sensitivity == 2.0 * 2**statistic.bits
    step = Step("picks", statistic.kind, statistic.dimension, statistic.bits, 1, sensitivity, TopK(1), 2.0)
    _check(statistic, step)
    with pytest.raises(LedgerError):
        _check(statistic, dataclasses.replace(step, dimension=statistic.dimension + 1))
    if len(kind.norms) == 1:
        with pytest.raises(ParameterError, match="norm"):
            statistic.sensitivity("l2")


@ALL
def test_statistics_are_frozen_and_travel(statistic):
    X, y = _records(statistic, 5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        statistic.inner = None
    again = pickle.loads(pickle.dumps(statistic))
    np.testing.assert_array_equal(_value(again, X, y), _value(statistic, X, y))
    again = pickle.loads(pickle.dumps(statistic.kernel()))
    np.testing.assert_array_equal(again(X, y), statistic.inner.kernel()(X, y))


def test_the_suite_can_fail():
    """Twice the scores, or vertices rounded to the nearest step, move by more than is declared."""

    class Doubled(Signed):
        def _of(self, total):
            return 2 * super()._of(total)

    inner = SCORED[0].inner
    moved = [Doubled(inner).evaluate(Summed(1, np.array([s * 2**inner.bits]))) for s in (-1, 1)]
    assert not neighbours.within(moved[1] - moved[0], "linf", Doubled(inner).sensitivity("linf"))

    d = 300
    row = np.full(d, 1.6)  # of 65536 steps, 218.45 each: 219 each would be too long
    steps = np.rint(row / row.sum() * 2**16 + 0.1)
    assert steps.sum() > 2**16
    assert Vertices(_wide(inner, d), [row])._steps.sum() <= 2**16


def _wide(inner, d):
    from tailguard.statistics import Rows, View

    return dataclasses.replace(inner, field=Rows(View(d)))
