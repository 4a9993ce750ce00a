"""Fits of files: the same model from every format, and nothing that should not be there."""

import json

import numpy as np
import pytest

from tailguard.cli.costs import synthetic_costs
from tailguard.cli.csv_file import CsvFile
from tailguard.engines.parquet import ParquetEngine

LINEAR = ("--target", "pay", "--features", "age,cost", "--epsilon", 4, "--seed", 1, "--json")
LOGISTIC = ("--loss", "logistic", "--features", "age,cost", "--epsilon", 8, "--seed", 1, "--json")


@pytest.mark.parametrize("name", ["claims.parquet", "claims.feather", "claims.csv", "text.arrow"])
def test_every_format_gives_the_same_linear_model(tailguard, files, name):
    first = json.loads(tailguard("fit", files / "claims.parquet", *LINEAR).out)
    outcome = tailguard("fit", files / name, *LINEAR)
    assert outcome.status == 0, outcome.err
    model = json.loads(outcome.out)
    assert model == first
    assert model["model"]["columns"] == ["age", "cost"]
    assert np.allclose(model["model"]["coefficients"], [3.0, -20.0], atol=1.5)


@pytest.mark.parametrize("name", ["text.parquet", "text.arrow", "text.csv"])
def test_labels_as_text_and_as_numbers_give_the_same_logistic_model(tailguard, files, name):
    numbers = json.loads(tailguard("fit", files / "claims.parquet", "--target", "late", *LOGISTIC).out)
    outcome = tailguard("fit", files / name, "--target", "answer", "--classes", "no,yes", *LOGISTIC)
    assert outcome.status == 0, outcome.err
    model = json.loads(outcome.out)
    assert model["model"]["coefficients"] == numbers["model"]["coefficients"]
    assert model["model"]["classes"] == ["no", "yes"]
    assert 1.0 < model["model"]["coefficients"][1] < 3.0


def test_a_simulation_is_loud_and_a_private_fit_is_not(tailguard, files, tmp_path):
    words = ("fit", files / "claims.parquet", "--target", "pay", "--epsilon", 4)
    page = tmp_path / "deep" / "report.html"
    simulated = tailguard(*words, "--seed", 1, "--report", page)
    assert "NOT PRIVATE" in simulated.err
    assert "NOT PRIVATE" in simulated.out
    assert "NOT PRIVATE" in page.read_text()
    private = tailguard(*words, "--report", page)
    assert private.err == ""
    assert "NOT PRIVATE" not in private.out + page.read_text()
    assert "differentially private" in page.read_text()


def test_two_private_fits_differ(tailguard, files):
    words = ("fit", files / "claims.parquet", "--target", "pay", "--epsilon", 4, "--json")
    first, second = (json.loads(tailguard(*words).out)["model"] for _ in range(2))
    assert first != second


@pytest.mark.parametrize("name", ["claims.parquet", "claims.feather", "claims.csv"])
def test_a_dry_run_shows_the_plan_and_reads_no_value(tailguard, files, name, monkeypatch):
    def read(*_):
        raise AssertionError("a value was read")

    for owner, method in ((ParquetEngine, "_load"), (CsvFile, "read")):
        monkeypatch.setattr(owner, method, read)
    monkeypatch.setattr("tailguard.engines.opening.arrow_column", read, raising=False)
    outcome = tailguard("fit", files / name, "--target", "pay", "--epsilon", 4, "--dry-run")
    assert outcome.status == 0, outcome.err
    assert "4000 rows, 3 columns" in outcome.out
    planned = tailguard("plan", "--rows", 4000, "--features", 3, "--epsilon", 4, "--json").out
    assert tailguard("fit", files / name, "--target", "pay", "--epsilon", 4, "--dry-run", "--json").out == planned


@pytest.mark.parametrize(("name", "start"), [("claims.parquet", 4), ("claims.feather", 2000)])
def test_a_dry_run_does_not_notice_that_the_values_are_destroyed(tailguard, files, tmp_path, name, start):
    """Headers are all that it reads; the fit itself fails."""
    data = bytearray((files / name).read_bytes())
    data[start : start + 20_000] = b"\xff" * 20_000
    (tmp_path / name).write_bytes(data)
    words = ("--target", "pay", "--epsilon", 4)
    whole, broken = (tailguard("fit", folder / name, *words, "--dry-run").out for folder in (files, tmp_path))
    assert whole == broken
    assert "4000 rows, 3 columns" in whole
    assert tailguard("fit", tmp_path / name, *words).sentence()


@pytest.mark.parametrize("name", ["claims.parquet", "claims.csv"])
def test_means(tailguard, files, columns, name):
    outcome = tailguard("mean", files / name, "--columns", "age,pay", "--epsilon", 4, "--seed", 0, "--json")
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)["model"]["coefficients"]
    assert np.allclose(found, [columns["age"].mean(), columns["pay"].mean()], rtol=0.2)


def test_unparsable_cells_are_missing_values(tailguard, tmp_path, columns):
    lines = ["age,junk,pay"]
    for k, (age, pay) in enumerate(zip(columns["age"], columns["pay"], strict=True)):
        lines.append(f"{'n/a' if k % 50 == 0 else age},word{k},{pay}")
    (tmp_path / "a.csv").write_text("\n".join(lines))
    outcome = tailguard("fit", tmp_path / "a.csv", "--target", "pay", "--epsilon", 8, "--seed", 2, "--json")
    assert outcome.status == 0, outcome.err
    age, junk = json.loads(outcome.out)["model"]["coefficients"]
    assert abs(age - 3.0) < 1.0
    assert junk == 0.0


def test_the_synthetic_costs_are_heavy_and_mostly_linear():
    costs = synthetic_costs(20_000, seed=1)
    assert np.array_equal(costs.X, synthetic_costs(20_000, seed=1).X)
    assert costs.y.min() == 0.0
    assert np.quantile(costs.y, 0.999) > 10 * costs.y.mean()


def test_the_demo_keeps_its_word(tailguard, tmp_path):
    """As words it is read by test_new_user."""
    outcome = tailguard("demo", "--folder", tmp_path / "out", "--json")
    assert outcome.status == 0, outcome.err
    models = json.loads(outcome.out)["models"]
    assert [model["epsilon"] for model in models] == [None, 0.5, 1.0, 2.0, None]
    null, *private, best = (model["r2"] for model in models)
    assert abs(null) < 0.01
    assert all(0.3 * best < explained <= best + 0.01 for explained in private)
    assert tailguard("verify", tmp_path / "out" / "demo-plan.json").status == 0
    assert "</html>" in (tmp_path / "out" / "demo-report.html").read_text()
    data = tmp_path / "out" / "demo-data.parquet"
    assert tailguard("fit", data, "--target", "cost", "--dry-run").status == 0


def test_a_dry_run_and_a_plan_write_the_page_of_the_plan(tailguard, files, tmp_path, monkeypatch):
    monkeypatch.setattr("tailguard.cli.carry_out.run", lambda *_: pytest.fail("the budget was spent"))
    dry, plan = tmp_path / "dry.html", tmp_path / "plan.html"
    words = ("fit", files / "claims.parquet", "--target", "pay", "--dry-run", "--report", dry)
    assert tailguard(*words).status == 0
    assert "Plan of a private linear regression of pay" in dry.read_text()
    assert tailguard("plan", "--rows", 4000, "--features", 3, "--report", plan).status == 0
    assert plan.read_text() == dry.read_text().replace(" of pay", "")
    assert "cannot be written" in tailguard("plan", "--rows", 4000, "--features", 3, "--report", tmp_path).sentence()
