"""The parts of a plan refuse what they cannot hold, in one sentence, and store plain numbers."""

import dataclasses

import numpy as np
import pytest

from tailguard.domains import L2Ball, WholeSpace
from tailguard.errors import ParameterError
from tailguard.losses import Squared
from tailguard.mechanisms import Gaussian
from tailguard.plans import Moment, Plan, Problem, Step
from tailguard.plans.step import MOST_BLOCKS, MOST_RELEASES
from tailguard.privacy import Disjoint, Privacy, Repeat
from tests.support import toy
from tests.support.sentences import sentence

STEP = {
    "name": "sum",
    "statistic": "clipped sum",
    "dimension": 3,
    "bits": 30,
    "parts": 1,
    "sensitivity": 2.0**31,
    "mechanism": Gaussian(),
    "multiplier": 4.0,
}
PROBLEM = {"loss": Squared(), "domain": WholeSpace(3), "n": 100, "d": 3}
WRONG_NUMBERS = ("3", None, True, float("nan"), float("inf"), -1, [1])


@pytest.mark.parametrize("field", ["dimension", "bits", "parts", "count", "blocks"])
@pytest.mark.parametrize("value", [*WRONG_NUMBERS, 0, 2.0, 2.5])
def test_whole_numbers_of_a_step(field, value):
    with pytest.raises(ParameterError, match=f"The '{field}' parameter of Step must be an integer"):
        Step(**{**STEP, field: value})


@pytest.mark.parametrize("field", ["sensitivity", "multiplier"])
@pytest.mark.parametrize("value", [*WRONG_NUMBERS, 0.0])
def test_numbers_of_a_step(field, value):
    with pytest.raises(ParameterError, match=sentence(field, "Step", "a finite number greater than 0")):
        Step(**{**STEP, field: value})


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("name", 3, "a string"),
        ("statistic", None, "a string"),
        ("mechanism", "Gaussian", "a Mechanism"),
        ("mechanism", Gaussian, "a Mechanism"),
        ("bits", 41, "an integer of at least 1 and at most 40"),
        ("parts", 4, "an integer of at least 1 and at most 3"),
        ("count", MOST_RELEASES + 1, f"an integer of at least 1 and at most {MOST_RELEASES}"),
        ("blocks", MOST_BLOCKS + 1, f"an integer of at least 1 and at most {MOST_BLOCKS}"),
    ],
)
def test_other_fields_of_a_step(field, value, rule):
    with pytest.raises(ParameterError, match=sentence(field, "Step", rule)):
        Step(**{**STEP, field: value})


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("loss", "squared", "a loss"),
        ("domain", "ball", "a Domain"),
        ("domain", L2Ball(2, 1.0), "of dimension d = 3"),
        ("n", 0, "an integer of at least 1"),
        ("n", 5.0, "an integer of at least 1"),
        ("d", "3", "an integer of at least 1"),
        ("intercept", 1, "a boolean"),
        ("moment", 2.0, "a Moment or None"),
        ("smoothness", 0.0, "a finite number greater than 0"),
        ("smoothness", float("inf"), "a finite number greater than 0"),
    ],
)
def test_fields_of_a_problem(field, value, rule):
    with pytest.raises(ParameterError, match=sentence(field, "Problem", rule)):
        Problem(**{**PROBLEM, field: value})


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"order": 1.0}, "order"),
        ({"order": float("inf")}, "order"),
        ({"bound": 0.0}, "bound"),
        ({"bound": "3"}, "bound"),
        ({"of": "anything"}, "of"),
    ],
)
def test_fields_of_a_moment(fields, name):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of Moment"):
        Moment(**fields)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("recipe", 3),
        ("parameters", "other"),
        ("problem", None),
        ("privacy", 1.0),
        ("solver", "solver"),
        ("steps", [Step(**STEP)]),
        ("steps", (Step(**STEP), None)),
        ("sources", (("a", 1),)),
        ("sources", (("a", "b", "c"),)),
        ("sources", "source"),
    ],
)
def test_fields_of_a_plan(field, value):
    plan = toy.plan(toy.usual(), toy.obedient)
    with pytest.raises(ParameterError, match=f"The '{field}' parameter of Plan"):
        dataclasses.replace(plan, **{field: value})


def test_numbers_are_stored_plainly():
    step = Step(**{**STEP, "dimension": np.int16(3), "multiplier": np.float32(4.0), "sensitivity": 2**31})
    assert [type(step.dimension), type(step.multiplier), type(step.sensitivity)] == [int, float, float]
    problem = Problem(**{**PROBLEM, "n": np.int64(100), "intercept": np.bool_(True)})
    assert [type(problem.n), type(problem.intercept)] == [int, bool]
    assert [type(value) for value in (Moment(2).order, Moment(bound=3).bound)] == [float, float]


@pytest.mark.parametrize(("count", "blocks", "met"), [(1, 1, 1), (6, 1, 6), (6, 2, 3), (7, 2, 4), (2, 5, 1)])
def test_the_event_of_a_step_is_what_one_record_meets(count, blocks, met):
    step = Step(**STEP, count=count, blocks=blocks)
    single = Gaussian().event(4.0, 2.0**31, 3)
    assert step.release_event == single
    expected = Repeat(single, met) if met > 1 else single
    assert step.event == (Disjoint((expected,) * blocks) if blocks > 1 else expected)


def test_a_plan_is_the_sequence_of_its_steps():
    plan = toy.plan(toy.usual(), toy.obedient)
    assert plan.event.events == tuple(step.event for step in plan.steps)
    assert isinstance(plan, Plan)
    assert Privacy(3.0, 1e-6) == plan.privacy
