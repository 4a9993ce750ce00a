"""Every task draws deterministic, finite records of the size that it declares, and judges fits by known numbers."""

import math
import pickle
from functools import lru_cache

import numpy as np
import pytest

from benchmarks.datasets import development, folder, held_out
from benchmarks.datasets.laws import LAWS
from benchmarks.datasets.linear import Linear
from benchmarks.datasets.logistic import Logistic
from benchmarks.datasets.mean import Location
from benchmarks.datasets.real import Real, held_rows, hill
from benchmarks.objective import Budget, Dataset, Drawn, Fit
from benchmarks.solvers import NonPrivate, Null

DEVELOPMENT, HELD_OUT = development.tasks(), held_out.tasks()
TASKS = DEVELOPMENT + HELD_OUT
SMALL = [task for task in TASKS if task.n <= 20_000]
NOWHERE = Budget(math.inf, 0.0)
SEED = 501


@lru_cache(maxsize=1)
def records(task: Dataset) -> Drawn:
    """The records of a task, kept while its tests run one after the other."""
    return task.draw(SEED)


def truth(task: Dataset, drawn: Drawn) -> Fit | None:
    """The fit that a task of known truth calls perfect."""
    if task.group in ("linear", "skewed"):
        model = drawn.truth
        slopes = model.slopes * model.spread / model.units
        return Fit(slopes, model.centre - float(slopes @ (task.mean * model.units)))
    if task.task == "logistic" and not task.real:
        model = drawn.truth
        slopes = model.slopes / model.units
        centre = (task._design.mean + task._shift) * model.units
        return Fit(slopes, model.centre - float(slopes @ centre))
    if task.task == "mean":
        return Fit(drawn.truth[0] if drawn.truth else task._instance.mean)
    if task.group == "sparse":
        return Fit(drawn.truth[0] * (2.0 if task.classes else 1.0))
    return None


def test_names_are_unique_and_fit_into_a_table():
    names = [task.name for task in TASKS]
    assert len(set(names)) == len(names)
    assert not any(set(",|\n") & set(name) for name in names)


def test_development_and_held_out_tasks_are_apart():
    assert not any(task.held_out for task in DEVELOPMENT)
    assert all(task.held_out for task in HELD_OUT)
    families = {task.name.split()[1] for task in DEVELOPMENT if not task.real and task.group != "sparse"}
    for law in ("pareto2.5", "weibull0.6", "elliptical", "log-logistic3", "zero-inflated"):
        assert law not in families
        assert any(law in task.name for task in HELD_OUT)


EACH = pytest.mark.parametrize("task", SMALL, ids=lambda task: task.name, scope="module")


@EACH
def test_draws_what_it_declares(task):
    drawn, again = records(task), pickle.loads(pickle.dumps(task)).draw(SEED)
    assert drawn.X.shape == (task.n, task.d)
    assert np.isfinite(drawn.X).all()
    assert np.array_equal(drawn.X, again.X)
    assert task.tail
    if task.task == "mean":
        assert drawn.y is None
        return
    assert np.array_equal(drawn.y, again.y)
    assert drawn.X_test.shape[1] == task.d
    assert np.isfinite(drawn.y).all()
    if task.task.endswith("logistic"):
        assert set(np.unique(drawn.y)) == {0.0, 1.0}
    seen = drawn.records()
    assert seen.X_test is None
    assert seen.truth is None
    assert seen.sparsity == task.sparsity


@EACH
def test_excess_is_zero_at_the_truth_and_one_at_the_null_model(task):
    drawn = records(task)
    perfect = truth(task, drawn)
    if perfect is not None:
        found = task.measures(drawn, perfect)
        assert found["excess"] == pytest.approx(0.0, abs=1e-7)
        assert found["coefficient_error"] == pytest.approx(0.0, abs=1e-7)
    if task.task != "mean":
        null = task.measures(drawn, Null().fit(task.task, drawn.records(), NOWHERE, 0))
        # A mean of noise without a variance is itself far off.
        assert null["excess"] == pytest.approx(1.0, abs=1.0 if "t1.5" in task.name else 0.02)
        assert null.get("auc", 0.5) == 0.5


def test_the_sample_mean_is_one_standard_error_away():
    task = Location("t3", 5_000, 4)
    errors = [task.measures(drawn, Fit(drawn.X.mean(axis=0)))["excess"] for drawn in map(task.draw, range(500, 560))]
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(1.0, abs=0.15)


