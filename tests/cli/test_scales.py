"""`--scales FILE.json`: public units on the command line."""

import json

import pytest

UNITS = {"features": {"cost": 2.0, "age": 18.0}, "target": 50.0, "centres": {"age": 45.0, "cost": 0.0}}


@pytest.fixture
def units(tmp_path):
    path = tmp_path / "scales.json"
    path.write_text(json.dumps({**UNITS, "target_centre": 150.0}))
    return path


def test_a_fit_takes_public_scales_by_name(tailguard, files, units):
    words = ("--target", "pay", "--features", "age,cost", "--scales", units, "--seed", 1, "--json")
    outcome = tailguard("fit", files / "claims.csv", *words)
    assert outcome.status == 0, outcome.err
    body = json.loads(outcome.out)
    assert body["promise"]["plan"]["problem"]["scales"]["features"] == [18.0, 2.0]
    assert abs(body["model"]["coefficients"][0] - 3.0) < 1.0
    shown = json.loads(tailguard("fit", files / "claims.csv", *words, "--dry-run").out)
    assert shown["plan"] == body["promise"]["plan"]


def test_a_plan_and_a_mean_take_them_too(tailguard, files, tmp_path):
    path = tmp_path / "scales.json"
    path.write_text('{"features": [18, 2]}')
    shown = tailguard("plan", "--rows", 4000, "--features", 2, "--scales", path).out
    assert "scales of the columns (18, 2)" in " ".join(shown.split())
    assert "feature scale" not in shown
    assert tailguard("mean", files / "claims.csv", "--columns", "age,cost", "--scales", path).status == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("[1, 2]", "a JSON object with fields among features, target, centres, target_centre"),
        ('{"feature": 1}', "a JSON object with fields among"),
        ('{"features": {"age": 1}}', "exactly the columns of the records, by name"),
        ('{"features": -1}', "The 'features' parameter of Scales"),
        ("{", "not a tailguard file of scales"),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(tailguard, files, tmp_path, text, said):
    path = tmp_path / "scales.json"
    if text is not None:
        path.write_text(text)
    words = ("--target", "pay", "--features", "age,cost", "--scales", path)
    assert said in tailguard("fit", files / "claims.csv", *words).sentence()
