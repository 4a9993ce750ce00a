"""Pipelines with stateless transformers: public categories, names, pickles, clones."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import tailguard as tg
from tailguard.errors import DataError, ParameterError

LEVELS = {"region": ["north", "south", "west"]}
CELLS = {"age": [30, 40, 50, 60], "region": ["south", "mars", None, "north"]}
EXPECTED = np.array([[30, 0, 1, 0], [40, 0, 0, 0], [50, 0, 0, 0], [60, 1, 0, 0]], float)


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables(table):
    encoder = tg.PublicOneHotEncoder(LEVELS).fit(table(CELLS))
    np.testing.assert_array_equal(encoder.transform(table(CELLS)), EXPECTED)
    assert list(encoder.get_feature_names_out()) == ["age", "region_north", "region_south", "region_west"]
    assert list(encoder.feature_names_in_) == ["age", "region"]


def test_arrays_and_lists_by_number():
    rows = list(zip(*CELLS.values(), strict=True))
    encoder = tg.PublicOneHotEncoder({1: LEVELS["region"]})
    for X in (rows, np.array(rows, dtype=object)):
        np.testing.assert_array_equal(encoder.fit_transform(X), EXPECTED)
    assert list(encoder.get_feature_names_out()) == ["x0", "x1_north", "x1_south", "x1_west"]
    assert list(encoder.get_feature_names_out(["a", "b"])) == ["a", "b_north", "b_south", "b_west"]
    np.testing.assert_array_equal(clone(encoder).transform(rows), EXPECTED)  # nothing is learned by fit


def test_numbers_as_levels_and_the_first_level_dropped():
    X = np.array([[1.0, 7.0], [2.0, np.nan], [3.0, 8.0]])
    encoder = tg.PublicOneHotEncoder({0: [1, 2]}, drop_first=True)
    np.testing.assert_array_equal(encoder.fit_transform(X), [[0, 7], [1, np.nan], [0, 8]])


def test_no_cell_raises_or_warns():
    strange = [["x", 1], [None, "y"], [float("nan"), 10**400], [("a",), b"z"], [pd.NA, None], [{}, []]]
    X = np.empty((6, 2), dtype=object)
    for i, row in enumerate(strange):
        X[i, 0], X[i, 1] = row
    found = tg.PublicOneHotEncoder({0: ["x", "y"]}).fit_transform(X)
    assert found[:, :2].sum() == 1.0
    assert found[0, 2] == 1.0
    assert not np.isfinite(found[1:, 2]).any()


CODES = [2**53, 2**53 + 1]


@pytest.mark.parametrize(
    "column",
    [
        lambda cells: pa.table({"level": pa.array(cells)}),
        lambda cells: pa.table({"level": pa.array(cells).dictionary_encode()}),
        lambda cells: pl.DataFrame({"level": cells}),
        lambda cells: pd.DataFrame({"level": pd.array(cells, dtype="string" if "a" in cells else "Int64")}),
        lambda cells: pd.DataFrame(
            {"level": pd.Categorical.from_codes([cells.index(c) if c else -1 for c in cells], cells[:2])}
        ),
    ],
    ids=["arrow", "arrow codes", "polars", "pandas", "categorical"],
)
@pytest.mark.parametrize("levels", [["a", "b"], CODES], ids=["text", "codes"])
def test_a_row_depends_on_itself_alone(column, levels):
    # One missing cell made floats of all integers, and took the last value of a dictionary that other rows decide.
    first, second = levels
    encoder = tg.PublicOneHotEncoder({"level": levels})
    for last in (first, second, None):
        for other in (first, second):
            found = encoder.transform(column([first, second, None, other, last]))
            np.testing.assert_array_equal(found[:3], [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
            np.testing.assert_array_equal(found[4], [last == first, last == second])


def test_output_as_a_frame_and_through_a_pipeline():
    rng = np.random.default_rng(0)
    n = 6_000
    frame = pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "west", "rare"], n),
            "income": rng.lognormal(0, 1, n),
            "age": rng.uniform(20, 60, n),
        }
    )
    y = 3.0 * (frame.region == "south") + np.log1p(frame.income) + rng.standard_t(3, n)
    logs = ColumnTransformer(
        [("log", FunctionTransformer(np.log1p, feature_names_out="one-to-one"), ["income"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    )
    steps = make_pipeline(
        tg.PublicOneHotEncoder(LEVELS), logs, tg.LinearRegression(epsilon=8.0, delta=1e-6, random_state=0)
    ).set_output(transform="pandas")
    model = pickle.loads(pickle.dumps(clone(steps).fit(frame, y)))
    private = model[-1]
    names = ["income", "region_north", "region_south", "region_west", "age"]
    assert list(private.feature_names_in_) == names
    assert list(model[:-1].get_feature_names_out()) == names
    assert abs(private.coef_[names.index("region_south")] - 3.0) < 0.3
    assert abs(private.coef_[names.index("income")] - 1.0) < 0.2
    assert model.predict(frame).shape == (n,)
    assert tg.verify(private.plan_).epsilon <= 8.0


def test_other_columns_and_wrong_parameters():
    frame = pd.DataFrame(CELLS)
    encoder = tg.PublicOneHotEncoder(LEVELS).fit(frame)
    with pytest.raises(DataError, match="not those that the encoder was fitted on"):
        encoder.transform(frame[["region", "age"]])
    with pytest.raises(DataError, match="fitted on 2 columns, the records have 3"):
        tg.PublicOneHotEncoder({0: [1]}).fit(np.ones((2, 2))).transform(np.ones((2, 3)))
    with pytest.raises(DataError, match="two dimensions"):
        encoder.transform([1, 2])
    for wrong in ([("region", [1])], {"nowhere": [1]}, {5: [1]}, {"region": "ab"}, {"region": ["a", "a"]}, {True: [1]}):
        with pytest.raises(ParameterError, match="'categories' parameter of PublicOneHotEncoder"):
            tg.PublicOneHotEncoder(wrong).fit(frame)


def test_scores_say_that_they_are_not_private():
    assert "not private" in " ".join(tg.LinearRegression.__doc__.split())


@pytest.mark.parametrize("kind", ["U", "S", "T"])
def test_a_word_among_numbers_in_a_matrix_of_text_is_missing(kind):
    """NumPy makes text of a matrix of words and numbers; turning it back raised on a word, and quoted it."""
    X = np.array([["north", "1.5"], ["south", "Ada Lovelace"], ["north", " 2e400 "]]).astype(kind)
    level = X[0, 0]
    made = tg.PublicOneHotEncoder({0: [level]}).fit_transform(X)
    np.testing.assert_array_equal(made, [[1.0, 1.5], [0.0, np.nan], [1.0, np.inf]])


def test_names_of_new_columns_need_a_fit():
    with pytest.raises(NotFittedError):
        tg.PublicOneHotEncoder({0: ["a"]}).get_feature_names_out()
