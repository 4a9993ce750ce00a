"""All engines move the same records: bit-identical sums, however the records are stored, cut and shared out."""

import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from tailguard import engines
from tailguard.engines import WHOLE, Block
from tailguard.engines.arrow_file import ArrowFileEngine
from tailguard.engines.columns import ColumnEngine
from tailguard.engines.numpy import NumpyEngine
from tailguard.engines.parquet import ParquetEngine
from tailguard.engines.sparse import SparseEngine
from tests.support import neighbours
from tests.support.registry_statistics import CASES, FULL

N = 120
BLOCKS = [WHOLE, Block(0, 3), Block(2, 3), Block(1, 500)]
ONE_PER_KIND = list({case.statistic.kind: case for case in CASES if case.view is FULL}.values())


def _sparse_with_duplicates(X):
    """Each entry as two of them that add up to it exactly; all of them stored, so that −0 and NaN survive."""
    row, column = np.indices(X.shape).reshape(2, -1)
    values = np.concatenate([X.ravel(), np.zeros(X.size)])
    index = (np.tile(row, 2), np.tile(column, 2))
    return scipy.sparse.coo_array((values, index), shape=X.shape)


def _parquet(X, y, folder, threads, chunk_bytes):
    names = [f"x{j}" for j in range(X.shape[1])]
    path = folder / "records.parquet"
    columns = dict(zip(["y", *names], [y, *X.T], strict=True))
    pq.write_table(pa.table(columns), path, row_group_size=37)
    return ParquetEngine(path, target="y", threads=threads, chunk_bytes=chunk_bytes)


def _arrow(X, y, folder, threads, chunk_bytes):
    path = folder / "records.feather"
    names = [f"x{j}" for j in range(X.shape[1])]
    columns = dict(zip(["y", *names, "text"], [y, *X.T, ["?"] * len(X)], strict=True))
    feather.write_feather(pa.table(columns), path, chunksize=37, compression="lz4" if threads == 1 else "uncompressed")
    return ArrowFileEngine(path, target="y", features=names, threads=threads, chunk_bytes=chunk_bytes)


MAKERS = {
    "C order": lambda X, y, _, **how: NumpyEngine(X, y, **how),
    "F order": lambda X, y, _, **how: NumpyEngine(np.asfortranarray(X), y, **how),
    "columns": lambda X, y, _, **how: ColumnEngine(list(np.asfortranarray(X).T), y, **how),
    "CSR": lambda X, y, _, **how: SparseEngine(_sparse_with_duplicates(X).tocsr(), y, **how),
    "CSC": lambda X, y, _, **how: SparseEngine(_sparse_with_duplicates(X).tocsc(), y, **how),
    "COO": lambda X, y, _, **how: SparseEngine(_sparse_with_duplicates(X), y, **how),
    "Parquet": lambda X, y, folder, **how: _parquet(X, y, folder, **how),
    "Arrow": lambda X, y, folder, **how: _arrow(X, y, folder, **how),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("chunk_bytes", [1, 1000, 2**21])
@pytest.mark.parametrize("maker", MAKERS)
def test_all_engines_give_the_same_integers(maker, chunk_bytes, threads, tmp_path):
    assert len(ONE_PER_KIND) >= 7
    for case in ONE_PER_KIND:
        X, y = neighbours.records(case.view, case.special, N, np.random.default_rng(1))
        engine = MAKERS[maker](X, y, tmp_path, threads=threads, chunk_bytes=chunk_bytes)
        for block in BLOCKS:
            rows = block.rows(N)
            expected = case.statistic.kernel()(X[rows], y[rows])
            np.testing.assert_array_equal(engine.map_sum(case.statistic.kernel(), block), expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.statistic.kind}, {case.name}")
def test_every_statistic_on_the_engines_at_large(case, tmp_path):
    X, y = neighbours.records(case.view, case.special, 80, np.random.default_rng(2))
    kernel = case.statistic.kernel()
    expected = kernel(X, y)
    order = np.random.default_rng(3).permutation(80)
    for maker in ("F order", "columns", "COO", "Parquet", "Arrow"):
        engine = MAKERS[maker](X[order], y[order], tmp_path, threads=2, chunk_bytes=777)
        np.testing.assert_array_equal(engine.map_sum(kernel), expected)


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("block", BLOCKS)
def test_gather_returns_the_rows_of_a_block_in_order(maker, block, tmp_path):
    X, y = neighbours.records(FULL, (), N, np.random.default_rng(1))
    gathered = MAKERS[maker](X, y, tmp_path, threads=2, chunk_bytes=1000).gather(block)
    np.testing.assert_array_equal(gathered[0], X[block.rows(N)])
    np.testing.assert_array_equal(gathered[1], y[block.rows(N)])
    assert gathered[0].dtype == gathered[1].dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int8, np.uint16, bool, np.longdouble])
def test_real_dtypes(dtype):
    X = (np.arange(12).reshape(4, 3) % 5).astype(dtype)
    X.flags.writeable = False
    for stored in (X, np.asfortranarray(X)):
        made = NumpyEngine(stored, X[:, 0]).gather()
        np.testing.assert_array_equal(made[0], X.astype(float))
        np.testing.assert_array_equal(made[1], X[:, 0].astype(float))


