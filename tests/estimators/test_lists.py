"""Records as Python lists: no number in a cell, and no missing one, decides whether a fit goes through."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tailguard as tg
from tailguard.estimators.labels import zero_one
from tailguard.estimators.records import numbers, vector

N = 400
CELLS = {"large": 2**70, "huge": 10**400, "missing": None, "no number": Decimal("sNaN"), "fraction": 0.5}


@pytest.mark.parametrize("cell", CELLS.values(), ids=CELLS.keys())
def test_no_cell_of_a_list_is_refused(cell):
    rows, y = [[k % 7] for k in range(N)], [k % 5 for k in range(N)]
    rows[3], y[4] = [cell], cell
    domain, budget = tg.domains.L2Ball(1, 1.0), tg.Privacy(1e3, 1e-6)
    release = tg.minimize(tg.losses.Squared(), domain, (rows, y), budget, random_state=0)
    assert np.all(np.isfinite(release.estimate.coefficients))
    model = tg.LinearRegression(epsilon=1e3, random_state=0).fit(rows, y)
    assert np.all(np.isfinite(model.coef_))


def test_a_column_may_be_called_dtype():
    frame = pd.DataFrame({"dtype": np.arange(N) % 7.0})
    assert tg.Mean(epsilon=1e3, random_state=0).fit(frame).feature_names_in_.tolist() == ["dtype"]


class _NoArray:
    def __array__(self, *_, **__):
        raise KeyError("a record")


class _Endless:
    def __float__(self):
        raise OverflowError("a record")


ODD = {
    "list": [2.0],
    "empty list": [],
    "tuple": (1, 2),
    "array": np.arange(3.0),
    "range": range(3),
    "series": pd.Series([1, 2]),
    "dictionary": {},
    "no array": _NoArray(),
    "too large, and of no sign": _Endless(),
}


@pytest.mark.parametrize("cell", ODD.values(), ids=ODD.keys())
def test_a_cell_that_is_no_cell_is_missing(cell):
    """NumPy takes a list in a cell for a table of another shape, and asks strange objects what they are."""
    rows, y, labels = [[k % 7, 1.0] for k in range(N)], [k % 5 for k in range(N)], [k % 2 for k in range(N)]
    missing, without = [list(row) for row in rows], [float(number) for number in y]
    missing[3][0], without[4] = np.nan, np.nan
    rows[3][0], y[4], labels[4] = cell, [[]] if isinstance(cell, list) else cell, cell
    models = [
        tg.LinearRegression(epsilon=1e3, random_state=0).fit(*records) for records in ((rows, y), (missing, without))
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert np.all(np.isfinite(tg.LogisticRegression(epsilon=1e3, random_state=0).fit(rows, labels).coef_))
    assert np.isnan(tg.PublicOneHotEncoder({}).transform(rows)[3, 0])


def test_a_list_of_one_entry_is_that_entry_in_every_record_by_itself():
    y = [k % 5 for k in range(N)]
    columns = [y, [[number] for number in y], [*y[:-1], [y[-1]]], [*([number] for number in y[:-1]), y[-1]]]
    X = [[k % 7] for k in range(N)]
    fits = [tg.LinearRegression(epsilon=1e3, random_state=0).fit(X, column).coef_ for column in columns]
    assert np.all(np.array(fits) == fits[0])


def test_a_row_that_cannot_be_read_is_a_row_of_another_length():
    class Row:
        def __iter__(self):
            raise KeyError("a record")

    with pytest.raises(tg.errors.DataError, match="rows of equal length"):
        tg.Mean().fit([[1.0], Row()])


def test_a_signalling_nan_among_labels_does_not_warn():
    labels = (np.arange(N) % 2).astype(np.float32)
    labels.view(np.uint32)[3] = 0x7F800001
    assert np.isnan(zero_one(labels, np.array([0, 1]))[3])


MASKED = {
    "target": lambda X, y: tg.LinearRegression().fit(X, y),
    "labels": lambda X, y: tg.LogisticRegression().fit(X, y > 0),
    "objects": lambda X, y: tg.LinearRegression().fit(X, y.astype(object)),
    "rows of objects": lambda _, y: tg.Mean().fit(y[:, np.newaxis].astype(object)),
    "encoder": lambda _, y: tg.PublicOneHotEncoder({}).fit_transform(y[:, np.newaxis]),
    "evaluation": lambda X, y: tg.evaluate(([1.0], 0.0), X, y),
}


@pytest.mark.parametrize("act", MASKED.values(), ids=MASKED.keys())
def test_what_is_masked_is_not_used(act):
    """The numbers behind a mask are those that must not be looked at."""
    with pytest.raises(tg.errors.DataError, match="must not be a masked array"):
        act(np.ones((N, 1)), np.ma.masked_array(np.arange(N) % 3, np.arange(N) == 5))


def test_tables_of_lists_are_refused():
    with pytest.raises(tg.errors.DataError, match="its cells must not be lists"):
        tg.Mean().fit([[[1.0], [2.0]], [[3.0], [4.0]]])
    for rows in (["12", "34"], [{"a": 1.0}, {"a": 2.0}], [1.0, 2.0]):
        with pytest.raises(tg.errors.DataError, match="must have two dimensions"):
            tg.Mean().fit(rows)
    with pytest.raises(tg.errors.DataError, match="one entry a record"):
        tg.LinearRegression().fit([[1.0], [2.0]], [[1.0, 2.0], [3.0]])


def test_one_long_string_does_not_multiply_the_memory_of_a_list():
    """In an array of text every cell has the width of the longest: a terabyte here, and an error that says so."""
    rows = [[0.0]] * 300_000
    rows[7] = ["x" * 1_000_000]
    assert np.isnan(numbers(rows, "X")[7, 0])
    labels = [0, 1] * 150_000
    labels[7] = rows[7][0]
    assert vector(None, labels)[6] == 0
    words = pl.Series(["no", "yes"] * 150_000).scatter(7, rows[7][0])
    assert vector(None, words)[6] == "no"
    assert np.isnan(tg.PublicOneHotEncoder({}).transform(words.to_frame("word"))).all()


@pytest.mark.parametrize("cell", [10**30, "a word", None, Decimal("NaN"), pd.NA, [1]], ids=str)
def test_one_cell_that_makes_objects_of_a_pandas_column_is_a_missing_cell(cell):
    frame = pd.DataFrame({"x": np.arange(N) % 7.0, "y": np.arange(N) % 5.0}).astype(object)
    frame.iat[3, 0] = frame.iat[4, 1] = cell
    model = tg.LinearRegression(epsilon=1e3, random_state=0)
    by_name, by_column = model.fit(frame, "y").coef_, model.fit(frame[["x"]], frame["y"]).coef_
    np.testing.assert_array_equal(by_name, by_column)
    plain = frame.map(lambda cell: float(cell) if isinstance(cell, int | float) else np.nan).astype(float)
    np.testing.assert_array_equal(by_name, model.fit(plain, "y").coef_)
    assert model.predict(frame[["x"]]).shape == (N,)


@pytest.mark.parametrize("usual", [None, np.nan, pd.NA, "a word"], ids=str)
def test_whether_one_record_has_a_number_in_a_pandas_column_of_objects_does_not_show(usual):
    frame = pd.DataFrame({"x": np.arange(N) % 7.0, "rare": pd.Series([usual] * N, dtype=object)})
    other = frame.copy()
    other.loc[3, "rare"] = 1.0
    for one in (frame, other):
        model = tg.LinearRegression(epsilon=1e3, random_state=0)
        assert model.fit(one, frame["x"]).coef_.shape == (2,)
        assert model.fit(one, "rare").coef_.shape == (1,)
        assert model.fit(frame[["x"]], one["rare"]).coef_.shape == (1,)


def test_pandas_columns_of_text_are_refused_by_their_type():
    frame = pd.DataFrame({"x": np.arange(4.0), "word": pd.Series(["a", "b", None, "c"], dtype="string")})
    for records in ((frame, frame["x"]), (frame[["x"]], frame["word"]), (frame, "word")):
        with pytest.raises(tg.errors.DataError, match="must hold real numbers or booleans"):
            tg.LinearRegression().fit(*records)


LARGE = {
    "pandas": lambda cells: pd.Series(cells, dtype="Int64"),
    "pandas with Arrow": lambda cells: pd.Series(cells, dtype="int64[pyarrow]"),
    "pandas categories": lambda cells: pd.Series(pd.array(cells, dtype="Int64")).astype("category"),
    "polars": lambda cells: pl.Series(cells, dtype=pl.Int64),
    "Arrow": lambda cells: pa.chunked_array([pa.array(cells, pa.int64())]),
}


@pytest.mark.parametrize("column", LARGE.values(), ids=LARGE.keys())
def test_a_missing_label_rounds_no_other(column):
    """Beside a missing integer all others became floats, and labels beyond 2⁵³ met."""
    classes = np.array([2**53, 2**53 + 1])
    labels = classes[np.arange(10) % 2].tolist()
    whole, missing = (zero_one(vector(None, column(cells)), classes) for cells in (labels, [*labels[:-1], None]))
    np.testing.assert_array_equal(whole[:-1], missing[:-1])
    assert np.isnan(missing[-1])


def test_a_wide_float_that_overflows_does_not_warn_in_the_encoder():
    X = np.ones((3, 1), np.longdouble)
    X[1] = np.finfo(np.longdouble).max
    assert np.isinf(tg.PublicOneHotEncoder({}).transform(X)[1, 0]) or X.dtype == np.float64
