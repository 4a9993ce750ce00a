"""The examples in the help work, one after the other, in a folder with the files that they name."""

import shlex

import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest

EXAMPLES = (
    "plan --rows 10000 --features 10 --epsilon 1 --json > plan.json",
    "advise --rows 20000 --features 12 --epsilon 1",
    "fit claims.parquet --target cost --epsilon 1 --output model.json --report report.html",
    "mean claims.csv --columns cost,age --epsilon 0.5",
    "predict model.json new.csv --output predictions.csv",
    "evaluate model.json test.parquet --epsilon 0.5",
    "audit claims.parquet --target cost --epsilon 1 --row 17",
    "verify certificate.json --model model.json",
    "ledger create ledger.db --epsilon 1 --delta 1e-6 --rows 20000",
    'ledger charge ledger.db --epsilon 0.1 --note "histogram of ages"',
    "ledger show ledger.db",
    "ledger export ledger.db --output ledger.json",
)
"""In an order that makes sense; `demo`, `bench` and `reproduce` have tests of their own, and `certify` needs a key."""


@pytest.fixture
def folder(tmp_path, monkeypatch, columns):
    monkeypatch.chdir(tmp_path)
    table = pa.table({"age": columns["age"], "visits": columns["cost"], "cost": columns["pay"]})
    for name in ("claims", "test"):
        pq.write_table(table, f"{name}.parquet")
    for name in ("claims", "new"):
        pv.write_csv(table, f"{name}.csv")
    return tmp_path


def test_the_examples_of_the_help_work(tailguard, folder):
    for example in EXAMPLES:
        line, _, file = example.partition(" > ")
        words = shlex.split(line)
        depth = 2 if words[0] == "ledger" else 1
        assert f"Example: tailguard {example}" in " ".join(tailguard(*words[:depth], "--help").out.split())
        if words[0] == "verify":
            fit = ("fit", "claims.parquet", "--target", "cost", "--output", "model.json")
            assert tailguard(*fit, "--certificate", "certificate.json").status == 0
        outcome = tailguard(*words)
        assert outcome.status == 0, (example, outcome.err)
        if file:
            (folder / file).write_text(outcome.out)
    named = {word for example in EXAMPLES for word in shlex.split(example) if "." in word and not word[0].isdigit()}
    assert named == {path.name for path in folder.iterdir()}
