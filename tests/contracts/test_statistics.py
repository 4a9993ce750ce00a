"""What every statistic must do: bound the change that any record can make, exactly, and not loosely."""

import dataclasses
import pickle

import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.statistics import Statistic, base, grid_bits, statistic_type
from tailguard.statistics.improvement import Duel
from tests.support import neighbours
from tests.support.registry_grouped import GROUPED
from tests.support.registry_joint import JOINT
from tests.support.registry_minimisers import MINIMISERS
from tests.support.registry_nets import NETS
from tests.support.registry_ranks import RANKED
from tests.support.registry_scores import SCORED
from tests.support.registry_statistics import CASES, PLAIN

ALL = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.statistic.kind}, {case.name}")


def _records(case, size, seed=0):
    return neighbours.records(case.view, case.special, size, np.random.default_rng(seed))


def _size(case):
    """So many records that all pairs of them are over ten thousand, more where a contribution is short."""
    return 400 if case.statistic.dimension <= 100 else 120


def test_every_statistic_is_in_the_registry():
    known = {kind for kind in base._kinds.values() if kind.__module__.startswith("tailguard.")}  # not those of tests
    sums = {type(case.statistic) for case in CASES}
    assert sums | {type(statistic) for statistic in (*GROUPED, *SCORED, *RANKED, *NETS, *MINIMISERS, *JOINT)} == known


@ALL
def test_no_replacement_exceeds_the_sensitivity_and_some_come_near(case):
    X, y = _records(case, _size(case))
    own = neighbours.contributions(case.statistic, X, y)
    for norm in case.statistic.norms:
        sensitivity = case.statistic.sensitivity(norm)
        ratios = np.stack(list(neighbours.changes(own, norm))) / sensitivity
        assert ratios.size >= 10_000
        assert ratios.max() <= 1 + 1e-12
        for a, b in zip(*np.unravel_index(np.argsort(ratios, axis=None)[-25:], ratios.shape), strict=True):
            assert neighbours.within(own[b] - own[a], norm, sensitivity)
        assert ratios.max() >= case.tight


@ALL
@pytest.mark.parametrize("n", [1, 2, 5])
def test_replacing_a_record_of_a_data_set_changes_the_sum_by_the_two_contributions(case, n):
    kernel = case.statistic.kernel()
    X, y = _records(case, 20 + n, seed=n)
    X[2 % n] = X[0]  # a duplicate, or the record itself
    y[2 % n] = y[0]
    before = kernel(X[:n], y[:n])
    own = neighbours.contributions(case.statistic, X, y)
    for replacement in range(n, n + 20):
        X_after, y_after = X[:n].copy(), y[:n].copy()
        X_after[-1], y_after[-1] = X[replacement], y[replacement]
        change = kernel(X_after, y_after) - before
        np.testing.assert_array_equal(change, own[replacement] - own[n - 1])
        for norm in case.statistic.norms:
            assert neighbours.within(change, norm, case.statistic.sensitivity(norm))


@ALL
def test_sums_do_not_depend_on_chunks_order_or_memory_layout(case):
    kernel = case.statistic.kernel()
    X, y = _records(case, 150, seed=3)
    whole = kernel(X, y)
    assert whole.dtype == np.int64
    assert whole.shape == (case.statistic.dimension,)
    shuffle = np.random.default_rng(4).permutation(len(X))
    np.testing.assert_array_equal(kernel(X[shuffle], y[shuffle]), whole)
    np.testing.assert_array_equal(kernel(np.asfortranarray(X), y), whole)
    for cut in (1, 7, 149):
        np.testing.assert_array_equal(kernel(X[:cut], y[:cut]) + kernel(X[cut:], y[cut:]), whole)
    X.flags.writeable = y.flags.writeable = False
    np.testing.assert_array_equal(kernel(X, y), whole)


@ALL
def test_a_record_that_is_no_number_contributes_nothing(case):
    X = np.full((3, case.view.dimension_in), np.nan)
    if not np.any(np.isinf(1.0 if case.view.scale is None else case.view.scale)):
        change = case.statistic.kernel()(X, np.full(3, np.nan))
        constant = _constant_coordinates(case.statistic)
        assert not np.any(np.delete(change - 3 * _neutral(case.statistic), constant))


def _neutral(statistic):
    """What a record contributes that says nothing: its lean in a duel, so that it is for neither model."""
    duel = isinstance(getattr(statistic, "field", None), Duel)
    return np.rint(statistic.field.lean * np.array([-1.0, 1.0]) / statistic.unit).astype(int) if duel else 0


def _constant_coordinates(statistic):
    """Coordinates that see a column of ones only, which no coordinatewise statistic takes from a record."""
    view = getattr(getattr(statistic, "field", None) or getattr(statistic, "scalars", None), "view", None)
    intercept = view is not None and view.intercept and type(statistic).__name__ in ("Clamped", "Truncated")
    return [statistic.dimension - 1] if intercept else []


@ALL
def test_sensitivity_is_a_function_of_public_facts(case):
    statistic = case.statistic
    kind = statistic_type(statistic.kind)
    assert kind is type(statistic)
    for norm in ("l1", "l2", "linf"):
        if norm in kind.norms:
            declared = kind.sensitivity_of(norm, statistic.dimension, statistic.bits, statistic.parts)
            assert statistic.sensitivity(norm) == declared
            assert declared <= kind.sensitivity_of(norm, statistic.dimension, statistic.bits)
        else:
            with pytest.raises(ParameterError, match="norm"):
                statistic.sensitivity(norm)


@ALL
def test_statistics_are_frozen_and_travel(case):
    X, y = _records(case, 5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.statistic.bits = 3
    if not case.name.startswith("custom"):  # a user's function may be anything
        again = pickle.loads(pickle.dumps(case.statistic.kernel()))
        np.testing.assert_array_equal(again(X, y), case.statistic.kernel()(X, y))


@ALL
def test_an_empty_chunk_sums_to_zero(case):
    total = case.statistic.kernel()(np.empty((0, case.view.dimension_in)), np.empty(0))
    np.testing.assert_array_equal(total, np.zeros(case.statistic.dimension))


def test_the_records_catch_a_clip_that_trusts_floating_point():
    """The suite can fail: the textbook formula min(1, C/‖v‖), in plain floats, is found out."""
    unit = 2.0**-30

    def textbook(X, y):
        with np.errstate(all="ignore"):
            norm = np.abs(y) * np.sqrt(np.square(X).sum(axis=1))
            weight = y * np.minimum(1.0, 1.0 / norm) / unit
            return np.nan_to_num(np.rint(weight[:, np.newaxis] * X), posinf=0.0, neginf=0.0).sum(axis=0)

    X, y = neighbours.records(PLAIN[3], (), 400, np.random.default_rng(0))
    largest = max(np.abs(textbook(X[i : i + 1], y[i : i + 1])).max() for i in range(400))
    assert largest > 2 / unit


@pytest.mark.parametrize(("n", "bits"), [(1, 40), (2**22, 40), (2**22 + 1, 39), (10**9, 32), (2**61, 1)])
def test_grid_bits_leave_room_for_every_sum(n, bits):
    assert grid_bits(n) == bits
    assert n * 2 ** grid_bits(n) <= 2**62


def test_unknown_kinds_are_refused():
    with pytest.raises(ParameterError, match="one of 'Catoni sum', 'Gram matrix', 'capped sum'"):
        statistic_type("anything")
    assert issubclass(statistic_type("clipped sum"), Statistic)
