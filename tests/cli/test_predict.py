"""Predictions of a model file."""

import json

import numpy as np
import pytest
from scipy.special import expit

from tests.support.held_rows import held_scores


@pytest.fixture
def fitted(tailguard, files, tmp_path):
    def fit(*words):
        file = tmp_path / "model.json"
        outcome = tailguard("fit", files / "text.csv", "--epsilon", 8, "--seed", 1, "--output", file, *words)
        assert outcome.status == 0, outcome.err
        return file, json.loads(file.read_text())["model"]

    return fit


@pytest.mark.parametrize("name", ["claims.parquet", "claims.csv", "claims.feather"])
def test_linear_predictions(tailguard, fitted, files, columns, tmp_path, name):
    file, model = fitted("--target", "pay", "--features", "cost,age")
    outcome = tailguard("predict", file, files / name, "--output", tmp_path / "p.csv")
    assert outcome.status == 0, outcome.err
    header, *lines = (tmp_path / "p.csv").read_text().splitlines()
    X = np.column_stack([columns["cost"], columns["age"]])
    assert header == "prediction"
    plain = X @ model["coefficients"] + model["intercept"]
    held = np.clip(held_scores(model, X), *model["prediction_range"])
    assert 0.0 < np.mean(np.abs(held - plain) > 1e-6) < 0.01
    assert np.allclose(np.array(lines, float), held, rtol=1e-9)


def test_logistic_predictions(tailguard, fitted, files, columns):
    file, model = fitted("--target", "answer", "--features", "cost,age", "--loss", "logistic", "--classes", "no,yes")
    header, *lines = tailguard("predict", file, files / "claims.csv").out.splitlines()
    scores, most = held_scores(model, np.column_stack([columns["cost"], columns["age"]])), np.log(4000)
    assert header == "prediction,probability"
    labels, chances = zip(*(line.split(",") for line in lines), strict=True)
    assert np.max(np.abs(scores)) > most
    assert np.allclose(np.array(chances, float), expit(np.clip(scores, -most, most)), rtol=1e-9)
    assert list(labels) == np.where(scores > 0, "yes", "no").tolist()


def test_log_odds_are_held_where_a_pure_budget_ends(tailguard, fitted, files, columns):
    words = ("--target", "answer", "--features", "cost,age", "--loss", "logistic", "--classes", "no,yes", "--delta", 0)
    file, model = fitted(*words)
    low, high = model["prediction_range"]
    assert high == pytest.approx(np.log(4000 * 8 / 6), abs=0.05)
    assert low == pytest.approx(-high, abs=0.05)  # the classes are equally frequent
    chances = [float(line.split(",")[1]) for line in tailguard("predict", file, files / "claims.csv").out.split()[1:]]
    scores = np.column_stack([columns["cost"], columns["age"]]) @ model["coefficients"] + model["intercept"]
    most = np.log(4000)
    assert np.allclose(chances, expit(np.clip(scores, max(low, -most), min(high, most))), rtol=1e-9)


def test_a_missing_value_has_no_prediction(tailguard, fitted, tmp_path):
    file, _ = fitted("--target", "pay", "--features", "cost,age")
    (tmp_path / "new.csv").write_text("age,cost\n30,1\n,2\n40,\n")
    assert tailguard("predict", file, tmp_path / "new.csv").out.splitlines()[2:] == ["nan", "nan"]


def test_a_column_without_coefficient_need_not_be_there(tailguard, fitted, tmp_path):
    file, model = fitted("--target", "pay", "--features", "answer,age")
    assert model["coefficients"][0] == 0.0
    (tmp_path / "new.csv").write_text("age\n30\n")
    assert tailguard("predict", file, tmp_path / "new.csv").status == 0


@pytest.mark.parametrize("name", ["claims.parquet", "claims.csv", "claims.feather"])
def test_a_model_that_looks_at_no_column_predicts_rows_of_any_file(tailguard, fitted, files, tmp_path, name):
    file, model = fitted("--target", "pay", "--features", "answer")
    assert model["coefficients"] == [0.0]
    words = ("predict", file, files / name, "--output", tmp_path / "p.csv")
    assert tailguard(*words, "--dry-run").out == "Would read 4000 rows of no column, and write prediction.\n"
    outcome = tailguard(*words)
    assert outcome.status == 0, outcome.err
    lines = (tmp_path / "p.csv").read_text().splitlines()[1:]
    assert len(lines) == 4000
    assert np.allclose(np.array(lines, float), model["intercept"])


def test_predictions_for_machines(tailguard, fitted, tmp_path):
    file, _ = fitted("--target", "answer", "--features", "cost,age", "--loss", "logistic", "--classes", "no,yes")
    (tmp_path / "new.csv").write_text("age,cost\n30,1\n,2\n")
    lines = [json.loads(line) for line in tailguard("predict", file, tmp_path / "new.csv", "--json").out.splitlines()]
    assert lines[0]["prediction"] in ("no", "yes")
    assert 0.0 < lines[0]["probability"] < 1.0
    assert lines[1] == {"prediction": None, "probability": None}


def test_a_dry_run_writes_and_reads_nothing(tailguard, fitted, files, tmp_path, monkeypatch):
    file, _ = fitted("--target", "pay", "--features", "cost,age")
    monkeypatch.setattr("tailguard.cli.sources.Source.open", lambda *_: pytest.fail("records were opened"))
    words = ("predict", file, files / "claims.csv", "--output", tmp_path / "p.csv", "--dry-run")
    assert tailguard(*words).out == "Would read 4000 rows of cost, age, and write prediction.\n"
    assert json.loads(tailguard(*words, "--json").out) == {
        "rows": 4000,
        "reads": ["cost", "age"],
        "writes": ["prediction"],
    }
    assert not (tmp_path / "p.csv").exists()


def test_a_file_that_is_wrong_does_not_cost_the_output(tailguard, fitted, tmp_path):
    file, _ = fitted("--target", "pay", "--features", "cost,age")
    (tmp_path / "p.csv").write_text("precious")
    (tmp_path / "new.csv").write_text("age\n1\n")
    tailguard("predict", file, tmp_path / "new.csv", "--output", tmp_path / "p.csv").sentence()
    assert (tmp_path / "p.csv").read_text() == "precious"


def test_a_mean_predicts_nothing(tailguard, files, tmp_path):
    file = tmp_path / "mean.json"
    assert tailguard("mean", files / "claims.csv", "--epsilon", 8, "--seed", 1, "--output", file).status == 0
    assert "holds a mean" in tailguard("predict", file, files / "claims.csv").sentence()


def test_a_missing_column_is_named(tailguard, fitted, tmp_path):
    file, _ = fitted("--target", "pay", "--features", "cost,age")
    (tmp_path / "new.csv").write_text("age\n30\n")
    assert "'cost'" in tailguard("predict", file, tmp_path / "new.csv").sentence()


def test_what_a_simulation_predicts_says_so(tailguard, fitted, files, tmp_path):
    file, _ = fitted("--target", "pay", "--features", "cost,age")
    assert "NOT PRIVATE" in tailguard("predict", file, files / "claims.csv", "--output", tmp_path / "p.csv").err
    assert "NOT PRIVATE" in tailguard("evaluate", file, files / "claims.csv", "--epsilon", 2).err
    private = tmp_path / "model.json"
    assert tailguard("fit", files / "claims.csv", "--target", "pay", "--epsilon", 8, "--output", private).status == 0
    assert tailguard("predict", private, files / "claims.csv", "--output", tmp_path / "p.csv").err == ""
