"""Event trees: every choice of blocks, composed first; covered ones dropped; too many refused."""

import math

import pytest
from hypothesis import given, settings

from tailguard.errors import ParameterError
from tailguard.privacy import BoundedRange, Disjoint, Event, Gaussian, Laplace, Pure, Repeat, Sequential, epsilon
from tailguard.privacy.branches import LIMIT, Branch, expand
from tests.support.profiles import leaf_choices
from tests.support.registry_events import trees

BLOCKS = Disjoint((Gaussian(1.0), Pure(1.0)))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(trees)
def test_nothing_is_lost_and_nothing_invented(event: Event) -> None:
    oracle = [Branch.of(dict(choice)) for choice in leaf_choices(event)]  # type: ignore[arg-type]
    branches = expand(event)
    assert set(branches) <= set(oracle)
    for choice in oracle:
        assert any(branch.covers(choice) for branch in branches)
    for branch in branches:
        assert not any(other.covers(branch) for other in branches if other is not branch)


def test_composed_first_and_the_maximum_afterwards() -> None:
    event = Sequential((Gaussian(10.0), Disjoint((Gaussian(5.0), BoundedRange(0.1))), Laplace(4.0)))
    first = epsilon(Sequential((Gaussian(10.0), Gaussian(5.0), Laplace(4.0))), 1e-6)
    second = epsilon(Sequential((Gaussian(10.0), BoundedRange(0.1), Laplace(4.0))), 1e-6)
    assert epsilon(event, 1e-6) == max(first, second)


def test_two_cuts_may_differ_so_all_combinations_count() -> None:
    event = Sequential((Disjoint((Pure(1.0), Pure(2.0))), Disjoint((Pure(5.0), Pure(4.0)))))
    assert epsilon(event, 0.0) == 7.0
    assert len(expand(Repeat(BLOCKS, 3))) == 4


def test_a_cover_needs_every_cost() -> None:
    few, many = Pure(1.0), Repeat(Pure(0.6), 2)
    assert len(expand(Disjoint((few, many)))) == 2
    assert len(expand(Disjoint((few, Sequential((many, Pure(1.0))))))) == 1
    assert len(expand(Disjoint((Gaussian(1.0), Gaussian(2.0), Gaussian(3.0))))) == 1
    assert len(expand(Disjoint((Gaussian(1.0), Gaussian(2.0, distance=1e-9))))) == 2
    assert len(expand(Disjoint((Pure(0.5), BoundedRange(0.4))))) == 2


def test_thousands_of_blocks_and_steps_are_one_branch() -> None:
    blocks = Disjoint(tuple(Gaussian(5.0 + 0.001 * i) for i in range(3000)))
    steps = Sequential(tuple(Gaussian(50.0 + i) for i in range(3000)))
    assert len(expand(Sequential((blocks, steps, Repeat(blocks, 100))))) == 1


def test_too_many_ways_are_refused() -> None:
    assert len(expand(Repeat(BLOCKS, LIMIT - 1))) == LIMIT
    for event in (Repeat(BLOCKS, LIMIT), Repeat(Disjoint((Gaussian(1.0), Pure(1.0), BoundedRange(2.0))), 1000)):
        with pytest.raises(ParameterError, match="at most 1000 ways"):
            expand(event)


class Disguised(Gaussian):
    """A subclass may mean anything."""


@pytest.mark.parametrize("stranger", [Event(), "gaussian", None, Disguised(1.0)])
def test_strangers_are_refused(stranger: object) -> None:
    for event in (stranger, Sequential((Pure(1.0), stranger)), Repeat(stranger, 2), Disjoint((stranger,))):  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match=r"The 'event' parameter of an accountant must be made of"):
            epsilon(event, 1e-6)  # type: ignore[arg-type]


def test_nothing_costs_nothing() -> None:
    for event in (Sequential(()), Disjoint(()), Repeat(Sequential(()), 5)):
        assert epsilon(event, 0.0) == epsilon(event, 1e-6) == 0.0


def test_absurd_multipliers() -> None:
    assert math.isinf(epsilon(Gaussian(1e-200), 1e-6))
    assert math.isinf(epsilon(Laplace(5e-324), 1e-6))
    assert math.isinf(epsilon(Sequential((Gaussian(1.0), Pure(1e300))), 1e-6))
    assert epsilon(Pure(1e300), 1e-6) == 1e300
    for tiny in (Gaussian(1e200), Laplace(1e300), BoundedRange(5e-324), Pure(5e-324)):
        assert 0.0 <= epsilon(tiny, 1e-12) < 1e-80
