"""Signed quantiles by distances in ranks."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from tailguard import engines
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.errors import ParameterError
from tailguard.statistics import Columns, Halves, Octaves, SignedRanks, Target, View


def signed(values, level=0.5, *, low=-20, high=20, substeps=16, prior=0.0):
    """Return the statistic of a target, and its entries."""
    statistic = SignedRanks(Octaves(Halves(Target(View(1))), low, high, substeps, 20), level, len(values), prior)
    engine = engines.open(np.zeros((len(values), 1)), np.asarray(values, dtype=float))
    return statistic, statistic.evaluate(Selection(engine, WHOLE))


@pytest.mark.parametrize("shift", [-100.0, -0.5, 0.0, 0.01, 3.0, 5000.0])
@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_the_best_entry_is_the_cell_of_the_quantile(shift, level):
    values = np.random.default_rng(1).standard_t(3, 4001) + shift
    statistic, scores = signed(values, level)
    found = statistic.points[int(np.argmax(scores[:-1]))]
    assert scores.max() == 0
    assert found == pytest.approx(np.quantile(values, level), rel=2 ** (1 / 16) - 1 + 1e-2, abs=1e-2)


def test_entries_are_distances_in_ranks():
    values = [-7.0, -7.0, -2.0, 0.0, 0.0, 1e-30, 3.0, 3.0, 3.0, 100.0]
    statistic, scores = signed(values)
    zero, three = (int(np.argmin(np.abs(statistic.points - value))) for value in (0.0, 3.0))
    assert scores[zero] == 0
    assert scores[three] / 2.0**20 == -1
    assert scores[0] / 2.0**20 == -5
    assert np.count_nonzero(scores[:-1] == 0) == 1
    assert len(scores) == statistic.dimension == len(statistic.points) + 1


def test_a_median_that_many_records_share_stands_out():
    _, scores = signed(np.concatenate([np.zeros(60), np.full(40, 5.0)]))
    assert np.sort(scores)[-2] <= -(10 << 20)


@pytest.mark.parametrize("prior", [1.0, 36.5, 100.0])
def test_every_cell_but_the_one_of_zeros_loses_the_prior(prior):
    values = np.random.default_rng(2).normal(3.0, 4.0, 100)
    (statistic, plain), (_, scores) = signed(values), signed(values, prior=prior)
    losses = (plain - scores) / 2.0**20
    zero = int(np.argmin(np.abs(statistic.points)))
    assert losses[zero] == 0.0 == losses[-1]
    assert np.all(np.delete(losses[:-1], zero) == prior)


def test_numbers_on_both_sides_of_zero_have_their_median_there_and_others_do_not():
    rng = np.random.default_rng(3)
    for shift, expected in ((0.5, 0.0), (5.0, 5.0), (-300.0, -300.0)):
        statistic, scores = signed(rng.normal(shift, 1.0, 1000), prior=360.0)
        assert statistic.points[int(np.argmax(scores[:-1]))] == pytest.approx(expected, rel=0.05)


def test_missing_values_count_for_nothing_and_without_numbers_there_is_no_quantile():
    statistic, scores = signed(np.concatenate([np.full(50, np.nan), np.full(50, -4.0)]))
    assert statistic.points[int(np.argmax(scores))] == pytest.approx(-4.0, rel=0.05)
    _, scores = signed(np.full(100, np.nan))
    assert int(np.argmax(scores)) == len(scores) - 1
    assert scores[-1] - np.sort(scores)[-2] >= (12 << 20)


def test_sparse_records_give_the_entries_of_dense_ones():
    X = np.random.default_rng(0).standard_normal((200, 3)) * (np.random.default_rng(1).random((200, 3)) < 0.4)
    statistic = SignedRanks(Octaves(Halves(Columns(View(3, columns=[1]))), -20, 20, 2, 20), 0.5, 200)
    dense, light = (statistic.evaluate(Selection(engines.open(x), WHOLE)) for x in (X, sparse.csr_array(X)))
    np.testing.assert_array_equal(dense, light)


def test_parameters_are_checked():
    inner = Octaves(Halves(Target(View(1))), -3, 3, 2, 20)
    for wrong in (
        dataclasses.replace(inner, bits=9),
        dataclasses.replace(inner, low=2, high=3, substeps=1),
        Octaves(Columns(View(2)), -3, 3, 2, 20),
    ):
        with pytest.raises(ParameterError, match="parameter of SignedRanks"):
            SignedRanks(wrong, 0.5, 10)
    for prior in (-1.0, 11.0, np.nan):
        with pytest.raises(ParameterError, match="'prior' parameter of SignedRanks"):
            SignedRanks(inner, 0.5, 10, prior)
    with pytest.raises(ParameterError, match="parameter of Halves"):
        Halves(Columns(View(2)))
    large = SignedRanks(dataclasses.replace(inner, bits=40), 0.5, 2**30)
    with pytest.raises(ParameterError, match="overflow"):
        large.evaluate(Selection(engines.open(np.zeros((2, 1)), np.zeros(2)), WHOLE))
