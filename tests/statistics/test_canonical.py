"""Sparse matrices row by row: how one record is stored changes no other."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import tailguard as tg
from tailguard import engines
from tailguard.errors import DataError
from tailguard.statistics.canonical import canonical

N, STORED = 60, 40

FORMATS = {
    "CSR": lambda row, column, data, shape: sp.csr_array((data, column, _offsets(row, shape[0])), shape=shape),
    "CSR matrix": lambda row, column, data, shape: sp.csr_matrix((data, column, _offsets(row, shape[0])), shape=shape),
    "CSC": lambda row, column, data, shape: _csc(row, column, data, shape),
    "COO": lambda row, column, data, shape: sp.coo_array((data, (row, column)), shape=shape),
    "COO matrix": lambda row, column, data, shape: sp.coo_matrix((data, (row, column)), shape=shape),
    "BSR": lambda row, column, data, shape: sp.bsr_array(
        (data.reshape(-1, 1, 1), column, _offsets(row, shape[0])), shape=shape
    ),
}


def _offsets(row, n):
    return np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))])


def _csc(row, column, data, shape):
    order = np.argsort(column, kind="stable")
    return sp.csc_array((data[order], row[order], _offsets(column, shape[1])), shape=shape)


def _stored(rng, *, unsorted):
    """Rows with columns in ascending order, each several times; or the first one in another order."""
    column = np.sort(rng.integers(0, 5, (N, STORED)), axis=1)
    data = rng.standard_normal((N, STORED)) * 10.0 ** rng.uniform(-3, 3, (N, STORED))
    data[1:, 0], data[1:, 1] = 1e300, -1e300
    if unsorted:
        column[0] = column[0, ::-1].copy()
    return np.repeat(np.arange(N), STORED), column.ravel(), data.ravel()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", range(5))
def test_a_record_that_is_not_sorted_moves_no_other(name, seed):
    tables = []
    for unsorted in (False, True):
        row, column, data = _stored(np.random.default_rng(seed), unsorted=unsorted)
        tables.append(engines.open(FORMATS[name](row, column, data, (N, 5))).gather()[0])
    np.testing.assert_array_equal(tables[0][1:], tables[1][1:])


@pytest.mark.parametrize("name", FORMATS)
def test_entries_are_added_in_the_order_in_which_they_stand(name):
    row, column, data = _stored(np.random.default_rng(3), unsorted=True)
    expected = np.zeros((N, 5))
    for i, j, value in zip(row, column, data, strict=True):
        expected[i, j] += value
    indptr, indices, sums = canonical(FORMATS[name](row, column, data, (N, 5)))
    np.testing.assert_array_equal(sp.csr_array((sums, indices, indptr), shape=(N, 5)).toarray(), expected)
    assert all(np.all(np.diff(indices[a:b]) > 0) for a, b in pairwise(indptr))


def test_one_order_may_cancel_and_the_audit_sees_no_difference():
    n = 400
    column, data = np.tile([0] * 18 + [1, 2], (n, 1)), np.zeros((n, 20))
    data[1:, :3], data[1:, 18:] = (1e300, -1e300, 5.0), 1.0
    tables = []
    for first in (column[0].copy(), [2, 1] + [0] * 18):
        column[0] = first
        tables.append(sp.csr_array((data.ravel(), column.ravel(), np.arange(n + 1) * 20), shape=(n, 3)))
    assert tg.audit.replay(tg.Mean(epsilon=8.0), (tables[0],), (tables[1],)).holds


def test_types_stay_as_they_are_without_entries_given_twice():
    kept = sp.csr_array(np.array([[0, 3], [1, 0]], dtype=np.int8))
    assert canonical(kept)[2].dtype == np.int8
    twice = sp.coo_array((np.array([True, True]), ([0, 0], [1, 1])), shape=(1, 2))
    np.testing.assert_array_equal(canonical(twice)[2], [1.0])
    big = sp.coo_array((np.array([127, 127], np.int8), ([0, 0], [1, 1])), shape=(1, 2))
    np.testing.assert_array_equal(canonical(big)[2], [254.0])


@pytest.mark.parametrize("place", [(2, 0), (0, 2)])
def test_indices_outside_are_refused(place):
    X = sp.coo_array((np.array([1.0, 1.0]), ([0, 1], [0, 1])), shape=(2, 2))
    X.row[0], X.col[0] = place
    with pytest.raises(DataError, match="within its shape"):
        canonical(X)


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_model_predicts_of_a_row_does_not_depend_on_how_another_is_stored(name):
    from sklearn.linear_model import LinearRegression

    from tailguard.estimators.answers import answers

    rng = np.random.default_rng(2)
    model = LinearRegression().fit(rng.standard_normal((30, 5)), rng.standard_normal(30))
    found = []
    for unsorted in (False, True):
        row, column, data = _stored(np.random.default_rng(1), unsorted=unsorted)
        found.append(answers(model, FORMATS[name](row, column, data, (N, 5)), model.predict)[0])
    np.testing.assert_array_equal(found[0][1:], found[1][1:])
