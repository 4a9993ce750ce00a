"""Files may be larger than the memory: no verb holds more than a batch of records, whatever the format."""

import json

import pytest

from tailguard.engines.base import ChunkedEngine

ROWS = 500
"""Rows in a batch here; the files have 4000."""
VERBS = {
    "linear": ("fit", "{data}", "--target", "pay", "--features", "age,cost"),
    "mean": ("mean", "{data}", "--columns", "age,pay"),
    "evaluate": ("evaluate", "{model}", "{data}"),
    "predict": ("predict", "{model}", "{data}"),
}


@pytest.fixture(scope="module")
def model(files, tmp_path_factory):
    from tailguard.cli import main

    path = tmp_path_factory.mktemp("model") / "model.json"
    words = [
        "fit",
        files / "claims.parquet",
        "--target",
        "pay",
        "--features",
        "age,cost",
        "--epsilon",
        8,
        "--output",
        path,
    ]
    assert main([str(word) for word in (*words, "--seed", 1)]) == 0
    return path


@pytest.fixture
def batches(monkeypatch):
    """Sizes of the pieces that were loaded; gathering all records is a failure."""
    seen, make, load = [], ChunkedEngine.__init__, {}

    def small(self, *facts, **options):
        make(self, *facts, **options)
        self.chunk_rows = ROWS
        kind = type(self)
        if kind not in load:
            load[kind] = kind._load
            monkeypatch.setattr(kind, "_load", lambda engine, piece: watched(load[kind](engine, piece)))

    def watched(records):
        seen.append(len(records[0]))
        return records

    monkeypatch.setattr(ChunkedEngine, "__init__", small)
    monkeypatch.setattr(ChunkedEngine, "gather", lambda *_: pytest.fail("all records are in memory at once"))
    return seen


@pytest.mark.parametrize("name", ["claims.parquet", "claims.csv", "claims.feather"])
@pytest.mark.parametrize("verb", ["linear", "mean", "evaluate", "predict"])
def test_one_batch_at_a_time_gives_the_same_answer(tailguard, files, model, verb, name, batches, monkeypatch):
    words = [word.format(data=files / name, model=model) for word in VERBS[verb]]
    words += [] if verb == "predict" else ["--epsilon", "8", "--seed", "1", "--json"]
    outcome = tailguard(*words)
    assert outcome.status == 0, outcome.err
    assert max(batches) == ROWS
    assert sum(batches) % 4000 == 0
    monkeypatch.undo()
    whole = tailguard(*words).out
    assert outcome.out == whole if verb == "predict" else json.loads(outcome.out) == json.loads(whole)


def test_gathering_is_noticed(tailguard, files, batches):
    """A pure fit by objective perturbation does hold all records; the page on the command line says so."""
    words = ("fit", files / "claims.parquet", "--target", "pay", "--features", "age", "--delta", 0, "--epsilon", 8)
    with pytest.raises(pytest.fail.Exception, match="all records"):
        tailguard(*words)
