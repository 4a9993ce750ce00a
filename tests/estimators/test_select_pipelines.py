"""`select` among pipelines: transformations of one row at a time, known by type, that no record makes raise or warn."""

import pickle
import struct
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    StandardScaler,
)

import tailguard as tg
from tailguard.audit.replay import replay_plan
from tailguard.errors import BudgetError, DataError, ParameterError
from tailguard.estimators.candidates import named_candidates, shown
from tailguard.estimators.rowwise import RowWise

N = 4_000
LEVELS = {"region": ["north", "south", "west"]}
LOG = FunctionTransformer(np.log1p, feature_names_out="one-to-one")


def encoder():
    return tg.PublicOneHotEncoder(LEVELS, drop_first=True).set_output(transform="pandas")


def some_columns(**parts):
    found = ColumnTransformer(
        [(name, *part) for name, part in parts.items()], remainder="passthrough", verbose_feature_names_out=False
    )
    return found.set_output(transform="pandas")


def models(make=tg.LinearRegression, **options):
    return {
        "raw": make_pipeline(encoder(), make(**options)),
        "logarithm": make_pipeline(encoder(), some_columns(log=(LOG, ["income"])), make(**options)),
        "squares": (make_pipeline(PolynomialFeatures(2, include_bias=False), make(**options)), ["income", "age"]),
        "age": (make(**options), ["age"]),
    }


def frame(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "west"], n).astype(object),
            "income": rng.lognormal(0.0, 1.5, n),
            "age": rng.uniform(-2.0, 2.0, n),
        }
    )
    return X, np.asarray(3.0 * (X.region == "south") + 2.0 * np.log1p(X.income) + rng.standard_t(3, n))


@pytest.mark.parametrize(
    "container", [lambda X: X, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"]
)
def test_every_candidate_has_its_own_transformation(container):
    X, y = frame()
    chosen = tg.select(models(), container(X), y, epsilon=6.0, random_state=0)
    assert chosen.best_name_ == "logarithm"
    assert chosen.plan_.problem.d == 4 + 4 + 5 + 1
    assert 0.98 * 6.0 <= tg.verify(chosen.plan_).epsilon <= 6.0
    assert isinstance(chosen.best_estimator_, Pipeline)
    last = chosen.best_estimator_[-1]
    assert list(last.feature_names_in_) == ["income", "region_south", "region_west", "age"]
    np.testing.assert_allclose(last.coef_, [2.0, 3.0, 0.0, 0.0], atol=0.4)
    np.testing.assert_array_equal(chosen.predict(X), chosen.best_estimator_.predict(X))
    assert np.mean((chosen.predict(X) - y) ** 2) < 0.5 * np.var(y)
    assert chosen.columns_["squares"] == (1, 2)
    squares = chosen.estimators_["squares"]
    assert squares[-1].coef_.shape == (5,)
    assert squares.predict(X[["income", "age"]]).shape == (N,)
    assert list(chosen.estimators_["age"].feature_names_in_) == ["age"]


def test_every_candidate_is_charged():
    X, y = frame()
    chosen = tg.select(models(), X, y, epsilon=6.0, delta=0.0, random_state=0)
    assert {step.name.partition(":")[0] for step in chosen.plan_.steps} >= {"1", "2", "3", "4"}
    assert {len(step.columns) for step in chosen.plan_.steps if step.columns is not None} == {4, 5, 1}
    assert chosen.privacy_.delta == 0.0


def test_classes():
    X, y = frame()
    labels = np.where(y > np.median(y), "late", "paid")
    candidates = models(tg.LogisticRegression, classes=("paid", "late"))
    chosen = tg.select(candidates, X, labels, epsilon=6.0, random_state=0)
    assert chosen.best_name_ == "logarithm"
    assert np.mean(chosen.predict(X) == labels) > 0.75
    assert chosen.best_estimator_.predict_proba(X).shape == (N, 2)
    assert 0.0 < tg.evaluate(chosen, X, labels, epsilon=4.0, random_state=0)["error_rate"].value < 0.35


def test_several_classes():
    X, y = frame()
    labels = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))]
    candidates = models(tg.LogisticRegression, classes=("low", "middle", "high"))
    chosen = tg.select(candidates, X, labels, epsilon=8.0, random_state=0)
    assert chosen.best_name_ in ("logarithm", "raw")
    assert chosen.best_estimator_[-1].coef_.shape == (3, 4)
    assert np.mean(chosen.predict(X) == labels) > 0.5
    assert tg.evaluate(chosen, X, labels, epsilon=4.0, random_state=0)["error_rate"].value < 0.5


