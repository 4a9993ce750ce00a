"""Cells that Python cannot read: no error, no warning, no other row, and nothing said about them."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tailguard as tg
from tailguard.estimators.answers import answers
from tailguard.estimators.cells import array_of, column_cells
from tailguard.estimators.labels import zero_one
from tailguard.estimators.records import vector

CLASSES = np.array(["no", "yes"])


@pytest.fixture(autouse=True)
def _strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def _text(third):
    """Arrow text whose third cell holds these bytes."""
    cells = pa.array([b"yes", b"no", third, b"yes"], pa.binary())
    return pa.Array.from_buffers(pa.string(), 4, cells.buffers())


TEXTS = {
    "arrow": lambda column: column,
    "chunked": lambda column: pa.chunked_array([column[:2], column[2:]]),
    "codes": lambda column: pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), column[:3]),
    "pandas": lambda column: pd.Series(column, dtype=pd.ArrowDtype(pa.string())),
    "pandas str": lambda column: pa.table({"y": column}).to_pandas()["y"],
    "pandas category": lambda column: pa.table(
        {"y": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), column[:3])}
    ).to_pandas()["y"],
}


@pytest.mark.parametrize("third", [b"other", b"secret\xff", b"\xc3"])
@pytest.mark.parametrize("form", TEXTS)
def test_text_that_is_no_text_is_another_label(form, third):
    try:
        y = TEXTS[form](_text(third))
    except (pa.ArrowException, UnicodeDecodeError):
        pytest.skip("this library refuses to hold it")
    model = tg.LogisticRegression(classes=("no", "yes"))
    found = zero_one(vector(model, y, CLASSES), CLASSES)
    np.testing.assert_array_equal(found, [1.0, 0.0, np.nan, 1.0])
    assert np.array_equal(column_cells(y)[[0, 1, 3]], ["yes", "no", "yes"])


def test_an_encoder_takes_text_that_is_no_text():
    encoder = tg.PublicOneHotEncoder({"a": ["yes", "no"]})
    for third in (b"other", b"secret\xff"):
        table = pa.table({"a": _text(third), "b": [1.0, 2.0, 3.0, 4.0]})
        expected = [[1, 0, 1], [0, 1, 2], [0, 0, 3], [1, 0, 4]]
        np.testing.assert_array_equal(encoder.fit_transform(table), expected)
        through = tg.PublicOneHotEncoder({}).fit_transform(table)
        np.testing.assert_array_equal(through[:, 0], [np.nan] * 4)


@pytest.mark.parametrize("code", [3, -5, 100, 2**40])
def test_a_code_that_no_dictionary_has_is_missing(code):
    codes = pa.array([0, 1, code, 0], pa.int64())
    y = pa.DictionaryArray.from_arrays(codes, pa.array(["yes", "no", "maybe"]), safe=False)
    assert column_cells(y).tolist() == ["yes", "no", None, "yes"]
    assert array_of(pa.chunked_array([y, y])).tolist() == ["yes", "no", None, "yes"] * 2


DAYS = [18262, 18263, 10**9]  # the last one is in the year 2 739 877


@pytest.mark.parametrize("library", ["arrow", "pandas", "polars"])
@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("s"), pa.timestamp("us"), pa.date64()])
def test_dates_that_python_does_not_have_are_missing(library, kind):
    width = np.int32 if kind == pa.date32() else np.int64
    unit = {pa.date64(): 86_400_000, pa.timestamp("s"): 86_400, pa.timestamp("us"): 86_400_000_000}.get(kind, 1)
    column = pa.array(np.array(DAYS, width) * width(unit)).view(kind)
    known = column[:2].to_pylist()
    if library == "pandas":
        column = pd.Series(column, dtype=pd.ArrowDtype(kind))
    elif library == "polars":
        column = pl.from_arrow(column) if pa.types.is_date32(kind) or pa.types.is_timestamp(kind) else None
    if column is None:
        pytest.skip("polars has no such type")
    assert column_cells(column).tolist() == [*known, None]
    found = zero_one(vector(tg.LogisticRegression(), column, np.array(known, object)), np.array(known, object))
    np.testing.assert_array_equal(found, [0.0, 1.0, np.nan])


def test_a_signalling_nan_is_a_missing_value():
    numbers = np.ones(4, np.float32)
    numbers.view(np.uint32)[2] = 0x7F800001
    frame = pa.table({"a": numbers, "b": np.ones(4)}).to_pandas(types_mapper=pd.ArrowDtype)
    with np.errstate(all="raise"):
        found = tg.engines.open(frame).gather()[0]
    np.testing.assert_array_equal(found[:, 0], [1.0, 1.0, np.nan, 1.0])


def test_a_row_that_alone_has_another_shape_has_no_answer():
    rows = [[1.0, 2.0], [[1.0], [2.0]], [3.0, 4.0]]

    def ask(part):
        return np.asarray(tg.PublicOneHotEncoder({}).fit_transform(part) @ [1.0, 1.0]) / np.array(
            [0.0 if isinstance(row[0], list) else 1.0 for row in part], dtype=object
        )

    values, known = answers(object(), rows, ask)
    assert known.tolist() == [True, False, True]
    assert values[0] == 3.0
    assert values[2] == 7.0


def test_days_are_labels_in_all_libraries():
    day = dt.date(2020, 1, 2)
    for column in (
        pa.array([day, None]),
        pd.Series([day, None], dtype=pd.ArrowDtype(pa.date32())),
        pl.Series([day, None]),
    ):
        assert zero_one(column_cells(column), np.array([day], object)).tolist()[0] == 0.0


def test_times_with_a_zone_are_labels_in_pandas():
    times = [dt.datetime(2020, 1, day, tzinfo=dt.UTC) for day in (1, 2)]
    kind = pa.timestamp("us", tz="UTC")
    for column in (pd.Series([*times, None]), pd.Series(pa.array([*times, None], kind), dtype=pd.ArrowDtype(kind))):
        found = zero_one(vector(tg.LogisticRegression(), column, np.array(times, object)), np.array(times, object))
        np.testing.assert_array_equal(found, [0.0, 1.0, np.nan])
