"""`audit`: the promise tried on files, and a breach that is noticed."""

import json

import pytest

from tailguard.run.randomness import Simulation
from tailguard.statistics import Weighted

LINEAR = ("--target", "pay", "--features", "age,cost")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("claims.parquet", LINEAR),
        ("claims.csv", ("--features", "age,pay")),
        ("claims.feather", ("--target", "late", "--features", "age,cost", "--model", "logistic")),
        ("text.csv", ("--target", "answer", "--features", "age,cost", "--model", "svc", "--classes", "no,yes")),
    ],
)
def test_promises_are_kept_on_files(tailguard, files, name, words):
    outcome = tailguard("audit", files / name, "--epsilon", 4, "--row", 3, "--json", *words)
    assert outcome.status == 0, outcome.err
    assert "must not be published" in outcome.err
    found = json.loads(outcome.out)
    assert found["holds"] is True
    assert set(found["changes"]) == {"huge", "huge and negative", "missing", "zero"}
    ratios = [ratio for steps in found["changes"].values() for ratio in steps.values()]
    assert max(ratios) == pytest.approx(1.0, abs=1e-6)
    assert "98765" not in outcome.out


def test_a_dry_run_reads_no_record(tailguard, files, monkeypatch):
    monkeypatch.setattr("tailguard.cli.sources.Source.open", lambda *_: pytest.fail("records were opened"))
    outcome = tailguard("audit", files / "claims.csv", *LINEAR, "--epsilon", 4, "--dry-run")
    assert outcome.status == 0, outcome.err
    assert "4000 rows, 2 columns" in outcome.out


def test_a_sensitivity_that_is_too_small_is_noticed(tailguard, files, monkeypatch):
    true = Weighted._sensitivity
    monkeypatch.setattr(Weighted, "_sensitivity", classmethod(lambda cls, *facts: true(*facts) / 1000.0))
    outcome = tailguard("audit", files / "claims.parquet", *LINEAR, "--epsilon", 4, "--row", 10)
    assert outcome.status == 1
    assert "BROKE its promise" in outcome.out


MEAN = ("--features", "age,pay", "--epsilon", 8, "--row", 3, "--attack", 100)


def test_an_attack_on_a_file(tailguard, files, monkeypatch):
    outcome = tailguard("audit", files / "claims.parquet", *MEAN)
    assert outcome.status == 0, outcome.err
    assert "The plan kept its promise." in outcome.out
    assert "Attack on the promise ε = 8, δ = 1e-06: not broken." in outcome.out
    assert "simulation from seed 0, NOT PRIVATE" in outcome.out
    assert "must not be published" in outcome.err
    assert "98765" not in outcome.out
    monkeypatch.setattr("tailguard.cli.audit.HELD", 0)  # as for a file that is larger than the memory
    assert tailguard("audit", files / "claims.parquet", *MEAN).out == outcome.out


def test_an_attack_on_noise_that_is_too_small(tailguard, files, monkeypatch):
    whole = Simulation.gaussian
    monkeypatch.setattr(Simulation, "gaussian", lambda self, value, scale: whole(self, value, 0.3 * scale))
    outcome = tailguard("audit", files / "claims.feather", *MEAN, "--json", "--seed", 500)
    assert outcome.status == 1  # and all statistics are as they should be
    found = json.loads(outcome.out)
    assert found["holds"] is False
    assert max(ratio for steps in found["changes"].values() for ratio in steps.values()) <= 1.0
    assert found["attack"]["verdict"] == "broken"
    assert found["attack"]["noise_upper"] < 1.0
    assert found["attack"]["claimed"] == {"epsilon": 8.0, "delta": 1e-6}
    assert "seed 500" in found["attack"]["numerics"]


@pytest.mark.parametrize(
    ("words", "status", "part"),
    [
        ((*LINEAR, "--attack", 99), 2, "'attack' parameter of audit"),
        ((*LINEAR, "--row", 4000), 2, "'row' parameter of Neighbour"),
        ((*LINEAR, "--row", -1), 2, "'row' parameter of Neighbour"),
        (("--model", "logistic"), 2, "needs a --target"),
        (("--target", "nothing"), 1, "no column 'nothing'"),
    ],
)
def test_wrong_use(tailguard, files, words, status, part):
    outcome = tailguard("audit", files / "claims.parquet", *words)
    assert outcome.status == status
    assert part in outcome.err
    assert outcome.out == ""
