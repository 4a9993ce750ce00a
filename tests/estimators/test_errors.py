"""Every error is one sentence about a parameter, a shape, a type or a budget, and never shows a value of the data."""

import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import tailguard as tg
from tailguard.engines.numpy import NumpyEngine
from tailguard.errors import BudgetError, DataError, ParameterError, TailguardError
from tests.support.sentences import sentence

SECRET, MARK = "s3cr3t-value", 123456.789
SHOWN = (SECRET, "123456.7", "123456,7", "1.2345678", "1.23456789e")
N = 50
X = np.full((N, 2), MARK)
Y = np.full(N, MARK)
WORDS = np.full((N, 2), SECRET)
FRAME = pd.DataFrame(X, columns=["a", "b"])

RECORDS = {
    "strings": WORDS,
    "ragged": [[MARK], [MARK, MARK]],
    "complex": X * 1j,
    "dates": np.full((N, 2), np.datetime64("2021-03-04")),
    "masked": np.ma.masked_array(X, X > 0),
    "structured": np.array([(MARK, MARK)] * N, dtype=[("a", float), ("b", float)]),
    "one dimension": X[:, 0],
    "a number": MARK,
    "three dimensions": X[None],
    "no rows": X[:0],
    "no columns": X[:, :0],
    "nothing": None,
    "a dictionary": {SECRET: [MARK]},
    "a series": pd.Series(Y),
    "a polars series": pl.Series(Y),
    "a frame of strings": pd.DataFrame(WORDS, columns=["a", "b"]),
    "a polars frame of strings": pl.DataFrame({"a": [SECRET] * N}),
    "an Arrow table of strings": pa.table({"a": [SECRET] * N}),
    "a frame of lists": pl.DataFrame({"a": [[MARK]] * N}),
    "categories": pd.DataFrame({"a": pd.Categorical([SECRET] * N)}),
    "two columns of one name": pd.DataFrame(X, columns=["a", "a"]),
    "sparse in one dimension": sparse.coo_array(Y),
    "no file": "/nowhere/at/all.parquet",
}
TARGETS = {
    "None": None,
    "too short": Y[:-1],
    "too long": np.append(Y, MARK),
    "two columns": np.column_stack([Y, Y]),
    "a number": MARK,
    "ragged": [[MARK], [MARK, MARK]] * (N // 2),
    "sparse": sparse.csr_array(Y[:, None]),
    "no such column": "c",
}
CELLS = {
    "strings in a list": WORDS.tolist(),
    "one string": [[MARK, SECRET]] * N,
    "string objects": WORDS.astype(object),
    "bytes": np.full((N, 2), SECRET.encode(), dtype=object),
    "dictionaries": np.array([[{SECRET: MARK}] * 2] * N, dtype=object),
}
NUMBERLESS = {
    "strings": WORDS[:, 0],
    "a series of strings": pd.Series(WORDS[:, 0]),
    "a polars series of strings": pl.Series([SECRET] * N),
    "an Arrow array of strings": pa.array([SECRET] * N),
    "complex": Y * 1j,
    "dates": np.full(N, np.datetime64("2021-03-04")),
}


def _refusal(act, kinds=(TailguardError,)):
    """Return the text of the one sentence that is raised; its whole traceback must show no value."""
    with pytest.raises(kinds) as caught:
        act()
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    for secret in SHOWN:
        assert secret not in shown
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


MODELS = [tg.Mean, tg.LinearRegression, tg.LogisticRegression]
each = pytest.mark.parametrize("make", MODELS)


@each
@pytest.mark.parametrize("records", RECORDS.values(), ids=RECORDS.keys())
def test_wrong_records(make, records):
    _refusal(lambda: make(epsilon=1e6, random_state=0).fit(records, None if make is tg.Mean else np.zeros(N)))


@each
@pytest.mark.parametrize("records", CELLS.values(), ids=CELLS.keys())
def test_a_cell_that_is_no_number_is_missing_and_says_nothing(make, records):
    """The type of a column is public, that of a single Python object is not: no error may tell of it."""
    cells = np.array([[x if isinstance(x, float) else np.nan for x in row] for row in np.asarray(records, object)])
    y = None if make is tg.Mean else np.zeros(N)
    one, other = (make(epsilon=1e6, random_state=0).fit(given, y) for given in (records, cells.astype(float)))
    for name in ("mean_", "coef_"):
        np.testing.assert_array_equal(getattr(one, name, 0.0), getattr(other, name, 0.0))


@pytest.mark.parametrize("make", MODELS[1:])
@pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS.keys())
def test_wrong_targets(make, y):
    records = FRAME if isinstance(y, str) else X
    _refusal(lambda: make(epsilon=1e6, random_state=0).fit(records, y))


@pytest.mark.parametrize("y", NUMBERLESS.values(), ids=NUMBERLESS.keys())
def test_targets_that_are_no_numbers(y):
    _refusal(lambda: tg.LinearRegression(epsilon=1e6, random_state=0).fit(X, y))


