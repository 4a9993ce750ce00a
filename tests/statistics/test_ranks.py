"""Distances in ranks: they never move by more than a record, and the best of them is the quantile."""

import dataclasses

import numpy as np
import pytest

from tailguard import engines
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.errors import ParameterError
from tailguard.statistics import Columns, Octaves, Ranks, Target, View, statistic_type
from tests.support import neighbours
from tests.support.registry_ranks import RANKED, VIEW


def evaluate(statistic, X, y):
    return statistic.evaluate(Selection(engines.open(X, y), WHOLE))


@pytest.mark.parametrize(
    "statistic", RANKED, ids=lambda s: f"{type(s.inner.scalars).__name__}, {s.inner.cells}, {s.level}"
)
def test_no_replacement_moves_an_entry_by_more_than_one_record(statistic):
    rng = np.random.default_rng(3)
    special = (0.0, 1e-300, 0.2, 0.9, 1.1, 3.0, 7.9, 1e30)
    X, y = neighbours.records(VIEW, special, 60, rng)
    sensitivity, worst = statistic.sensitivity("linf"), 0.0
    assert sensitivity == statistic_type(statistic.kind).sensitivity_of("linf", statistic.dimension, statistic.bits)
    for n in (1, 3, 6):
        base, target = X[:n].copy(), y[:n].copy()
        before = evaluate(statistic, base, target)
        for k in range(60):
            base[n // 2], target[n // 2] = X[k], y[k]
            worst = max(worst, np.abs(evaluate(statistic, base, target) - before).max() / sensitivity)
    assert 0.45 <= worst <= 1.0


def ranks(values, level=0.5, *, low=-20, high=20, substeps=2):
    statistic = Ranks(Octaves(Target(View(1)), low, high, substeps, 20), level, len(values))
    scores = evaluate(statistic, np.zeros((len(values), 1)), np.asarray(values, dtype=float))
    return statistic, scores


@pytest.mark.parametrize("level", [0.25, 0.5, 0.9])
def test_the_best_entry_is_the_cell_of_the_quantile(level):
    values = np.random.default_rng(0).standard_t(3, 4001) * 7.0
    statistic, scores = ranks(values, level)
    best = int(np.argmax(scores))
    quantile = np.quantile(np.abs(values), level)
    assert scores[best] == 0
    assert (
        statistic.magnitudes[best] * 2**-0.25
        <= quantile * (1 + 1e-9)
        <= statistic.magnitudes[best] * 2**0.25 * (1 + 1e-2)
    )
    # One cell further costs the records between.
    beyond = np.count_nonzero(np.abs(values) >= statistic.magnitudes[best + 3] * 2**-0.25)
    wanted = round(level * 1024) / 1024 * 4001
    assert -scores[best + 3] / 2.0**20 == pytest.approx(4001 - beyond - wanted, abs=2)


def test_a_single_cell_that_holds_everything_stands_out():
    statistic, scores = ranks(np.full(1000, 3.0))
    best = int(np.argmax(scores))
    assert statistic.magnitudes[best] == pytest.approx(3.0, rel=0.2)
    assert np.sort(scores)[-2] <= -(500 << 20)


@pytest.mark.parametrize(("rare", "none"), [(3, 0.09), (2, 0.18), (1, 0.37)])
def test_where_few_records_count_there_is_no_quantile(rare, none):
    """Between half of 2^−rare of the records and all of it, from three quarters on the cell wins."""
    for share, found in ((none, False), (1.1 * 0.75 * 2.0**-rare, True)):
        values = np.where(np.arange(2000) < share * 2000, 5.0, 0.0)
        statistic = Ranks(Octaves(Target(View(1)), -20, 20, 2, 20), 0.5, 2000, rare)
        best = int(np.argmax(evaluate(statistic, np.zeros((2000, 1)), values)))
        assert (best < statistic.dimension - 1) == found


def test_zeros_infinities_and_missing_values_do_not_count():
    values = np.concatenate([np.zeros(500), np.full(100, np.inf), np.full(100, np.nan), np.full(300, 5.0)])
    statistic, scores = ranks(values)
    assert statistic.magnitudes[int(np.argmax(scores))] == pytest.approx(5.0, rel=0.2)


@pytest.mark.parametrize("few", [0, 10])
def test_where_hardly_a_record_counts_none_of_the_cells_is_best(few):
    _, scores = ranks(np.concatenate([np.zeros(1000 - few), np.full(few, 2.0)]))
    assert int(np.argmax(scores)) == len(scores) - 1
    assert scores[-1] - np.sort(scores)[-2] >= (100 << 20)


@pytest.mark.parametrize("gap", [np.nan, np.inf])
@pytest.mark.parametrize(("share", "most"), [(0.0, False), (0.3, False), (0.6, True), (1.0, True)])
def test_where_most_records_have_no_number_the_last_entry_is_best(gap, share, most):
    for others in (0.0, 5.0):
        values = np.where(np.arange(2000) < share * 2000, gap, others)
        statistic = Ranks(Octaves(Target(View(1)), -20, 20, 2, 20), 0.5, 2000, missing=True)
        scores = evaluate(statistic, np.zeros((2000, 1)), values)
        assert len(scores) == statistic.dimension
        assert (int(np.argmax(scores)) == statistic.dimension - 1) == most
        assert scores[-1] == (round(share * 2000) - 1000) << 20


def test_where_nothing_is_known_the_likely_cell_is_best():
    """The pull decides among cells that no record tells apart, and gives way to records."""
    inner = Octaves(Target(View(1)), -20, 20, 2, 20)
    for share, expected in ((0.0, 64.0), (0.02, 64.0), (0.9, 2.0**-10)):
        values = np.where(np.arange(2000) < share * 2000, 1.2 * 2.0**-10, 0.0)
        statistic = Ranks(inner, 0.5, 2000, 8, 64.0, 5.0)
        best = int(np.argmax(evaluate(statistic, np.zeros((2000, 1)), values)[:-1]))
        assert statistic.magnitudes[best] == pytest.approx(expected, rel=0.5)


def test_a_pull_costs_no_more_than_all_records():
    inner = Octaves(Target(View(1)), -64, 64, 2, 20)
    scores = evaluate(Ranks(inner, 0.5, 50, 3, 1e120, 50.0), np.zeros((50, 1)), np.ones(50))
    assert scores.min() >= -100 * 2**20


@pytest.mark.parametrize(("near", "pull"), [(0.0, 1.0), (np.nan, 1.0), (1e200, 1.0), (1.0, -1.0), (1.0, 11.0)])
def test_a_wrong_pull_is_refused(near, pull):
    with pytest.raises(ParameterError, match="parameter of Ranks"):
        Ranks(Octaves(Target(View(1)), -3, 3, 2, 20), 0.5, 10, 3, near, pull)


def test_parameters_are_checked():
    inner = Octaves(Target(View(1)), -3, 3, 2, 20)
    for wrong in (
        dataclasses.replace(inner, bits=9),
        dataclasses.replace(inner, low=1, high=3, substeps=1),
        Octaves(Columns(View(2)), -3, 3, 2, 20),
    ):
        with pytest.raises(ParameterError, match="parameter of Ranks"):
            Ranks(wrong, 0.5, 10)
    for level, size in ((-0.1, 10), (1.1, 10), (0.5, 0)):
        with pytest.raises(ParameterError, match="parameter of Ranks"):
            Ranks(inner, level, size)
    with pytest.raises(ParameterError, match="overflow"):
        evaluate(Ranks(dataclasses.replace(inner, bits=40), 0.5, 2**30), np.zeros((2, 1)), np.zeros(2))
