"""Figures 3 and 4 with whatever files there are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tailguard.errors import DataError
from tailguard.reproduction.figures import FIGURES
from tailguard.reproduction.readings import Readings
from tailguard.reproduction.real import DATA_SETS, find, missing
from tailguard.reproduction.runner import jobs, measure


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, (900, 5)).astype(np.float32)
    y = 3.0 * X[:, 0] - X[:, 1] + rng.standard_t(3, 900) + 50.0
    columns = {f"x{j}": X[:, j] for j in range(5)} | {"constant": np.ones(900)}

    def write(name, target):
        pq.write_table(pa.table(columns | ({} if target is None else {"target": target})), tmp_path / f"{name}.parquet")

    write("blogfeedback", np.where(np.arange(900) == 7, np.nan, y))
    write("buzz_reg", y)
    write("buzz_class", (y > 52.0).astype(float))
    write("winnipeg_tail", np.full(900, 7.0))
    write("yearprediction", None)
    write("unrelated", y)
    return tmp_path


def test_files_are_found_by_their_names_and_targets(folder):
    linear, labels = (find(folder, logistic=logistic, standard=True) for logistic in (False, True))
    assert list(linear) == list(labels) == ["Blog Feedback", "Twitter"]
    assert linear["Twitter"].path.endswith("buzz_reg.parquet")
    assert labels["Twitter"].path.endswith("buzz_class.parquet")
    sentence = missing(linear)
    assert "Winnipeg (winnipeg*.parquet)" in sentence
    assert "Blog" not in sentence
    assert missing(DATA_SETS) == ""
    (folder / "year.parquet").write_text("no Parquet")
    with pytest.raises(DataError, match="not a Parquet file"):
        find(folder, logistic=False, standard=True)


def test_records_are_standardised_or_left(folder):
    source = find(folder, logistic=False, standard=True)["Blog Feedback"]
    assert source.size == (899, 5)  # neither the missing target nor the constant column
    X, y = source.world(5, 0, np.random.default_rng(0)).draw(899)
    assert X.std(axis=0) == pytest.approx(np.ones(5), abs=1e-5)
    assert (y.mean(), y.std()) == pytest.approx((0.0, 1.0))
    raw = find(folder, logistic=False, standard=False)["Blog Feedback"].world(5, 0, np.random.default_rng(0))
    assert raw.draw(899)[1].mean() == pytest.approx(50.0, abs=1.0)


def test_a_target_of_numbers_is_split_at_its_median(folder):
    world = find(folder, logistic=True, standard=True)["Blog Feedback"].world(5, 0, np.random.default_rng(1))
    X, y = world.draw(899)
    assert set(y) == {0.0, 1.0}
    assert abs(y.mean() - 0.5) < 0.01
    assert len(np.unique(X, axis=0)) == 899  # without replacement


@pytest.mark.parametrize("name", ["fig3", "fig4"])
def test_real_figures_are_measured(name, folder, tiny):
    figure, readings = FIGURES[name], Readings()
    assert figure.parts(readings, tiny) == []
    parts = figure.parts(readings, tiny, folder)
    rows = measure(jobs(figure, parts, 1, 0, readings), 1)
    labels = ["Blog Feedback (blogfeedback)", "Twitter (buzz_reg)" if name == "fig3" else "Twitter (buzz_class)"]
    assert [part.label for part in parts] == list(dict.fromkeys(row.data for row in rows)) == labels
    assert {row.n for row in rows if row.data == labels[1]} == {225, 900}
    zero = [row.excess for row in rows if row.method == "zero"]
    best = [row.excess for row in rows if row.method == "non-private" and row.n > 800]
    assert max(best) < 1e-6 < min(zero)  # all records are the population