@each
def test_files_that_hold_no_numbers(make, tmp_path):
    words, text = tmp_path / "words.parquet", tmp_path / "text.parquet"
    pq.write_table(pa.table({"a": [SECRET] * N, "b": Y}), words)
    text.write_text(f"{SECRET},{MARK}")
    for path in (words, text, tmp_path):
        _refusal(lambda path=path: make(epsilon=1e6).fit(path, *([] if make is tg.Mean else ["b"])))


def test_a_file_takes_the_name_of_its_target(tmp_path):
    path = tmp_path / "records.parquet"
    pq.write_table(pa.table({"a": Y, "b": Y}), path)
    for make in MODELS[1:]:
        message = _refusal(lambda make=make: make(epsilon=1e6).fit(path, Y))
        assert message == "y must be the name of a column where X is a file."


@pytest.mark.parametrize("make", MODELS[1:])
@pytest.mark.parametrize("records", [WORDS, X[:, :1], X[0], None, [[MARK], [MARK, MARK]]], ids=str)
def test_wrong_rows_to_predict(make, records):
    model = make(epsilon=1e6, random_state=0).fit(np.zeros((N, 2)), np.zeros(N))
    _refusal(lambda: model.predict(records), (ValueError,))


PARAMETERS = [
    ("epsilon", 0.0, "Privacy", "a finite number greater than 0"),
    ("epsilon", -1.0, "Privacy", "a finite number greater than 0"),
    ("epsilon", float("nan"), "Privacy", "a finite number greater than 0"),
    ("epsilon", float("inf"), "Privacy", "a finite number greater than 0"),
    ("epsilon", "1", "Privacy", "a finite number greater than 0"),
    ("epsilon", None, "Privacy", "a finite number greater than 0"),
    ("epsilon", True, "Privacy", "a finite number greater than 0"),
    ("delta", 1.0, "Privacy", "a finite number at least 0 and less than 1"),
    ("delta", -1e-9, "Privacy", "a finite number at least 0 and less than 1"),
    ("random_state", -1, "a simulation", "an integer of at least 0"),
    ("random_state", 0.5, "a simulation", "an integer of at least 0"),
    ("numerics", "fast", "make_randomness", "one of 'exact', 'float'"),
    ("domain", "ball", None, "a Domain or None"),
    ("moment", 2.0, None, "a Moment or None"),
]


@each
@pytest.mark.parametrize(("name", "value", "owner", "rule"), PARAMETERS)
def test_wrong_parameters(make, name, value, owner, rule):
    model = make(**{"epsilon": 1e6, name: value})
    message = _refusal(lambda: model.fit(X, np.zeros(N)), (ParameterError,))
    assert message.startswith(f"The '{name}' parameter of {owner or make.__name__} must be {rule}. Got ")
    assert message.endswith(" instead.")


@each
@pytest.mark.parametrize("name", ["method", "parameters"])
def test_unknown_names(make, name):
    message = _refusal(lambda: make(epsilon=1e6, **{name: "magic"}).fit(X, np.zeros(N)), (ParameterError,))
    assert f"The '{name}' parameter of" in message
    assert "one of" in message


@pytest.mark.parametrize("make", MODELS[1:])
@pytest.mark.parametrize(("name", "value"), [("fit_intercept", "yes"), ("fit_intercept", None), ("smoothness", -1.0)])
def test_wrong_parameters_of_regressions(make, name, value):
    message = _refusal(lambda: make(epsilon=1e6, **{name: value}).fit(X, np.zeros(N)), (ParameterError,))
    assert f"The '{name}' parameter of" in message


@pytest.mark.parametrize("classes", [(0, 1, 1), (1, 1), (0,), 5, "ab", ((0, 1), 2), None], ids=str)
def test_wrong_classes(classes):
    model = tg.LogisticRegression(epsilon=1e6, classes=classes)
    rule = sentence("classes", "LogisticRegression", "a sequence of two or more different labels")
    with pytest.raises(ParameterError, match=rule):
        model.fit(X, np.zeros(N))


def test_domain_and_radius_exclude_each_other():
    model = tg.Mean(epsilon=1e6, domain=tg.domains.L2Ball(2, 1.0), radius=1.0)
    with pytest.raises(ParameterError, match="The 'radius' parameter of Mean must be None where a domain is given"):
        model.fit(X)
    with pytest.raises(ParameterError, match="The 'domain' parameter of Problem must be of dimension d = 2"):
        tg.Mean(epsilon=1e6, domain=tg.domains.L2Ball(3, 1.0)).fit(X)


@each
def test_an_impossible_budget_is_refused_before_the_records_are_read(make, monkeypatch):
    monkeypatch.setattr(NumpyEngine, "_load", lambda *_: pytest.fail("a record was read"))
    message = _refusal(lambda: make(epsilon=0.1).fit(X, np.zeros(N)), (BudgetError,))
    assert message.startswith(f"{make.__name__} (n_samples = 50): ")
    assert "it needs about" in message


@each
@pytest.mark.parametrize(("n", "d"), [(0, 3), (3, 0), (-1, 3), (2.5, 3), ("9", 3), (None, 3)])
def test_plans_need_public_sizes(make, n, d):
    with pytest.raises(ParameterError, match=r"parameter of plan must be an integer of at least 1"):
        make().plan(n, d)


def test_errors_are_of_the_kinds_that_callers_expect():
    assert issubclass(DataError, ValueError)
