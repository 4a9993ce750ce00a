"""JSON in and out: strict, plain, and safe against what a file may hold."""

import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

from tailguard import mechanisms
from tailguard.domains import L2Ball
from tailguard.errors import ParameterError, PlanError
from tailguard.mechanisms import Mechanism
from tailguard.plans import codec, dumps, loads, verify
from tailguard.plans.codec import decode, encode
from tailguard.privacy import Privacy
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tests.support.registry_plans import CASES

PLAN = CASES[0].plan


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "null",
        "[]",
        "3",
        '"plan"',
        "{}",
        '{"plan": {}}',
        '{"plan": null, "digest": ""}',
        '{"plan": {}, "digest": ""}',
        '{"plan": 3, "digest": ""}',
        '{"plan": {"type": "os.system"}, "digest": ""}',
        '{"plan": {"type": "builtins.eval", "source": "1"}, "digest": ""}',
        '{"plan": {"type": ["plans.Plan"]}, "digest": ""}',
        '{"plan": {"type": "privacy.Privacy", "epsilon": 1.0, "delta": 0.0}, "digest": ""}',
        "[" * 100_000,
        '{"plan": ' + "[" * 3000 + "]" * 3000 + ', "digest": ""}',
        '{"plan": ' + "9" * 5000 + ', "digest": ""}',
        "\ufeff{}",
        "\x00",
    ],
)
def test_what_is_no_plan_is_refused(text):
    with pytest.raises(PlanError):
        loads(text)


@pytest.mark.parametrize("digest", ["", None, 0, "0" * 64, ["x"], {}])
def test_a_wrong_digest_is_refused(digest):
    document = json.loads(dumps(PLAN))
    with pytest.raises(PlanError, match="altered"):
        loads(json.dumps({**document, "digest": digest}))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1.0}, b"x", object(), lambda: 0, {"a": 1}, 1j])
def test_a_plan_holds_values_only(value):
    with pytest.raises(PlanError, match="A plan cannot hold a value of type"):
        encode((1.0, value))


def test_a_strange_class_is_neither_written_nor_read():
    @dataclass(frozen=True)
    class Stranger:
        x: int = 0

    with pytest.raises(PlanError, match="Stranger"):
        encode(Stranger())
    with pytest.raises(PlanError, match="unknown type"):
        decode({"type": "tests.Stranger", "x": 0})


def test_classes_that_are_abstract_are_not_made():
    with pytest.raises(PlanError):
        decode({"type": "solvers.Solver"})


@pytest.mark.parametrize("value", [L2Ball(2, 1.0, (-0.0, 0.0)), Privacy(1.0, 1e-6), (), ((1, "a"), None, True)])
def test_values_come_back(value):
    assert decode(json.loads(json.dumps(encode(value)))) == value


def test_zero_has_one_sign():
    assert encode(L2Ball(1, 1.0, (-0.0,))) == encode(L2Ball(1, 1.0, (0.0,)))


def test_a_users_function_stays_behind_and_is_missed():
    plan = next(case.plan for case in CASES if case.name == "custom loss")
    again = loads(dumps(plan))
    assert verify(again) == verify(plan)
    with pytest.raises(ParameterError, match="given before the loss is evaluated"):
        run(again, next(case for case in CASES if case.name == "custom loss").engine(), Simulation(0))


@pytest.mark.parametrize("module", ["tailguard.plans", "tailguard.plans.codec"])
def test_a_fresh_process_reads_and_verifies_plans(module, tmp_path):
    """Nothing but the package of plans need be imported for every class of a plan to be known."""
    path = tmp_path / "plan.json"
    path.write_text(dumps(next(case.plan for case in CASES if case.name == "linear, medians")))
    code = (
        f"import sys; from {module} import loads; from tailguard.plans import verify\n"
        "print(verify(loads(open(sys.argv[1]).read())).epsilon)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert 29.9 < float(done.stdout) <= 30.0


def test_a_file_names_no_class_of_another_package(monkeypatch):
    """A module called `mechanisms` with a noiseless `Gaussian` has the tag of ours."""

    @dataclass(frozen=True)
    class Gaussian(Mechanism):
        norm = "l2"

    @dataclass(frozen=True)
    class Noiseless(Mechanism):
        norm = "l2"

    for cls in (Gaussian, Noiseless):
        cls.__module__ = "mechanisms"
    monkeypatch.setattr(codec, "_classes", {})
    assert type(decode({"type": "mechanisms.Gaussian"})) is mechanisms.Gaussian
    with pytest.raises(PlanError, match="unknown type"):
        decode({"type": "mechanisms.Noiseless"})
