"""A plan file is believed only as far as it can be recomputed."""

import copy
import hashlib
import json
import math

import pytest

from tailguard.cli.model_file import _checksum, read_plan
from tailguard.errors import PlanError, TailguardError
from tailguard.plans import loads
from tailguard.plans import verify as recompute
from tailguard.privacy import epsilon as closed_form

FACTS = ("--rows", 10000, "--features", 10, "--epsilon", 1, "--delta", 1e-6)
EDITS = {
    "half": lambda number: number / 2,
    "double": lambda number: number * 2,
    "next": lambda number: number + 1,
    "zero": lambda number: 0,
    "negative": lambda number: -number,
    "huge": lambda number: 10**30,
    "text": str,
    "nothing": lambda number: None,
    "list": lambda number: [number],
}


def numbers(value, path=()):
    """Yield the path of every number in a JSON document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, int | float) and not isinstance(item, bool):
            yield (*path, key)
        yield from numbers(item, (*path, key))


def edited(document, path, edit):
    """The document with one number edited; what is not on the way to it is shared."""
    if not path:
        return edit(document)
    changed = copy.copy(document)
    changed[path[0]] = edited(document[path[0]], path[1:], edit)
    return changed


def with_digest(document):
    text = json.dumps(document["plan"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**document, "digest": hashlib.sha256(text.encode()).hexdigest()}


@pytest.fixture
def plan_of(tailguard):
    def make(*words):
        outcome = tailguard("plan", *words, "--json")
        assert outcome.status == 0, outcome.err
        return json.loads(outcome.out)

    return make


@pytest.fixture
def verify(tailguard, tmp_path):
    def check(document, *words):
        file = tmp_path / "plan.json"
        file.write_text(json.dumps(document))
        return tailguard("verify", file, *words)

    return check


@pytest.mark.parametrize(
    "words",
    [
        FACTS,
        (*FACTS, "--loss", "logistic", "--radius", 5),
        (*FACTS, "--loss", "mean"),
        ("--rows", 442, "--features", 10, "--epsilon", 1, "--delta", 1e-6),  # δ stays unspent
        ("--rows", 50000, "--features", 3, "--loss", "mean", "--delta", 0),
        (*FACTS, "--loss", "mean", "--method", "clipping", "--parameters", "paper", "--moment-bound", 3),
    ],
)
def test_plan_and_verify_agree(plan_of, verify, words):
    document = plan_of(*words)
    outcome = verify(document, "--json")
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    assert found["holds"] is True
    assert found["digest"] == document["digest"]
    assert found["recomputed"]["epsilon"] <= found["promised"]["epsilon"] == document["plan"]["privacy"]["epsilon"]
    text = verify(document)
    assert text.status == 0
    assert "keeps its promise" in text.out
    assert document["digest"] in text.out


def test_any_edited_number_is_noticed(plan_of, verify):
    document = plan_of(*FACTS)
    paths = list(numbers(document["plan"], ("plan",)))
    assert len(paths) > 100
    changed = [edited(document, path, lambda number: number + 1) for path in paths]
    for one in changed[::50]:
        outcome = verify(one)
        assert outcome.status == 1
        assert "altered" in outcome.sentence()
    for one in changed:  # what `verify` reads a plan with
        with pytest.raises(PlanError, match="altered"):
            loads(json.dumps(one))


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_with_a_new_digest_verify_refuses_or_tells_the_true_cost(plan_of, verify, edit):
    document = plan_of("--rows", 10000, "--features", 3, "--loss", "mean", "--moment-order", 2.5, "--radius", 9)
    for place, path in enumerate(numbers(document["plan"], ("plan",))):
        changed = with_digest(edited(document, path, edit))
        try:  # what the command does, and the command itself for some
            plan = loads(json.dumps(changed))
            found = recompute(plan).epsilon
        except TailguardError:
            plan = found = None
        if place % 10 == 0:
            outcome = verify(changed, "--json")
            assert (outcome.status == 0) == (plan is not None), path
            assert plan is not None or outcome.sentence()
            assert plan is None or json.loads(outcome.out)["recomputed"]["epsilon"] == found
        if plan is not None:
            truth = closed_form(plan.event, plan.privacy.delta)
            assert math.isclose(found, truth, rel_tol=1e-6), path
            assert found <= plan.privacy.epsilon


def test_less_noise_is_refused_with_the_true_cost(plan_of, verify):
    document = plan_of(*FACTS, "--loss", "mean")
    for step in document["plan"]["steps"]:
        step["multiplier"] /= 2
    sentence = verify(with_digest(document)).sentence()
    assert "costs ε = 2." in sentence
    assert "more than the ε = 1" in sentence


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "nonsense", '{"plan": 1, "digest": 2}', '{"model": 1}', "[" * 100_000, '{"plan": {"type": "x"}}'],
)
def test_other_files_are_refused(tailguard, tmp_path, text):
    file = tmp_path / "plan.json"
    file.write_text(text)
    outcome = tailguard("verify", file)
    assert outcome.status == 1
    assert outcome.sentence()


def test_a_file_that_is_no_text_is_refused(tailguard, tmp_path):
    file = tmp_path / "plan.json"
    file.write_bytes(b"\xff\xfe\x00")
    assert "cannot be read as text" in tailguard("verify", file).sentence()


@pytest.fixture
def model(tailguard, files, tmp_path):
    def fit(*words):
        file = tmp_path / "model.json"
        outcome = tailguard(
            "fit", files / "claims.parquet", "--target", "pay", "--epsilon", 4, "--output", file, *words
        )
        assert outcome.status == 0, outcome.err
        return file, json.loads(file.read_text())

    return fit


def test_a_model_is_verified_by_its_plan(tailguard, model):
    file, document = model()
    outcome = tailguard("verify", file, "--json")
    assert outcome.status == 0, outcome.err
    assert json.loads(outcome.out)["digest"] == document["promise"]["digest"]


def test_an_edited_model_is_refused(model, verify, tmp_path):
    _, document = model()
    changed = [edited(document, path, lambda number: number + 1) for path in numbers(document)]
    for one in changed[::50]:
        assert "altered" in verify(one).sentence()
    file = tmp_path / "edited.json"
    for one in changed:  # what `verify` reads a model with
        file.write_text(json.dumps(one))
        with pytest.raises(PlanError, match="altered"):
            read_plan(file)


def test_a_simulation_is_refused(tailguard, model):
    file, document = model("--seed", 3)
    assert document["private"] is False
    assert "NOT PRIVATE" in tailguard("verify", file).sentence()


def test_a_simulation_with_another_flag_is_refused(tailguard, model):
    file, document = model("--seed", 3)
    forged = {name: value for name, value in document.items() if name != "checksum"} | {"private": True}
    file.write_text(json.dumps({**forged, "checksum": _checksum(forged)}))
    assert "NOT PRIVATE" in tailguard("verify", file).sentence()


def test_a_model_that_gives_a_field_twice_is_refused(tailguard, model):
    file, _ = model()
    file.write_text(file.read_text().replace('"private": true', '"private": false, "private": true', 1))
    assert tailguard("verify", file).status == 1
