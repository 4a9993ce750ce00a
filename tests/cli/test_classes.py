"""Several classes and intervals on the command line: fit, model file, predict, report."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest


@pytest.fixture(scope="module")
def flowers(tmp_path_factory):
    """Three kinds of flowers by two measures; one label that nobody named."""
    rng = np.random.default_rng(3)
    kind = rng.integers(3, size=4000)
    X = np.array([[1.5, 0.2], [4.3, 1.3], [5.6, 2.0]])[kind] + rng.normal(size=(4000, 2)) * [0.45, 0.25]
    labels = np.array(["red", "blue", "white"], dtype=object)[kind]
    labels[7] = "weed"
    file = tmp_path_factory.mktemp("flowers") / "flowers.parquet"
    pq.write_table(pa.table({"length": X[:, 0], "width": X[:, 1], "kind": labels.astype(str)}), file)
    return file, X, labels


FIT = ("--target", "kind", "--model", "logistic", "--classes", "red,blue,white", "--epsilon", 4, "--seed", 1)


def test_three_classes_from_the_file_to_predictions(tailguard, flowers, tmp_path):
    file, X, labels = flowers
    model, report = tmp_path / "model.json", tmp_path / "report.html"
    outcome = tailguard("fit", file, *FIT, "--output", model, "--report", report)
    assert outcome.status == 0, outcome.err
    assert all(label in outcome.out for label in ("red", "blue", "white", "(intercept)"))
    assert "white" in report.read_text()
    fitted = json.loads(model.read_text())["model"]
    scores = X @ np.array(fitted["coefficients"]).T + fitted["intercept"]
    header, *lines = tailguard("predict", model, file).out.splitlines()
    assert header == "prediction,probability red,probability blue,probability white"
    guesses = [line.split(",")[0] for line in lines]
    assert guesses == np.array(fitted["classes"])[scores.argmax(axis=1)].tolist()
    assert np.mean(np.array(guesses) == labels) > 0.9
    assert np.allclose(np.array([line.split(",")[1:] for line in lines], float).sum(axis=1), 1.0)


def test_three_classes_are_evaluated(tailguard, flowers, tmp_path):
    file, _, labels = flowers
    model = tmp_path / "model.json"
    tailguard("fit", file, *FIT, "--output", model)
    guesses = np.array([line.split(",")[0] for line in tailguard("predict", model, file).out.splitlines()[1:]])
    outcome = tailguard("evaluate", model, file, "--epsilon", 100, "--seed", 0, "--json")
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)["measures"]
    assert list(found) == ["error_rate"]
    known = labels != "weed"  # a label that nobody named counts for nothing
    assert found["error_rate"]["value"] == pytest.approx(np.mean(guesses[known] != labels[known]), abs=0.002)
    assert "Plan of a private evaluation" in tailguard("evaluate", model, file, "--dry-run").out
    assert "'error_rate'" in tailguard("evaluate", model, file, "--measures", "auc").sentence()


def test_the_plan_of_three_classes_is_shown_without_data(tailguard, flowers):
    outcome = tailguard("fit", flowers[0], *FIT, "--dry-run")
    assert outcome.status == 0, outcome.err
    assert "class shares" in outcome.out
    # Who has no file gets the same plan from its size.
    dry = tailguard("fit", flowers[0], *FIT[:-2], "--dry-run", "--json").out
    words = ("--model", "logistic", "--classes", "a,b,c", "--epsilon", 4, "--json")
    assert tailguard("plan", "--rows", 4000, "--features", 2, *words).out == dry
    assert "'classes'" in tailguard("plan", "--rows", 4000, "--features", 2, *words, "--classes", "a").sentence()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--model", "svc", "--classes", "a,b,c"), "two different labels"),
        (("--model", "logistic", "--classes", "a,b,a"), "two or more different labels"),
        (("--model", "logistic", "--classes", "a,b,c", "--delta", "0"), "'delta' parameter of newton with 3 classes"),
    ],
)
def test_what_cannot_be_is_a_sentence(tailguard, flowers, words, sentence):
    assert sentence in tailguard("fit", flowers[0], "--target", "kind", *words).sentence()


def test_intervals_are_printed_and_written(tailguard, files, tmp_path):
    model, report = tmp_path / "model.json", tmp_path / "report.html"
    words = ("--target", "pay", "--features", "cost,age", "--epsilon", 4, "--seed", 1, "--output", model)
    outcome = tailguard("fit", files / "claims.parquet", *words, "--report", report)
    assert outcome.status == 0, outcome.err
    assert "95% interval" in outcome.out
    assert "standard error" in report.read_text()
    found = json.loads(model.read_text())["uncertainty"]
    assert found["level"] == 0.95
    assert all(low < high for low, high in [*found["intervals"], found["intercept_interval"]])
    assert len(found["standard_errors"]) == 2
    mean = json.loads(tailguard("mean", files / "claims.parquet", "--epsilon", 4, "--seed", 1, "--json").out)
    assert len(mean["uncertainty"]["intervals"]) == len(mean["model"]["columns"])
