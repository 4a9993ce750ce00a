"""What every plan must do: travel as JSON, have one digest, and let no single change pass."""

import dataclasses
import json
import pickle
import re
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest

from tailguard.errors import PlanError
from tailguard.plans import digest, dumps, loads, verify
from tests.support import tampering
from tests.support.checks import cost_is_exact, least_cost
from tests.support.registry_plans import CASES

ALL = pytest.mark.parametrize("case", CASES, ids=str)


@ALL
@pytest.mark.parametrize("indent", [None, 2])
def test_json_round_trip(case, indent):
    again = loads(dumps(case.plan, indent=indent))
    assert again == case.plan
    assert digest(again) == digest(case.plan)
    assert verify(again) == verify(case.plan)
    assert dumps(again, indent=indent) == dumps(case.plan, indent=indent)


@ALL
def test_plans_are_frozen_and_travel(case):
    assert pickle.loads(pickle.dumps(case.plan)) == case.plan
    assert hash(case.plan) == hash(loads(dumps(case.plan)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        case.plan.privacy = None


def test_different_plans_have_different_digests():
    assert len({digest(case.plan) for case in CASES}) == len(CASES)


@ALL
def test_equal_plans_have_equal_digests(case):
    problem = case.plan.problem
    same = dataclasses.replace(
        problem,
        n=np.int32(problem.n),
        d=np.int64(problem.d),
        smoothness=np.float32(1.0),
        intercept=np.bool_(problem.intercept),
    )
    plan = dataclasses.replace(case.plan, problem=same)
    assert plan == case.plan
    assert digest(plan) == digest(case.plan)


@ALL
def test_a_plan_holds_plain_json_only(case):
    document = json.loads(dumps(case.plan), parse_constant=pytest.fail)
    kinds = {type(value) for _, value in tampering.leaves(document)}
    assert kinds <= {int, float, str, bool, type(None)}


def _distinct(places, steps):
    """Yield paths and what is there, of the steps of one kind only the first, and the last step: others are like it."""
    kinds = [(step["statistic"], step["mechanism"]["type"]) for step in steps]
    kept = {kinds.index(kind) for kind in kinds} | {len(steps) - 1}
    for path, value in places:
        inside = path[1:] if path[:1] == ("plan",) else path
        if inside[:1] != ("steps",) or len(inside) == 1 or inside[1] in kept:
            yield path, value


@ALL
def test_no_leaf_can_be_changed_under_the_old_digest(case):
    document = json.loads(dumps(case.plan))
    for path, value in _distinct(tampering.leaves(document), document["plan"]["steps"]):
        near = value + 1 if isinstance(value, int | float) else f"{value}."
        for other in (near, float("nan")):
            if not tampering.same(value, other):
                _is_refused(json.dumps(tampering.changed(document, path, other)), path, other)


@ALL
def test_no_field_can_be_dropped_added_or_doubled(case):
    text = dumps(case.plan, indent=None)
    document = json.loads(text)
    for path, fields in _distinct(tampering.objects(document), document["plan"]["steps"]):
        _is_refused(json.dumps(tampering.changed(document, (*path, "extra"), 1)), path)
        for key in fields:
            _is_refused(json.dumps(tampering.without(document, path, key)), path, key)
    for field in ('"n": ', '"epsilon": ', '"multiplier": ', '"digest": ', '"plan": '):
        doubled = text.replace(field, f"{field}0, {field}", 1)
        assert doubled != text
        _is_refused(doubled, field)


def _is_refused(text, *what):
    try:
        loads(text)
    except PlanError:
        return
    pytest.fail(f"accepted: {what}")


KINDS = (
    *("centred mean", "centred mean, pure", "clipped mean, paper", "clipped mean, private level", "linear", "logistic"),
    *("linear, paper", "logistic, paper", "median of means", "linear, medians, paper, strongly convex"),
)
FORGED = [case for case in CASES if case.name in KINDS]


@pytest.mark.parametrize("case", FORGED, ids=str)
def test_a_forger_gains_nothing(case):
    """With a fitting digest, an altered plan is refused or costs what its steps really spend."""
    body = json.loads(dumps(case.plan))["plan"]
    tags = sorted(
        {fields["type"] for _, fields in tampering.objects(body)} | {"mechanisms.Laplace", "mechanisms.NoisyMax"}
    )
    accepted, verified = 0, {}
    for path, value in _distinct(tampering.leaves(body), body["steps"]):
        # Whatever a solver is told to do, only its steps cost anything: a few changes to it are enough.
        several = None if path[0] in ("steps", "privacy", "schema", "relation") or path[-1] in ("n", "type") else 9
        for other in islice(tampering.alternatives(value, tags), several):
            if not tampering.same(value, other):
                accepted += _costs_the_truth(tampering.changed(body, path, other), verified, path, other)
    assert accepted > 20  # more noise, other prose, another solver: harmless, and the test can see them


def _costs_the_truth(body, verified, *what):
    try:
        plan = loads(tampering.forged(body))
        seen = (plan.steps, plan.privacy, plan.schema, plan.relation, plan.problem.n)
        cost = verified[seen] = verified.get(seen) or verify(plan)  # it looks at nothing else
    except PlanError:
        return 0
    assert cost.epsilon <= plan.privacy.epsilon, what
    assert cost.epsilon >= least_cost(plan) * (1 - 1e-6), what
    return 1


@ALL
@pytest.mark.parametrize("factor", [0.5, 0.99])
def test_less_noise_is_refused_with_the_true_cost(case, factor):
    for step in {step.name: step for step in case.plan.steps}.values():
        less = dataclasses.replace(step, multiplier=step.multiplier * factor)
        plan = dataclasses.replace(
            case.plan, steps=tuple(less if other is step else other for other in case.plan.steps)
        )
        if not cost_is_exact(plan):
            assert _true_cost(plan) > verify(case.plan).epsilon
        elif least_cost(plan) > plan.privacy.epsilon:
            with pytest.raises(PlanError, match=r"more than the ε = .* that it promises") as error:
                verify(plan)
            stated = float(re.search(r"costs ε = (\S+) at", str(error.value)).group(1))
            assert least_cost(plan) * (1 - 1e-5) <= stated <= 1.1 * least_cost(plan)
        else:  # paper parameters leave room
            assert verify(plan).epsilon >= least_cost(plan) * (1 - 1e-6)


def _true_cost(plan):
    """Return what the plan is found to cost, whether or not that is refused."""
    try:
        return verify(plan).epsilon
    except PlanError as error:
        return float(re.search(r"costs ε = (\S+) at", str(error)).group(1))


def test_huge_noise_costs_next_to_nothing():
    plan = next(case.plan for case in CASES if case.name == "clipped mean, known moment")
    for multiplier in (1e20, 1e40, 1e60):
        quiet = dataclasses.replace(
            plan, steps=tuple(dataclasses.replace(step, multiplier=multiplier) for step in plan.steps)
        )
        assert 0.0 < verify(quiet).epsilon < 1e-9


def test_a_saved_plan_is_read_in_a_process_that_knows_nothing_but_plans(tmp_path):
    """Whoever verifies a file need not have imported what made it."""
    files = []
    for number, case in enumerate(CASES):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(dumps(case.plan))
    program = (
        "import sys, pathlib\n"
        "from tailguard.plans import loads, verify\n"
        "for name in sys.argv[1:]:\n"
        "    print(verify(loads(pathlib.Path(name).read_text())).epsilon)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, files)], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert [float(line) for line in done.stdout.split()] == [verify(case.plan).epsilon for case in CASES]
