"""The ledger on the command line."""

import json

import pytest

import tailguard as tg

FIT = ("--target", "pay", "--epsilon", 2)


@pytest.fixture
def file(tmp_path, tailguard):
    file = tmp_path / "ledger.db"
    outcome = tailguard("ledger", "create", file, "--epsilon", 4, "--delta", 1e-6)
    assert outcome.status == 0, outcome.err
    assert "total budget ε = 4, δ = 1e-06" in outcome.out
    assert "Spent: ε = 0" in outcome.out
    return file


@pytest.mark.parametrize("verb", ["create", "show", "charge", "export"])
def test_every_verb_has_an_example(tailguard, verb):
    outcome = tailguard("ledger", verb, "--help")
    assert outcome.status == 0
    assert f"Example: tailguard ledger {verb} ledger.db" in outcome.out


def test_a_verb_is_needed(tailguard):
    outcome = tailguard("ledger")
    assert outcome.status == 2
    assert "Missing command" in outcome.sentence()


def test_fits_are_charged_and_shown(tailguard, file, files):
    for words in (("fit", files / "claims.parquet", *FIT), ("mean", files / "claims.csv", "--epsilon", 1)):
        outcome = tailguard(*words, "--session", file)
        assert outcome.status == 0, outcome.err
    shown = tailguard("ledger", "show", file)
    assert shown.status == 0
    assert "newton, squared loss" in shown.out
    assert "centred_clipping" in shown.out
    document = json.loads(tailguard("ledger", "show", file, "--json").out)
    assert [line["number"] for line in document["charges"]] == [1, 2]
    assert document["n_rows"] == 4000
    assert 2.0 < document["spent"]["epsilon"] < 3.0


def test_a_fit_beyond_the_budget_is_refused_in_a_sentence(tailguard, file, files, tmp_path):
    assert tailguard("fit", files / "claims.parquet", "--target", "pay", "--epsilon", 4, "--session", file).status == 0
    output = tmp_path / "model.json"
    outcome = tailguard("fit", files / "claims.parquet", *FIT, "--session", file, "--output", output)
    assert outcome.status == 1
    assert "the session has ρ = 0 of" in outcome.sentence()
    assert not output.exists()


def test_simulations_and_missing_ledgers_are_refused(tailguard, file, files, tmp_path):
    fit = ("fit", files / "claims.parquet", *FIT, "--session")
    assert "random_state must be None" in tailguard(*fit, file, "--seed", 1).err
    assert "There is no ledger" in tailguard(*fit, tmp_path / "other.db").sentence()
    assert not (tmp_path / "other.db").exists()
    assert json.loads(tailguard("ledger", "show", file, "--json").out)["charges"] == []


def test_a_dry_run_is_free(tailguard, file, files):
    words = ("fit", files / "claims.parquet", "--target", "pay", "--session", file, "--dry-run")
    outcome = tailguard(*words, "--epsilon", 2)
    assert outcome.status == 0
    assert "would pay" in outcome.err
    refused = tailguard(*words, "--epsilon", 9)
    assert "costs ρ = " in refused.err
    assert "feature scale" in refused.out
    assert refused.status == 1
    assert tg.Session(file).statement().charges == ()


def test_charges_by_hand(tailguard, file, tmp_path):
    plan = tmp_path / "plan.json"
    plan.write_text(tailguard("plan", "--rows", 20000, "--features", 3, "--loss", "mean", "--json").out)
    assert "line 1" in tailguard("ledger", "charge", file, "--plan", plan).out
    note = ("--note", "=a histogram")
    assert json.loads(tailguard("ledger", "charge", file, "--epsilon", 0.1, *note, "--json").out)["number"] == 2
    assert "slack" in tailguard("ledger", "charge", file, "--epsilon", 0.1, "--delta", 1e-9, *note).sentence()
    for words in ((), ("--epsilon", 0.1), ("--plan", plan, "--epsilon", 0.1), note):
        outcome = tailguard("ledger", "charge", file, *words)
        assert outcome.status == 2
        assert "either" in outcome.sentence()
    table = tailguard("ledger", "export", file, "--csv").out.splitlines()
    assert table[0].startswith("number,time,label")
    assert "'=a histogram" in table[2]  # no formula for a spreadsheet


def test_export_holds_everything(tailguard, file, tmp_path):
    tailguard("ledger", "charge", file, "--epsilon", 0.1, "--note", "histogram")
    text = tailguard("ledger", "export", file).out
    assert json.loads(text) == tg.Session(file).statement().document()
    assert tailguard("ledger", "export", file, "--output", tmp_path / "out.json").status == 0
    assert (tmp_path / "out.json").read_text() == text
    assert tailguard("ledger", "export", file, "--csv", "--json").status == 2


def test_ledgers_are_never_made_twice_or_from_other_files(tailguard, file, tmp_path):
    before = file.read_bytes()
    assert "already" in tailguard("ledger", "create", file, "--epsilon", 1).sentence()
    assert file.read_bytes() == before
    other = tmp_path / "other.db"
    other.write_text("nonsense")
    for verb in ("show", "export"):
        outcome = tailguard("ledger", verb, other)
        assert outcome.status == 1
        assert "ledger" in outcome.sentence()
    assert other.read_text() == "nonsense"
    wrong = tailguard("ledger", "create", tmp_path / "new.db", "--epsilon", -1)
    assert wrong.status == 2
    assert not (tmp_path / "new.db").exists()