def test_engines_copy_nothing_that_needs_no_copy():
    X = np.ones((100, 2))
    NumpyEngine(X, threads=1, chunk_bytes=500).map_sum(_shares(X))


def _shares(X):
    def kernel(chunk, y):
        assert chunk.size == 0 or np.shares_memory(chunk, X)
        return np.zeros(1, np.int64)

    return kernel


def test_threads_really_share_the_work():
    calls, threads, all_here = [], set(), threading.Barrier(4, timeout=60)

    def kernel(X, y):
        calls.append(len(X))
        if threading.get_ident() not in threads:
            threads.add(threading.get_ident())
            all_here.wait()  # no thread goes on before four of them have a chunk
        return np.array([len(X)])

    assert NumpyEngine(np.zeros((1000, 1)), threads=4, chunk_bytes=80).map_sum(kernel) == [1000]
    assert len(threads) == 4
    assert calls == [10] * 100


def test_an_error_in_a_thread_comes_through():
    def kernel(X, y):
        return np.array([1 // (len(X) - 7)])

    with pytest.raises(ZeroDivisionError):
        NumpyEngine(np.zeros((1007, 1)), threads=4, chunk_bytes=80).map_sum(kernel)


@pytest.mark.parametrize("kind", ["Parquet", "one row group", "Arrow"])
def test_a_pass_takes_no_more_memory_for_more_rows(kind, tmp_path):
    """What Arrow allocates while all batches go by: that of a file four times as large is not much more."""

    def peak(n):
        table, path = pa.table({f"x{j}": np.random.default_rng(0).random(n) for j in range(2)}), tmp_path / f"{n}"
        if kind == "Arrow":
            feather.write_feather(table, path, chunksize=50_000)
        else:
            pq.write_table(table, path, row_group_size=n if kind == "one row group" else 50_000)
        del table
        engine = (ArrowFileEngine if kind == "Arrow" else ParquetEngine)(path, chunk_bytes=2**19, threads=1)
        before = pa.total_allocated_bytes()
        return max(pa.total_allocated_bytes() - before for _ in engine._pieces(WHOLE))

    small, large = peak(200_000), peak(800_000)
    assert large < small + 2**21 < 800_000 * 8 * 2


def test_parquet_never_holds_the_whole_file(tmp_path):
    path = tmp_path / "large.parquet"
    with pq.ParquetWriter(path, pa.schema([("a", pa.float64()), ("b", pa.float64())])) as writer:
        for start in range(0, 200_000, 20_000):
            numbers = np.arange(start, start + 20_000, dtype=float)
            writer.write_table(pa.table({"a": numbers, "b": -numbers}))
    engine = ParquetEngine(path, features=["b"], target="a", chunk_bytes=2**13, threads=2)
    longest = []

    def kernel(X, y):
        longest.append(len(X))
        return np.array([X.sum() + y.sum(), len(X)], np.int64)

    np.testing.assert_array_equal(engine.map_sum(kernel), [0, 200_000])
    assert max(longest) == 1024
    assert (engine.n, engine.d, engine.names, engine.has_target) == (200_000, 1, ("b",), True)


X_TABLE = np.array([[1.0, 0.0, 3.0], [np.nan, 1.0, 2.0**60], [2.5, 1.0, 7.0]])
Y_TABLE = np.array([1.0, np.nan, 0.0])


def _tables():
    integers = [3, 2**60, 7]
    frame = pd.DataFrame({"a": [1.0, np.nan, 2.5], "b": [False, True, True], "c": integers})
    frame["y"] = pd.array([1, None, 0], dtype="Int64")
    arrow = pa.table(
        {
            "a": pa.chunked_array([[1.0, None], [2.5]]),
            "b": pa.array([False, True, True]),
            "c": pa.array(integers),
            "y": pa.array([1, None, 0]),
        }
    )
    nullable = frame.convert_dtypes(dtype_backend="pyarrow")
    return {
        "pandas": frame,
        "pandas on Arrow": nullable,
        "polars": pl.from_arrow(arrow),
        "Arrow": arrow,
        "record batch": arrow.combine_chunks().to_batches()[0],
    }


@pytest.mark.parametrize("name", list(_tables()))
def test_tables(name, tmp_path):
    table = _tables()[name]
    engine = engines.open(table, target="y")
    X, y = engine.gather()
    np.testing.assert_array_equal(X, X_TABLE)
    np.testing.assert_array_equal(y, Y_TABLE)
    assert (engine.n, engine.d, engine.names) == (3, 3, ("a", "b", "c"))
    chosen = engines.open(table, table["y"], features=["c", "a"])
    np.testing.assert_array_equal(chosen.gather()[0], X_TABLE[:, [2, 0]])
    np.testing.assert_array_equal(chosen.gather()[1], Y_TABLE)


def test_parquet_with_nulls_booleans_and_decimals(tmp_path):
    from decimal import Decimal

    table = _tables()["Arrow"].append_column("z", pa.array([Decimal("1.5"), None, Decimal("-2.25")]))
    pq.write_table(table, tmp_path / "t.parquet")
    X, y = engines.open(str(tmp_path / "t.parquet"), target="y").gather()
    np.testing.assert_array_equal(X, np.column_stack([X_TABLE, [1.5, np.nan, -2.25]]))
    np.testing.assert_array_equal(y, Y_TABLE)
