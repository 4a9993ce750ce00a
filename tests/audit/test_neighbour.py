"""A neighbour without a copy is the same data set as a copy with the record replaced."""

import numpy as np
import pytest
from scipy import sparse

import tailguard as tg
from tailguard import engines
from tailguard.audit import Neighbour, replay_plan
from tailguard.engines.partition import WHOLE, Block
from tailguard.statistics import Clipped, Rows, View, passes

N, D = 3000, 3
RNG = np.random.default_rng(4)
X, Y = RNG.standard_t(3, size=(N, D)), RNG.standard_t(3, N)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("row", [0, 1234, N - 1])
def test_it_is_the_copy(form, row):
    other, target = X.copy(), Y.copy()
    other[row], target[row] = 7.5, -2.0
    copy, neighbour = engines.open(other, target), Neighbour(engines.open(form(X), Y), row, 7.5, -2.0)
    kernel = Clipped(Rows(View(D)), 2.0, 20).kernel()
    for block in (WHOLE, *(Block(index, 7) for index in range(7))):
        assert np.array_equal(neighbour.map_sum(kernel, block), copy.map_sum(kernel, block))
        for one, two in zip(neighbour.gather(block), copy.gather(block), strict=True):
            assert np.array_equal(one, two)
    chunks = [(passes.dense(rows), y) for rows, y in neighbour.chunks()]
    assert np.array_equal(np.concatenate([rows for rows, _ in chunks]), other)
    assert np.array_equal(np.concatenate([y for _, y in chunks]), target)


def test_replays_agree_with_those_of_copies():
    other = X.copy()
    other[5] = np.nan
    plan, data = tg.Mean(epsilon=2.0).plan(N, D), engines.open(X)
    assert replay_plan(plan, data, Neighbour(data, 5, np.nan)) == replay_plan(plan, data, engines.open(other))


@pytest.mark.parametrize("row", [-1, N, 1.5])
def test_a_row_must_be_there(row):
    with pytest.raises(tg.ParameterError, match="'row' parameter of Neighbour"):
        Neighbour(engines.open(X), row, 0.0)