def test_the_chosen_pipeline_can_be_evaluated_in_its_session(tmp_path):
    X, y = frame()
    session = tg.Session(tmp_path / "ledger.db", epsilon=9.0, delta=1e-5)
    chosen = tg.select(models(), X, y, epsilon=4.0, session=session)
    result = tg.evaluate(chosen, X, y, epsilon=1.0)
    assert [chosen.release_.receipt.number, result.release.receipt.number] == [1, 2]
    with pytest.raises(BudgetError):
        chosen.best_estimator_.score(X, y)


def test_an_equal_transformation_is_shown_once():
    X, y = frame()
    before = encoder()
    candidates = [make_pipeline(before, tg.LinearRegression()), make_pipeline(before, tg.Lasso(5.0))]
    assert tg.select(candidates, X, y, epsilon=6.0, random_state=0).plan_.problem.d == 4


def test_scales_are_those_of_the_transformed_columns():
    X, y = frame()
    scales = tg.Scales({"income": 1.0, "region_south": 0.5, "region_west": 0.5, "age": 1.0})
    candidates = models()
    candidates["logarithm"][-1].set_params(scales=scales)
    chosen = tg.select(candidates, X, y, epsilon=6.0, random_state=0)
    sought = [step.name for step in chosen.plan_.steps if "feature scale" in step.name]
    assert {name.partition(":")[0] for name in sought} == {"1", "3", "4"}


class _Raises:
    """Does what no cell should."""

    def __float__(self):
        raise RuntimeError("123456.789")

    __eq__ = __hash__ = __lt__ = __float__


CELLS = [None, np.nan, np.inf, 1e308, -5.0, 10**400, "a word", [1.0], pd.NA, _Raises()]
APART = [
    encoder(),
    make_pipeline(encoder(), some_columns(log=(LOG, ["income"]))),
    some_columns(
        level=(tg.PublicOneHotEncoder(LEVELS).set_output(transform="pandas"), ["region"]),
        both=(make_pipeline(LOG, PolynomialFeatures(2)), ["income"]),
    ),
    some_columns(
        level=(tg.PublicOneHotEncoder(LEVELS).set_output(transform="pandas"), ["region"]), log=(LOG, slice(1, 2))
    ).set_params(transformer_weights={"log": 3.0, "remainder": 0.5}),
    some_columns(level=("drop", ["region"]), sign=(Binarizer(), [2]), direction=(Normalizer(), ["income"])),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: type(cell).__name__)
@pytest.mark.parametrize("transformer", APART, ids=lambda step: type(step).__name__)
def test_no_record_shows_in_any_other(transformer, cell):
    X, _ = frame(50)
    made = RowWise([("one", transformer)], X)
    good = made(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(good, np.asarray(clone(transformer).fit(X).transform(X), dtype=float))
    assert good.shape == (50, made.width)
    for column in X.columns:
        other = X.astype(object)
        other.at[7, column] = cell
        found = RowWise([("one", transformer)], other)(other)
        np.testing.assert_array_equal(np.delete(found, 7, 0), np.delete(good, 7, 0))


def _engine(X, y):
    return shown(named_candidates(models()), tg.LinearRegression(), X, y).engine


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("epsilon", "delta"), [(6.0, 1e-6), (12.0, 0.0)])
def test_neighbours_are_within_the_sensitivities(epsilon, delta):
    X, y = frame()
    plan = tg.select(models(), X, y, epsilon=epsilon, delta=delta, random_state=0).plan_
    for row, value in ((["mars", 1e308, -1e200], 1e308), ([_Raises(), -9.0, "x"], -1e9), (["south", 0.0, 1e9], np.nan)):
        other, target = X.astype(object), y.copy()
        other.iloc[5], target[5] = row, value
        found = replay_plan(plan, _engine(X, y), _engine(other, target))
        assert found.holds
        assert found.by_step["choice"] > 0


