"""Evaluations on the command line."""

import json

import numpy as np
import pytest

from tailguard.plans import loads


@pytest.fixture
def model(tailguard, files, tmp_path):
    def fit(*words):
        file = tmp_path / "model.json"
        outcome = tailguard("fit", files / "claims.parquet", "--epsilon", 8, "--seed", 1, "--output", file, *words)
        assert outcome.status == 0, outcome.err
        return file, json.loads(file.read_text())["model"]

    return fit


@pytest.mark.parametrize("name", ["claims.parquet", "claims.csv", "claims.feather"])
def test_numbers(tailguard, model, files, columns, tmp_path, name):
    file, fitted = model("--target", "pay", "--features", "cost,age")
    report = tmp_path / "report.html"
    outcome = tailguard("evaluate", file, files / name, "--epsilon", 4, "--seed", 2, "--json", "--report", report)
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    X = np.column_stack([columns["cost"], columns["age"]])
    error = np.median(np.abs(columns["pay"] - X @ fitted["coefficients"] - fitted["intercept"]))
    median = found["measures"]["median_absolute_error"]
    assert median["low"] <= error <= median["high"]
    assert 0.8 < found["measures"]["r2"]["value"] <= 1.0
    assert found["guarantee"]["epsilon"] <= 4
    assert found["private"] is False
    assert "The measures" in report.read_text()


def test_classes_by_name(tailguard, model, files, columns):
    words = ("--target", "late", "--features", "cost", "--model", "logistic")
    file, fitted = model(*words)
    outcome = tailguard("evaluate", file, files / "claims.csv", "--epsilon", 2, "--seed", 2, "--measures", "error_rate")
    assert outcome.status == 0, outcome.err
    assert "error rate" in outcome.out
    assert "NOT PRIVATE" in outcome.err
    assert "auc" not in outcome.out
    assert fitted["classes"] == ["0", "1"]


def test_a_dry_run_asks_the_session_and_costs_nothing(tailguard, model, files, tmp_path):
    file, _ = model("--target", "pay", "--features", "cost,age")
    words = ("evaluate", file, files / "claims.csv", "--session", tmp_path / "ledger.db", "--dry-run")
    assert tailguard("ledger", "create", tmp_path / "ledger.db", "--epsilon", 2).status == 0
    assert "would pay for it" in tailguard(*words, "--epsilon", 2).err
    assert "costs ε = 4" in tailguard(*words, "--epsilon", 4).err
    assert json.loads(tailguard("ledger", "show", tmp_path / "ledger.db", "--json").out)["charges"] == []


def test_dry_run_and_wrong_use(tailguard, model, files):
    file, _ = model("--target", "pay", "--features", "cost,age")
    outcome = tailguard("evaluate", file, files / "claims.csv", "--epsilon", 2, "--dry-run")
    assert outcome.status == 0, outcome.err
    assert "Plan of a private evaluation of a linear regression" in outcome.out
    assert loads(tailguard("evaluate", file, files / "claims.csv", "--epsilon", 2, "--dry-run", "--json").out)
    wrong = tailguard("evaluate", file, files / "claims.csv", "--measures", "auc")
    assert wrong.status == 2
    assert "one of 'r2', 'median_absolute_error'" in wrong.sentence()
    assert "rows" in tailguard("evaluate", file, files / "claims.csv", "--epsilon", 0.01).sentence()
    assert "no column 'nothing'" in tailguard("evaluate", file, files / "claims.csv", "--target", "nothing").sentence()
