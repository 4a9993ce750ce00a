"""The same records in any container give the same model; no value of them raises or warns."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

import tailguard as tg
from tests.support.neighbours import HOSTILE

RICH = {"epsilon": 100.0, "random_state": 0}
NAMES = ["age", "income", "days"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -1.0]
X[RNG.random(X.shape) < 0.5] = 0.0  # so that sparse matrices are sparse
Y = X @ [1.0, -0.3, 2.0] + RNG.normal(size=400)
LABELS = (Y > 0.0).astype(np.int64)


def _table(target=None):
    columns = {name: X[:, j] for j, name in enumerate(NAMES)}
    return columns if target is None else {**columns, "target": target}


MATRICES = {
    "F-ordered": lambda: np.asfortranarray(X),
    "read-only": lambda: _frozen(X),
    "strided": lambda: np.repeat(X, 2, axis=0)[::2],
    "list": X.tolist,
    "objects": lambda: X.astype(object),
    "longdouble": lambda: X.astype(np.longdouble),
    "byte-swapped": lambda: X.astype(">f8"),
    "pandas": lambda: pd.DataFrame(_table()),
    "pandas, nullable": lambda: pd.DataFrame(_table()).convert_dtypes(),
    "pandas, Arrow": lambda: pd.DataFrame(_table()).astype("float64[pyarrow]"),
    "polars": lambda: pl.DataFrame(_table()),
    "arrow": lambda: pa.table(_table()),
    "arrow, chunked": lambda: pa.concat_tables([pa.table(_table()).slice(0, 7), pa.table(_table()).slice(7)]),
    "csr": lambda: sparse.csr_array(X),
    "csc": lambda: sparse.csc_matrix(X),
    "coo, doubled entries": lambda: _doubled(),
}
VECTORS = {
    "list": list,
    "pandas": pd.Series,
    "pandas, nullable": lambda y: pd.Series(y).convert_dtypes(),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow, chunked": lambda y: pa.chunked_array([y[:5], y[5:]]),
    "objects": lambda y: y.astype(object),
    "strided": lambda y: np.repeat(y, 2)[::2],
}


def _frozen(array):
    view = array.view()
    view.flags.writeable = False
    return view


def _doubled():
    rows, columns = X.nonzero()
    values = X[rows, columns]
    twice = np.concatenate([0.25 * values, 0.75 * values])
    return sparse.coo_array((twice, (np.tile(rows, 2), np.tile(columns, 2))), X.shape)


def _linear(records, y):
    return tg.LinearRegression(**RICH).fit(records, y)


def _logistic(records, y):
    return tg.LogisticRegression(**RICH).fit(records, y)


def _same(one, other):
    for name in ("coef_", "intercept_", "mean_"):
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


PLAIN = {"linear": _linear(X, Y), "logistic": _logistic(X, LABELS), "mean": tg.Mean(**RICH).fit(X)}


@pytest.mark.parametrize("make", MATRICES.values(), ids=MATRICES.keys())
def test_matrices_of_every_kind(make):
    records, untouched = make(), make()
    _same(_linear(records, Y), PLAIN["linear"])
    _same(_logistic(records, LABELS), PLAIN["logistic"])
    _same(tg.Mean(**RICH).fit(records), PLAIN["mean"])
    np.testing.assert_allclose(_linear(records, Y).predict(records), PLAIN["linear"].predict(X), rtol=1e-12, atol=1e-12)
    assert repr(records) == repr(untouched)


@pytest.mark.parametrize("make", VECTORS.values(), ids=VECTORS.keys())
def test_vectors_of_every_kind(make):
    _same(_linear(X, make(Y)), PLAIN["linear"])
    _same(_logistic(X, make(LABELS)), PLAIN["logistic"])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_target_may_be_a_column(library):
    _same(_linear(library(_table(Y)), "target"), PLAIN["linear"])
    model = _logistic(library(_table(LABELS)), "target")
    _same(model, PLAIN["logistic"])
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_array_equal(model.predict(library(_table())), PLAIN["logistic"].predict(X))


@pytest.mark.parametrize("row_group", [3, 1000])
def test_parquet_files(tmp_path, row_group):
    path = tmp_path / "records.parquet"
    pq.write_table(pa.table(_table(Y)), path, row_group_size=row_group)
    model = _linear(path, "target")
    _same(model, PLAIN["linear"])
    assert list(model.feature_names_in_) == NAMES
    np.testing.assert_array_equal(model.predict(str(path)), PLAIN["linear"].predict(X))
    pq.write_table(pa.table(_table(LABELS)), path)
    _same(_logistic(str(path), "target"), PLAIN["logistic"])
    pq.write_table(pa.table(_table()), path)
    _same(tg.Mean(**RICH).fit(path), PLAIN["mean"])


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_narrow_floats_are_taken_at_their_value(dtype):
    narrow, target = X.astype(dtype), Y.astype(dtype)
    _same(_linear(narrow, target), _linear(narrow.astype(float), target.astype(float)))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, bool])
def test_whole_numbers_and_booleans(dtype):
    counts = np.abs(np.rint(X)).astype(dtype)
    _same(tg.Mean(**RICH).fit(counts), tg.Mean(**RICH).fit(counts.astype(float)))


def test_a_column_vector_is_flattened_with_a_warning():
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array was expected"):
        _same(_linear(X, Y[:, None]), PLAIN["linear"])
    with pytest.warns(DataConversionWarning):
        _same(_logistic(X, pd.DataFrame({"y": LABELS})), PLAIN["logistic"])


def test_feature_names_are_kept_and_compared():
    frame = pd.DataFrame(_table())
    model = _linear(frame, Y)
    assert list(model.feature_names_in_) == NAMES
    assert model.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[NAMES[::-1]])
    with pytest.raises(ValueError, match="X has 2 features, but LinearRegression is expecting 3 features"):
        _linear(X, Y).predict(X[:, :2])


def test_names_that_are_no_strings_are_no_names():
    frame = pd.DataFrame(X)
    model = _linear(frame, Y)
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict(frame), PLAIN["linear"].predict(X))
    model = _linear(pd.DataFrame({0: X[:, 0], 1: X[:, 1], "target": Y}), "target")
    assert model.n_features_in_ == 2


LABELLED = {
    "strings": (("no", "yes"), lambda: np.where(LABELS, "yes", "no")),
    "strings, pandas": (("no", "yes"), lambda: pd.Series(np.where(LABELS, "yes", "no"))),
    "categories": (("no", "yes"), lambda: pd.Series(np.where(LABELS, "yes", "no")).astype("category")),
    "strings, polars": (("no", "yes"), lambda: pl.Series(np.where(LABELS, "yes", "no").tolist())),
    "strings, arrow": (("no", "yes"), lambda: pa.array(np.where(LABELS, "yes", "no").tolist())),
    "booleans": ((False, True), lambda: LABELS.astype(bool)),
    "booleans as 0 and 1": ((0, 1), lambda: LABELS.astype(bool)),
    "signs": ((-1, 1), lambda: 2 * LABELS - 1),
    "other numbers": ((3, 7), lambda: np.where(LABELS, 7.0, 3.0)),
}


@pytest.mark.parametrize(("classes", "make"), LABELLED.values(), ids=LABELLED.keys())
def test_labels_of_every_kind(classes, make):
    model = tg.LogisticRegression(**RICH, classes=classes).fit(X, make())
    _same(model, PLAIN["logistic"])
    assert model.classes_.tolist() == list(classes)
    expected = np.asarray(classes)[PLAIN["logistic"].predict(X)]
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    assert model.score(X, expected) == 1.0


def test_the_order_of_the_classes_is_the_direction_of_the_model():
    turned = tg.LogisticRegression(**RICH, classes=(1, 0)).fit(X, LABELS)
    np.testing.assert_allclose(turned.coef_, -PLAIN["logistic"].coef_, atol=0.1 * np.abs(turned.coef_).max())
    assert np.mean(turned.predict(X) == PLAIN["logistic"].predict(X)) > 0.98


STRANGERS = {
    "other numbers": lambda: _strange(LABELS.astype(float), [7.0, np.nan, np.inf, -1e308]),
    "integers": lambda: _strange(LABELS.copy(), [2, -1, 2**62, 5]),
    "missing": lambda: _strange(LABELS.astype(object), [None, pd.NA, np.nan, "x"]),
    "pandas missing": lambda: pd.Series(_strange(LABELS.astype(object), [pd.NA] * 4)).astype("Int64"),
    "in a list": lambda: _strange(LABELS.tolist(), [None, "x", Decimal("sNaN"), 2**70]),
    "polars missing": lambda: pl.Series(_strange(LABELS.astype(object), [None] * 4).tolist()),
    "arrow missing": lambda: pa.array(_strange(LABELS.astype(object), [None] * 4).tolist()),
}


def _strange(labels, values):
    labels[:4] = values
    return labels


@pytest.mark.parametrize("make", STRANGERS.values(), ids=STRANGERS.keys())
def test_labels_outside_the_classes_contribute_nothing(make):
    """As nothing as a NaN target does: the record keeps its place, its features are still counted."""
    nothing = _strange(LABELS.astype(float), [np.nan] * 4)
    model = _logistic(X, make())
    _same(model, _logistic(X, nothing))
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("stranger", ["x", None, 2**70, 0.5, Decimal("sNaN"), b"\xff", 1j], ids=repr)
def test_a_label_in_a_list_changes_no_other(stranger):
    """Were the list made an array as a whole, one string would turn all labels into strings: none would fit a class."""
    for classes in ((0, 1), (0.0, 1.0)):
        model = tg.LogisticRegression(classes=classes)
        _, y = model._open(X, [*LABELS.tolist()[:-1], stranger]).gather()
        np.testing.assert_array_equal(y, [*LABELS[:-1], np.nan])


TEXT = ["strings", "strings, pandas", "strings, polars", "strings, arrow"]


@pytest.mark.parametrize("kind", TEXT)
def test_text_where_classes_are_numbers_is_refused(kind):
    """No record would have a class, and the budget would be spent on nothing: types of columns are public."""
    labels = LABELLED[kind][1]()
    for make in (tg.LogisticRegression, tg.LinearSVC, tg.SparseLogisticRegression):
        with pytest.raises(tg.DataError, match=r"^y holds text, and the public classes are numbers: list its labels"):
            make(**RICH).fit(X, labels)
    with pytest.raises(tg.DataError, match=r"^y holds text"):
        tg.evaluate(PLAIN["logistic"], X, labels, epsilon=10.0)


@pytest.mark.parametrize("make", [np.asarray, pd.Series, pl.Series, pa.array, VECTORS["pandas, nullable"]])
def test_numbers_where_classes_are_text_are_refused(make):
    for labels in (LABELS, LABELS.astype(bool), LABELS.astype(float)):
        with pytest.raises(tg.DataError, match=r"^y holds numbers, and the public classes are text"):
            tg.LogisticRegression(**RICH, classes=("0", "1")).fit(X, make(labels))


def test_a_list_of_labels_has_no_type_that_could_be_wrong():
    assert np.all(np.isfinite(_logistic(X, ["yes"] * 400).coef_))


def _hostile(shape, seed):
    return np.random.default_rng(seed).choice(np.array(HOSTILE), size=shape)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sparse.csr_array, pl.DataFrame, pd.DataFrame])
def test_no_value_raises_or_warns(seed, kind):
    records, y = _hostile((60, 2), seed), _hostile(60, seed + 100)
    for model in (tg.Mean(epsilon=1e4), tg.LinearRegression(epsilon=1e4), tg.LogisticRegression(epsilon=1e4)):
        fitted = model.set_params(random_state=0).fit(kind(records), y)
        released = fitted.mean_ if hasattr(fitted, "mean_") else np.append(fitted.coef_, fitted.intercept_)
        assert np.all(np.isfinite(released))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint64, np.int8])
def test_no_value_of_a_narrower_type_raises_or_warns(dtype):
    info = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else np.finfo(dtype)
    values = np.array([info.min, info.max, 0, 1], dtype=dtype)
    records = np.random.default_rng(0).choice(values, size=(80, 2))
    tg.LinearRegression(epsilon=1e4, random_state=0).fit(records, records[:, 0])
    tg.Mean(epsilon=1e4, random_state=0).fit(records)


def test_numbers_too_large_for_a_float_are_infinite():
    objects = X.astype(object)
    objects[0, 0], objects[1, 1] = 10**400, -(10**400)
    infinite = X.copy()
    infinite[0, 0], infinite[1, 1] = np.inf, -np.inf
    _same(_linear(objects, Y), _linear(infinite, Y))


@pytest.mark.parametrize("missing", [None, pd.NA, pd.NaT, float("nan")])
def test_missing_objects_are_nan(missing):
    objects, plain = X.astype(object), X.copy()
    objects[3, 1], plain[3, 1] = missing, np.nan
    _same(_linear(objects, Y), _linear(plain, Y))
    _same(tg.Mean(**RICH).fit(objects.tolist()), tg.Mean(**RICH).fit(plain))
    y = Y.astype(object)
    y[5] = missing
    _same(_linear(X, y), _linear(X, np.where(np.arange(400) == 5, np.nan, Y)))


@pytest.mark.parametrize("make", [tg.Mean, tg.LinearRegression, tg.LogisticRegression])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 1e300])
def test_a_few_bad_records_do_no_harm(make, value):
    records = X.copy()
    records[::20, 1] = value
    one, other = make(**RICH).fit(records, LABELS), make(**RICH).fit(X, LABELS)
    found, plain = (model.mean_ if make is tg.Mean else model.coef_ for model in (one, other))
    np.testing.assert_allclose(found, plain, rtol=0.15, atol=0.15 * np.abs(plain).max())


@pytest.mark.parametrize("make", [tg.Mean, tg.LinearRegression, tg.LogisticRegression])
@pytest.mark.parametrize("column", [np.nan, np.inf, 0.0, 7.0, 1e300], ids=str)
def test_a_column_without_information_does_no_harm(make, column):
    records = np.column_stack([X, np.full(400, column)])
    model = make(**RICH).fit(records, LABELS)
    found = model.mean_ if make is tg.Mean else model.coef_
    assert np.all(np.isfinite(found))
    plain = make(**RICH).fit(X, LABELS)
    scale = X.std(axis=0) if make is tg.Mean else 1 / X.std(axis=0)
    expected = (plain.mean_ if make is tg.Mean else plain.coef_) / scale
    # One more dimension may change the planned number of steps, which shows where labels are nearly separable.
    np.testing.assert_allclose(found[:3] / scale, expected, atol=max(0.25, 0.2 * np.abs(expected).max()))
    if make is not tg.Mean:
        assert abs(found[3]) < 1e-3 or column == 1e300
    elif abs(column) < 1e10:
        assert found[3] == pytest.approx(column, abs=0.05)


SPARSE = [sparse.csr_array, sparse.coo_array, np.asarray]


@pytest.mark.parametrize("container", SPARSE)
def test_a_column_that_was_dropped_may_be_missing(container):
    """It had no say in the fit, and has none in predictions and evaluations."""
    records = np.column_stack([X, np.full(400, np.nan)])
    filled = np.column_stack([X, np.zeros(400)])
    three = tg.LogisticRegression(**RICH, classes=(0, 1, 2))
    for make in (tg.LinearRegression(**RICH), tg.LogisticRegression(**RICH), three):
        model = make.fit(container(records), LABELS)
        assert not np.any(model.coef_[..., 3])
        np.testing.assert_allclose(model.predict(container(records)), model.predict(filled), atol=1e-12)
    result, expected = (
        tg.evaluate(tg.LinearRegression(**RICH).fit(records, Y), Z, Y, epsilon=10.0, random_state=0)
        for Z in (container(records), filled)
    )
    assert result["r2"].value == expected["r2"].value


def test_columns_may_differ_by_twelve_orders_of_magnitude():
    factors = np.array([1e-6, 1.0, 1e6])
    model = _linear(X * factors, Y)
    np.testing.assert_allclose(model.coef_ * factors, PLAIN["linear"].coef_, rtol=0.02, atol=0.02)
    mean = tg.Mean(**RICH).fit(X * factors).mean_
    np.testing.assert_allclose(mean / factors, PLAIN["mean"].mean_, atol=0.2)


@pytest.mark.parametrize("make", [tg.Mean, tg.LinearRegression, tg.LogisticRegression])
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1), (400, 1)])
def test_few_rows_and_one_column(make, shape):
    model = make(epsilon=1e6, random_state=0).fit(X[: shape[0], : shape[1]], LABELS[: shape[0]])
    assert np.all(np.isfinite(model.mean_ if make is tg.Mean else model.coef_))
    assert model.n_features_in_ == shape[1]


def test_sparse_rows_are_predicted_without_being_made_dense(monkeypatch):
    expected = PLAIN["linear"].predict(X), PLAIN["logistic"].predict_proba(X)
    records = [sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X)]
    for kind in {base for matrix in records for base in type(matrix).__mro__ if hasattr(base, "toarray")}:
        monkeypatch.setattr(kind, "toarray", None)
    for matrix in records:
        np.testing.assert_allclose(PLAIN["linear"].predict(matrix), expected[0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(PLAIN["logistic"].predict_proba(matrix), expected[1], rtol=1e-12, atol=1e-12)


def test_missing_labels_among_codes_of_arrow_are_no_class():
    # Arrow made each of them the last value of the dictionary, which other records decide.
    table, missing = pa.table(_table()), np.arange(len(X)) % 5 == 0
    names = np.where(missing, None, np.where(LABELS == 1, "yes", "no"))
    model = tg.LogisticRegression(**RICH, classes=("no", "yes"))
    plain = model.fit(table, names).coef_
    for last in ("no", "yes"):
        coded = pa.DictionaryArray.from_arrays(
            pa.array(
                [None if gone else int(name == last) for gone, name in zip(missing, names, strict=True)], pa.int32()
            ),
            pa.array(["yes" if last == "no" else "no", last]),
        )
        np.testing.assert_array_equal(model.fit(table, pa.chunked_array([coded])).coef_, plain)


class Stubborn:
    """A cell that raises whatever is asked of it."""

    __hash__ = None

    def __float__(self):
        raise RuntimeError("secret")

    def __eq__(self, other):
        raise RuntimeError("secret")


STRANGE = [
    Stubborn(),
    np.complex128(1 + 2j),
    np.complex64(1j),
    np.ma.masked,
    np.datetime64("2020-01-01"),
    np.void(b"a"),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cell", STRANGE, ids=lambda cell: type(cell).__name__)
def test_strange_cells_raise_and_warn_of_nothing(cell):
    rows, labels = X.tolist(), LABELS.tolist()
    rows[3][1], labels[5] = cell, cell
    missing = X.copy()
    missing[3, 1] = np.nan
    model = tg.LogisticRegression(**RICH)
    expected = model.fit(missing, np.where(np.arange(len(X)) == 5, np.nan, LABELS)).coef_
    np.testing.assert_array_equal(model.fit(rows, labels).coef_, expected)
