"""Sparse records stay sparse, and what the kernels rely on is looked up rather than believed."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse

from tailguard.engines import WHOLE, Block
from tailguard.engines.sparse import SparseEngine
from tailguard.errors import DataError
from tailguard.losses import Squared
from tailguard.statistics import Clipped, Gradient, Rows, Truncated, View
from tailguard.statistics.kernels import MAX_ROWS
from tailguard.statistics.sparse_rows import SparseRows
from tests.support import neighbours
from tests.support.registry_statistics import CASES

BLOCKS = [WHOLE, Block(0, 3), Block(2, 3), Block(1, 500)]


def _stored(X, rng, share=0.2):
    """A CSR array with a share of the entries of X, explicit zeros among them, and some rows that are full."""
    mask = rng.random(X.shape) < np.where(rng.random((len(X), 1)) < 0.1, 1.0, share)
    X = np.where(mask, X, 0.0)
    indptr = np.concatenate([[0], np.cumsum(mask.sum(axis=1))])
    return scipy.sparse.csr_array((X[mask], np.nonzero(mask)[1], indptr), shape=X.shape), X


def _kinds(engine, block=WHOLE):
    return [engine._load(piece)[0] for piece in engine._pieces(block)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.statistic.kind}, {case.name}")
def test_every_statistic_has_the_integers_of_an_array(case):
    rng = np.random.default_rng(4)
    records, y = neighbours.records(case.view, case.special, 150, rng)
    stored, X = _stored(records, rng)
    kernel = case.statistic.kernel()
    for chunk_bytes in (1, 777, 2**22):
        engine = SparseEngine(stored, y, threads=2, chunk_bytes=chunk_bytes)
        for block in BLOCKS:
            rows = block.rows(len(X))
            np.testing.assert_array_equal(engine.map_sum(kernel, block), kernel(X[rows], y[rows]))


def test_chunks_are_sparse_where_it_pays_and_hold_a_number_of_entries():
    rng = np.random.default_rng(0)
    stored, _ = _stored(rng.standard_normal((300, 40)), rng, 0.1)
    engine = SparseEngine(stored, chunk_bytes=16 * 100)
    for block in BLOCKS:
        chunks = _kinds(engine, block)
        assert sum(len(chunk) for chunk in chunks) == block.size(300)
        for chunk in chunks:
            entries = np.count_nonzero(chunk if isinstance(chunk, np.ndarray) else chunk.dense())
            assert entries <= 100
            assert isinstance(chunk, SparseRows) == (entries <= 0.25 * 40 * len(chunk))
    whole = _kinds(engine)
    assert {type(chunk) for chunk in whole} == {SparseRows, np.ndarray}
    assert sum(len(chunk) > 10 for chunk in whole) > 10


def test_no_chunk_has_more_rows_than_a_kernel_may_see():
    empty = scipy.sparse.csr_array((3 * MAX_ROWS, 5))
    assert [len(chunk) for chunk in _kinds(SparseEngine(empty))] == [MAX_ROWS] * 3
    np.testing.assert_array_equal(SparseEngine(empty).map_sum(Truncated(Rows(View(5)), 1.0, 30).kernel()), np.zeros(5))


@pytest.mark.parametrize("flag", ["has_canonical_format", "has_sorted_indices"])
def test_stale_flags_are_not_believed(flag):
    """One column of a row, stored many times, would be measured as shorter than what is added."""
    stored = scipy.sparse.csr_array((np.ones(50), np.zeros(50, np.int32), np.array([0, 50, 50])), shape=(2, 3))
    stored.has_canonical_format = True
    setattr(stored, flag, True)
    engine = SparseEngine(stored)
    statistic = Clipped(Rows(View(3)), 1.0, 30)
    total = engine.map_sum(statistic.kernel())
    np.testing.assert_array_equal(total, statistic.kernel()(np.array([[50.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), None))
    assert np.linalg.norm(total) <= 2.0**30
    assert stored.nnz == 50  # the user's matrix is as it was


def test_unsorted_columns_are_sorted_in_a_copy():
    rng = np.random.default_rng(1)
    stored, X = _stored(rng.standard_normal((60, 30)), rng)
    turned = scipy.sparse.csr_array((stored.data.copy(), stored.indices.copy(), stored.indptr.copy()), shape=X.shape)
    for i in range(60):
        row = slice(turned.indptr[i], turned.indptr[i + 1])
        turned.indices[row], turned.data[row] = turned.indices[row][::-1].copy(), turned.data[row][::-1].copy()
    before = turned.indices.copy()
    kernel = Clipped(Gradient(View(30), Squared(), np.linspace(-1.0, 1.0, 30)), 1.0, 40).kernel()
    y = rng.standard_normal(60)
    np.testing.assert_array_equal(SparseEngine(turned, y).map_sum(kernel), kernel(X, y))
    np.testing.assert_array_equal(turned.indices, before)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("indices", [0, 3, 1]),
        ("indices", [0, -1, 1]),
        ("indptr", [0, 2, 4]),
        ("indptr", [0, 4, 3]),
        ("indptr", [0, 3]),
        ("indptr", [-1, 2, 3]),
        ("data", [1.0, 2.0]),
    ],
)
def test_indices_that_lead_out_of_the_arrays_are_refused(name, value):
    stored = scipy.sparse.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    setattr(stored, name, np.array(value, dtype=getattr(stored, name).dtype))
    with pytest.raises(DataError, match="indices lie within its shape"):
        SparseEngine(stored)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8, np.uint16, bool, np.longdouble])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_all_formats_and_real_dtypes(dtype, kind):
    X = np.where(np.arange(80).reshape(8, 10) % 7 == 0, np.arange(80).reshape(8, 10) % 5, 0).astype(dtype)
    stored = getattr(scipy.sparse, f"{kind}_array")(X)
    engine = SparseEngine(stored, X[:, 0])
    np.testing.assert_array_equal(engine.gather(Block(1, 3))[0], X[Block(1, 3).rows(8)].astype(float))
    kernel = Truncated(Rows(View(10)), 9.0, 30).kernel()
    np.testing.assert_array_equal(engine.map_sum(kernel), kernel(X.astype(float), None))


def test_long_indices_and_read_only_memory():
    stored = scipy.sparse.csr_array(np.eye(6))
    for name in ("data", "indices", "indptr"):
        array = getattr(stored, name).astype(np.int64 if name != "data" else np.float64)
        array.flags.writeable = False
        setattr(stored, name, array)
    chunk = _kinds(SparseEngine(stored))[0]
    assert chunk.indices.dtype == np.int32
    assert np.shares_memory(chunk.data, stored.data)


WIDE = """
import resource
import numpy as np
import scipy.sparse
from tailguard.engines.sparse import SparseEngine
from tailguard.losses import Squared
from tailguard.statistics import Clipped, Columns, Gradient, Norm, Octaves, View

def passes(n, d, cells):
    field = Gradient(View(d, intercept=True), Squared(), np.zeros(d + 1))
    far = Clipped(field, 1e6, 40)
    rng = np.random.default_rng(2)
    columns = (np.arange(20) * (d // 20) + rng.integers(d // 20, size=(n, 20))).astype(np.int32)
    indptr = np.arange(0, n * 20 + 1, 20)
    X = scipy.sparse.csr_array((rng.standard_normal(n * 20), columns.ravel(), indptr), shape=(n, d))
    y = rng.standard_normal(n)
    engine = SparseEngine(X, y, threads=1)
    assert np.allclose(engine.map_sum(far.kernel())[:-1] * far.unit, -(X.T @ y), atol=1e-5)
    assert engine.map_sum(Octaves(Norm(field), -20, 20, 2, 40).kernel()).sum() == n << 40
    assert engine.map_sum(Octaves(Columns(View(d)), 0, cells, 1, 20).kernel()).sum() == n * d << 20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

print(-passes(100, 400, 2) + passes(20_000, 500_000, 10))
"""


def test_half_a_million_columns_in_little_memory():
    """In a process of its own, whose largest size tells: 80 GB as an array, 40 MB in the histogram of the columns."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", WIDE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 200  # MB