def test_excess_of_least_squares_is_d_over_n():
    task = Linear("gaussian", 2_000, 5)
    errors = []
    for seed in range(500, 560):
        drawn = task.draw(seed)
        errors.append(task.measures(drawn, NonPrivate().fit("linear", drawn, NOWHERE, 0))["excess"])
    assert np.mean(errors) == pytest.approx(6 / 2_000, rel=0.25)


@pytest.mark.parametrize("positives", [0.03, 0.3])
def test_the_share_of_positives_is_the_asked_one(positives):
    drawn = Logistic("t3", 20_000, 5, positives=positives).draw(503)
    assert drawn.y.mean() == pytest.approx(positives, rel=0.15)


@pytest.mark.parametrize("law", [law for law in LAWS.values() if law.finite], ids=lambda law: law.name)
def test_laws_have_the_moments_that_they_say(law):
    # Against sums over a fine grid of probabilities: another way to the same integral, to the tail's accuracy.
    quantiles = law.map(np.linspace(-6.0, 6.0, 60_001))
    weights = np.exp(-0.5 * np.linspace(-6.0, 6.0, 60_001) ** 2)
    mean = float(np.sum(quantiles * weights) / weights.sum())
    assert law.mean == pytest.approx(mean, rel=1e-3, abs=1e-6)
    assert law.covariances(np.array([0.0]))[0] == 0.0
    assert 0.0 < law.covariances(np.array([0.5]))[0] < law.deviation**2


@pytest.mark.parametrize("sigma", [0.6, 1.0, 2.0])
def test_lognormal_covariances_have_a_closed_form(sigma):
    correlations = np.array([0.1, 0.5, 0.9])
    exact = np.exp(sigma**2) * np.expm1(sigma**2 * correlations)
    assert LAWS[f"lognormal{sigma:g}"].covariances(correlations) == pytest.approx(exact, rel=1e-5)


def test_other_moments_have_closed_forms():
    assert LAWS["t3"].deviation ** 2 == pytest.approx(3.0, rel=1e-5)
    assert LAWS["t5"].deviation ** 2 == pytest.approx(5.0 / 3.0)
    assert LAWS["pareto2.5"].mean == pytest.approx(1.0 / 1.5)
    assert LAWS["weibull0.6"].mean == pytest.approx(math.gamma(1.0 + 1.0 / 0.6))
    assert LAWS["log-logistic3"].mean == pytest.approx(math.pi / 3.0 / math.sin(math.pi / 3.0))


def test_the_split_is_fixed_and_public():
    rows = held_rows(10_000)
    assert np.array_equal(rows[:500], held_rows(500))
    assert rows.mean() == pytest.approx(0.25, abs=0.01)
    assert np.flatnonzero(rows)[:5].tolist() == np.flatnonzero(held_rows(100))[:5].tolist()


def test_hill_finds_the_index_of_a_pareto_tail():
    values = np.random.default_rng(0).pareto(2.0, 200_000) + 1.0
    assert hill(values) == pytest.approx(2.0, rel=0.1)


def test_a_folder_becomes_tasks(tmp_path):
    rng = np.random.default_rng(0)
    import pandas as pd

    table = pd.DataFrame({"a": rng.normal(size=400), "words": "x", "target": rng.normal(size=400)})
    table.to_csv(tmp_path / "first.csv", index=False)
    table.assign(target=(table["target"] > 0).astype(float)).to_parquet(tmp_path / "adult.parquet")
    table[["a"]].to_parquet(tmp_path / "features.parquet")
    table.assign(target=7.0).to_csv(tmp_path / "constant.csv", index=False)
    (tmp_path / "README.md").write_text("no table")
    found, skipped = folder.tables(tmp_path)
    assert [(task.name, task.task, task.held_out, task.d) for task in found] == [
        ("real adult", "logistic", False, 1),
        ("real first", "linear", True, 1),
    ]
    assert skipped == {
        "constant.csv": "its target does not vary",
        "features.parquet": "it has no column named target",
    }
    drawn = found[1].draw(0)
    assert len(drawn.y) + len(drawn.y_test) == 400
    assert len(drawn.y) == found[1].n


def test_incomplete_records_are_left_out():
    def load():
        X, y = np.ones((8, 2)), np.arange(8.0)
        X[3, 1], y[5] = np.nan, np.inf
        return X, y

    drawn = Real("holes", load, held_out=True).draw(0)
    assert len(drawn.y) + len(drawn.y_test) == 6
