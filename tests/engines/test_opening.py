"""What can be opened, and the one sentence about what cannot: a shape, a type, a name or a file, never a value."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from tailguard import engines
from tailguard.engines.columns import ColumnEngine
from tailguard.engines.numpy import NumpyEngine
from tailguard.engines.parquet import ParquetEngine
from tailguard.engines.sparse import SparseEngine
from tailguard.errors import DataError, ParameterError

X = np.arange(6.0).reshape(3, 2)
Y = np.array([0, 1, 1])
FRAME = pd.DataFrame(X, columns=["a", "b"])
SECRET = "4711"


@pytest.fixture
def path(tmp_path):
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "s": [SECRET] * 3}), tmp_path / "x.parquet")
    return tmp_path / "x.parquet"


@pytest.mark.parametrize(
    ("records", "kind"),
    [
        (X, NumpyEngine),
        (X.tolist(), NumpyEngine),
        (scipy.sparse.csr_matrix(X), SparseEngine),
        (scipy.sparse.dia_array(X), SparseEngine),
        (FRAME, ColumnEngine),
        (pl.DataFrame(X), ColumnEngine),
        (pa.table({"a": X[:, 0], "b": X[:, 1]}), ColumnEngine),
    ],
)
@pytest.mark.parametrize("y", [None, Y, Y.tolist(), Y == 1, Y[:, np.newaxis], pd.Series(Y), pl.Series(Y), pa.array(Y)])
def test_what_can_be_opened(records, kind, y):
    engine = engines.open(records, y)
    assert type(engine) is kind
    assert (engine.n, engine.d, engine.has_target) == (3, 2, y is not None)
    made = engine.gather()
    np.testing.assert_array_equal(made[0], X)
    if y is not None:
        np.testing.assert_array_equal(made[1], Y)


def test_a_path_can_be_opened(path):
    for name in (path, str(path)):
        engine = engines.open(name, features=["b"], target="a")
        assert type(engine) is ParquetEngine
        np.testing.assert_array_equal(engine.gather()[0], X[:, [1]])


def _strings():
    return [["1", "2"], [SECRET, "4"], ["5", "6"]]


def _refused():
    not_numbers = "Column 'word' must hold real numbers or booleans."
    text = pd.DataFrame({"a": [1.0, 2.0, 3.0], "word": [SECRET, "u", "v"]})
    twice = pd.DataFrame(X, columns=["a", "a"])
    return {
        "three dimensions": ((np.zeros((2, 2, 2)),), "X must have two dimensions, rows and features, not 3."),
        "one dimension": ((np.zeros(3),), "X must have two dimensions, rows and features, not 1."),
        "no rows": ((np.zeros((0, 2)),), "The records must have at least one row and one feature, not 0 and 2."),
        "no features": ((np.zeros((2, 0)),), "The records must have at least one row and one feature, not 2 and 0."),
        "ragged": (([[1.0, 2.0], [3.0]],), "X must be a table of numbers with rows of equal length."),
        "strings": ((_strings(),), "X must hold real numbers or booleans."),
        "objects": ((X.astype(object),), "X must hold real numbers or booleans."),
        "complex": ((X.astype(complex),), "X must hold real numbers or booleans."),
        "dates": ((X.astype("M8[s]"),), "X must hold real numbers or booleans."),
        "masked": ((np.ma.masked_array(X, X > 2),), "X must not be a masked array: missing values are NaN."),
        "short y": ((X, Y[:2]), "X has 3 rows and y has 2."),
        "wide y": ((X, X), "y must have one dimension."),
        "y of strings": ((X, [SECRET, "1", "0"]), "y must hold real numbers or booleans."),
        "pandas y of strings": ((X, pd.Series([SECRET, "1", "0"])), "Column 'y' must hold real numbers or booleans."),
        "polars y of strings": ((X, pl.Series([SECRET, "1", "0"])), "Column 'y' must hold real numbers or booleans."),
        "sparse objects": ((scipy.sparse.coo_array(X.astype(complex)),), "X must hold real numbers or booleans."),
        "sparse vector": (
            (scipy.sparse.coo_array(X[0]),),
            "X must have two dimensions, rows and features, not 1.",
        ),
        "sparse and short y": ((scipy.sparse.csr_array(X), Y[:1]), "X has 3 rows and y has 1."),
        "pandas words": ((text,), not_numbers),
        "pandas categories": (
            (text.astype({"word": "category"}),),
            not_numbers,
        ),
        "polars words": ((pl.DataFrame(text.to_dict("list")),), not_numbers),
        "polars objects": (
            (pl.DataFrame({"a": [1.0], "word": pl.Series([object()], dtype=pl.Object)}),),
            not_numbers,
        ),
        "Arrow words": (
            (pa.table({"a": [1.0], "word": [SECRET]}),),
            not_numbers,
        ),
        "two of a name": ((twice,), "There are 2 columns 'a'; there must be one."),
        "empty frame": ((pd.DataFrame(),), "The records must have at least one feature."),
        "no rows in a frame": (
            (FRAME.iloc[:0],),
            "The records must have at least one row and one feature, not 0 and 2.",
        ),
        "frame and short y": ((FRAME, Y[:2]), "X has 3 rows and y has 2."),
        "no file": (("nowhere.parquet",), "There is no file 'nowhere.parquet'."),
    }


@pytest.mark.parametrize("name", _refused())
def test_what_cannot_be_opened(name):
    arguments, message = _refused()[name]
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        engines.open(*arguments)


def test_columns_that_are_not_there(path):
    for table in (FRAME, pl.DataFrame(FRAME.to_dict("list")), path):
        for wish in ({"target": "c"}, {"features": ["a", "c"]}):
            with pytest.raises(DataError, match=r"^There is no column 'c' among 'a', "):
                engines.open(table, **wish)


def test_columns_that_are_asked_for_twice(path):
    for table in (FRAME, pl.DataFrame(FRAME.to_dict("list")), pa.table(FRAME.to_dict("list")), path):
        with pytest.raises(DataError, match=r"^Column 'a' is asked for more than once\.$"):
            engines.open(table, features=["a", "b", "a"])
        with pytest.raises(DataError, match=r"^Column 'b' is the target, and cannot be a feature too\.$"):
            engines.open(table, target="b", features=["a", "b"])


def test_the_names_of_wide_tables_are_not_all_listed():
    wide = pd.DataFrame(np.zeros((2, 20)), columns=[f"x{k}" for k in range(20)])
    with pytest.raises(DataError, match=r"'x6', 'x7', …\.$"):
        engines.open(wide, target="y")


def test_files_that_cannot_be_opened(path, tmp_path):
    with pytest.raises(DataError, match=r"^Column 's' must hold real numbers or booleans\.$"):
        engines.open(path)
    other = tmp_path / "x.csv"
    other.write_text(f"a,b\n{SECRET},2\n")
    with pytest.raises(DataError, match=r"x\.csv' is not a Parquet file\.$") as caught:
        engines.open(other)
    assert SECRET not in str(caught.value)
    with pytest.raises(DataError, match="There is no file"):
        engines.open(tmp_path)
    pq.write_table(pa.table({"a": np.zeros(0)}), tmp_path / "empty.parquet")
    with pytest.raises(DataError, match="at least one row"):
        engines.open(tmp_path / "empty.parquet")


def test_contradictory_wishes():
    with pytest.raises(ParameterError, match="The 'y' parameter of open must be None where 'target' names a column"):
        engines.open(FRAME, Y, target="a")
    with pytest.raises(ParameterError, match="The 'y' parameter of open must be None where X is a file"):
        engines.open(Path("x.parquet"), Y)
    with pytest.raises(ParameterError, match="The 'X' parameter of open must be a table or a file"):
        engines.open(X, target="a")


@pytest.mark.parametrize("how", [{"threads": 0}, {"chunk_bytes": 0}])
def test_engine_parameters(how):
    with pytest.raises(ParameterError, match="parameter of NumpyEngine must be"):
        NumpyEngine(X, **how)


def test_columns_of_different_length_are_refused():
    with pytest.raises(DataError, match="same number of rows"):
        ColumnEngine([np.zeros(3), np.zeros(2)])


def test_opening_reads_no_value():
    """A matrix of signalling values that would raise or warn if touched opens in silence, and so does a huge one."""
    huge = np.lib.stride_tricks.as_strided(np.array([np.nan]), shape=(10**9, 1000), strides=(0, 0))
    engine = engines.open(huge)
    assert (engine.n, engine.d) == (10**9, 1000)


def test_a_single_column_is_no_table():

    for column in (pd.Series([1.0, 2.0]), pl.Series([1.0, 2.0])):
        with pytest.raises(DataError, match="not a single column"):
            engines.open(column)
