"""Every model of the command line: planned, fitted, written, predicted with; options that do not belong are refused."""

import json

import numpy as np
import pytest

from tests.support.held_rows import held_scores

MODELS = {
    "lasso": ("--target", "pay", "--model", "lasso", "--radius", 30),
    "lasso, pure": ("--target", "pay", "--model", "lasso", "--radius", 30, "--delta", 0),
    "robust": ("--target", "pay", "--model", "robust"),
    "robust, biweight": ("--target", "pay", "--model", "robust", "--robust-loss", "biweight", "--threshold", 100),
    "linear, pure": ("--target", "pay", "--model", "linear", "--delta", 0),
    "least absolute": ("--target", "pay", "--model", "least-absolute"),
    "least absolute, pure": ("--target", "pay", "--model", "least-absolute", "--delta", 0),
    "svc": ("--target", "late", "--model", "svc"),
    "svc, pure": ("--target", "late", "--model", "svc", "--delta", 0),
    "sparse linear": ("--target", "pay", "--model", "sparse-linear", "--sparsity", 1),
    "sparse linear, auto": ("--target", "pay", "--model", "sparse-linear", "--sparsity", "auto"),
    "sparse logistic": ("--target", "late", "--model", "sparse-logistic", "--sparsity", 1),
}


@pytest.mark.parametrize("words", MODELS.values(), ids=MODELS.keys())
def test_a_model_is_fitted_written_and_predicts(tailguard, files, columns, tmp_path, words):
    file = tmp_path / "model.json"
    common = ("--features", "age,cost", "--epsilon", 8, "--seed", 1, "--output", file)
    outcome = tailguard("fit", files / "claims.parquet", *common, *words)
    assert outcome.status == 0, outcome.err
    model = json.loads(file.read_text())["model"]
    coefficients = np.array(model["coefficients"])
    if words[-2:] == ("--sparsity", 1):
        assert np.count_nonzero(coefficients) == 1
    header, *lines = tailguard("predict", file, files / "claims.parquet").out.splitlines()
    scores = held_scores(model, np.column_stack([columns["age"], columns["cost"]]))
    if header == "prediction":
        held = np.clip(scores, *model.get("prediction_range", (-np.inf, np.inf)))
        np.testing.assert_allclose(np.array(lines, float), held, rtol=1e-9)
    if header == "prediction,margin":
        np.testing.assert_allclose([float(line.split(",")[1]) for line in lines], scores, rtol=1e-9)
    assert len(lines) == len(scores)
    kept = np.abs(columns["pay"]) < 1e4
    assert np.corrcoef(scores[kept], columns[words[1]][kept])[0, 1] > 0.5


def test_a_sparse_mean_has_few_entries(tailguard, files):
    outcome = tailguard("mean", files / "claims.csv", "--sparsity", 1, "--epsilon", 8, "--seed", 0, "--json")
    assert outcome.status == 0, outcome.err
    body = json.loads(outcome.out)
    assert np.count_nonzero(body["model"]["coefficients"]) == 1
    assert body["promise"]["plan"]["recipe"] == "sparse_mean"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--model", "linear", "--sparsity", 2), "The 'sparsity' parameter of the linear model must be left out"),
        (("--model", "lasso"), "The 'radius' parameter of Lasso must be a finite number greater than 0"),
        (("--model", "lasso", "--threshold", 2), "The 'threshold' parameter of the lasso model must be left out"),
        (("--robust-loss", "huber"), "The 'robust-loss' parameter of the linear model must be left out"),
        (("--model", "robust", "--threshold", 0), "The 'threshold' parameter of RobustRegression must be"),
        (("--model", "sparse-linear", "--sparsity", 9), "must be an integer of at least 1 and at most 3. Got 9"),
        (("--model", "sparse-linear", "--sparsity", "few"), "must be an integer or 'auto'. Got 'few'"),
        (("--model", "mean", "--sparsity", "auto"), "The 'sparsity' parameter of SparseMean must be an integer"),
    ],
)
def test_options_that_do_not_belong_are_refused(tailguard, words, sentence):
    outcome = tailguard("plan", "--rows", 5000, "--features", 3, *words)
    assert sentence in outcome.sentence()
    assert outcome.status == 2


def test_the_former_name_of_the_model_option_still_works(tailguard):
    new, old = (
        tailguard("plan", "--rows", 5000, "--features", 3, name, "logistic", "--json") for name in ("--model", "--loss")
    )
    assert new.status == 0
    assert new.out == old.out