def test_nothing_of_the_records_is_kept_and_plans_do_not_depend_on_them():
    X, y = frame()
    one = tg.select(models(), X, y, epsilon=6.0, random_state=0)
    blank = pd.DataFrame({"region": [None] * N, "income": np.nan, "age": np.inf})
    two = tg.select(models(), blank, np.full(N, np.nan), epsilon=6.0, random_state=0)
    assert one.plan_ == two.plan_
    written = pickle.dumps(one)
    for value in X[["income", "age"]].to_numpy()[:50].ravel():
        assert struct.pack("<d", value) not in written


class _Unseen:
    """Records that nobody may look at."""

    def __getattr__(self, name):
        raise AssertionError(name)


class _Own(tg.PublicOneHotEncoder):
    """Could do anything."""


LEARNING = {
    "scaler": StandardScaler(),
    "imputer": SimpleImputer(),
    "levels from the data": OneHotEncoder(),
    "quantiles": QuantileTransformer(),
    "a function of the user's": FunctionTransformer(lambda X: X - X.mean()),
    "a function of all rows": FunctionTransformer(np.mean),
    "a function of Python objects": FunctionTransformer(np.frompyfunc(float, 1, 1)),
    "a function of two numbers": FunctionTransformer(np.add),
    "options": FunctionTransformer(np.log1p, kw_args={"where": None}),
    "a class of the user's": _Own(LEVELS),
    "inside a pipeline": make_pipeline(LOG, StandardScaler()),
    "some columns": ColumnTransformer([("one", StandardScaler(), [0])]),
    "the other columns": ColumnTransformer([("one", "drop", [0])], remainder=StandardScaler()),
    "columns by a look at the records": ColumnTransformer([("one", LOG, make_column_selector())]),
}


@pytest.mark.parametrize("transformer", LEARNING.values(), ids=LEARNING)
def test_what_learns_or_could_tell_is_refused_before_a_record_is_seen(transformer):
    candidates = [make_pipeline(transformer, tg.LinearRegression()), tg.LinearRegression()]
    with pytest.raises(
        ParameterError, match="'candidates' parameter of select must be pipelines of PublicOneHotEncoder"
    ):
        tg.select(candidates, _Unseen(), _Unseen())


def test_other_refusals():
    X, y = frame(100)
    last = [make_pipeline(LOG, StandardScaler()), tg.LinearRegression()]
    with pytest.raises(ParameterError, match="pipelines that end in one"):
        tg.select(last, X, y)
    with pytest.raises(ParameterError, match="without sessions"):
        tg.select([make_pipeline(LOG, tg.LinearRegression(session="x")), tg.LinearRegression()], X, y)
    with pytest.raises(DataError, match="y must be a vector where candidates are pipelines"):
        tg.select(models(), X, "age")
    with pytest.raises(DataError, match="X must be a table in memory"):
        tg.select(models(), "records.parquet", y)
    with pytest.raises(DataError, match="rows"):
        tg.select(models(), X, y[:-1], epsilon=50.0)


def test_arrays_and_lists():
    X, y = frame()
    rows = X.to_numpy()
    candidates = {
        "level": make_pipeline(tg.PublicOneHotEncoder({0: LEVELS["region"]}, drop_first=True), tg.LinearRegression()),
        "logarithm": make_pipeline(
            tg.PublicOneHotEncoder({0: LEVELS["region"]}, drop_first=True),
            ColumnTransformer([("log", LOG, [2])], remainder="passthrough"),
            tg.LinearRegression(),
        ),
    }
    first, second = (tg.select(candidates, given, y, epsilon=6.0, random_state=0) for given in (rows, rows.tolist()))
    assert first.best_name_ == second.best_name_ == "logarithm"
    np.testing.assert_array_equal(first.best_estimator_[-1].coef_, second.best_estimator_[-1].coef_)
    np.testing.assert_array_equal(first.predict(rows), first.best_estimator_.predict(rows))
