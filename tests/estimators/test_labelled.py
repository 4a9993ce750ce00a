"""Labels that are text, by the name of their column."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tailguard as tg
from tailguard.errors import DataError
from tailguard.estimators.labelled import open_labelled

N = 400
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
LABELS = np.where(X[:, 0] > 0.0, "high", "low").astype(object)
LABELS[7] = None
FRAME = pd.DataFrame(X, columns=list("abc")).assign(k=LABELS)[["a", "k", "b", "c"]]
CLASSES = ("low", "high")


@pytest.fixture(params=["pandas", "categories", "polars", "arrow", "parquet", "codes"])
def named(request, tmp_path):
    if request.param == "pandas":
        return FRAME
    if request.param == "categories":
        return FRAME.assign(k=FRAME["k"].astype("category"))
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    if request.param == "polars":
        return pl.from_arrow(table)
    if request.param == "arrow":
        return table
    if request.param == "codes":
        table = table.set_column(1, "k", table.column("k").dictionary_encode())
    pq.write_table(table, tmp_path / "records.parquet")
    return tmp_path / "records.parquet"


def test_a_named_column_of_text_is_as_good_as_a_vector(named):
    holder = tg.LogisticRegression(classes=CLASSES)
    engine = open_labelled(holder, named, "k", np.array(CLASSES))
    rows, targets = engine.gather()
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(targets, np.where(LABELS == "high", 1.0, np.where(LABELS == "low", 0.0, np.nan)))
    assert list(holder.feature_names_in_) == ["a", "b", "c"]
    fitted = tg.LogisticRegression(classes=CLASSES, epsilon=20.0, random_state=0).fit(named, "k")
    apart = tg.LogisticRegression(classes=CLASSES, epsilon=20.0, random_state=0).fit(FRAME[["a", "b", "c"]], LABELS)
    np.testing.assert_allclose(fitted.coef_, apart.coef_)


def test_what_cannot_be_is_said(named, tmp_path):
    with pytest.raises(DataError, match="There is no column 'z'"):
        open_labelled(tg.LogisticRegression(), named, "z", np.array(CLASSES))
    with pytest.raises(DataError, match=r"text|numbers"):
        open_labelled(tg.LogisticRegression(), named, "k", np.array([0, 1]))
    with pytest.raises(DataError, match="no table"):
        open_labelled(tg.LogisticRegression(), X, "k", np.array(CLASSES))
    pq.write_table(pa.table({"a": X[:, 0], "k": X[:, 1]}), tmp_path / "numbers.parquet")
    with pytest.raises(DataError, match="must hold text"):
        open_labelled(tg.LogisticRegression(), tmp_path / "numbers.parquet", "k", np.array(CLASSES))
