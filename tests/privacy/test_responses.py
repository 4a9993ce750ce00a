"""Exact composition of pure events, against enumeration by hand and against dp-accounting."""

import itertools
import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailguard.errors import BudgetError, ParameterError
from tailguard.mechanisms import LaplacePeeling
from tailguard.privacy import Laplace, Privacy, Pure, Repeat, Sequential, calibrate, epsilon, recompute
from tailguard.privacy.branches import expand
from tailguard.privacy.composition import renyi_epsilon
from tailguard.privacy.cumulants import pure
from tailguard.privacy.discretised import discretised_epsilon
from tailguard.privacy.enumerated import enumerated_epsilon
from tailguard.privacy.responses import MOST_ATOMS, atoms, responses_epsilon


def _delta(costs, level):
    """Σ (P − e^ε Q)₊ over every string of answers, in fifty digits."""
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        for truths in itertools.product((0, 1), repeat=len(costs)):
            p = q = mpmath.mpf(1)
            for truth, cost in zip(truths, costs, strict=True):
                high, low = 1 / (1 + mpmath.e**-cost), 1 / (1 + mpmath.e**cost)
                p, q = (p * high, q * low) if truth else (p * low, q * high)
            total += max(mpmath.mpf(0), p - mpmath.e ** mpmath.mpf(level) * q)
        return total


def _events(costs):
    return Sequential(tuple(Pure(cost) for cost in costs))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([0.01, 0.3, 0.30001, 1.0, 4.0]), min_size=1, max_size=8), st.floats(-30.0, -0.2))
def test_every_string_of_answers(costs, log_target):
    target = math.exp(log_target)
    cost = epsilon(_events(costs), target)
    assert float(_delta(costs, cost * (1 + 1e-12))) <= target * (1 + 1e-9)
    if cost > 0.0:
        assert float(_delta(costs, cost * (1 - 1e-7))) > target * (1 - 1e-9)
    assert recompute(_events(costs), target) == pytest.approx(cost, rel=1e-8, abs=1e-12)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.dictionaries(st.floats(1e-6, 20.0), st.integers(1, 40), min_size=1, max_size=3),
    st.floats(math.log(1e-250), math.log(0.5)),
)
def test_both_derivations_agree_and_never_exceed_the_others(groups, log_target):
    target = math.exp(log_target)
    event = Sequential(tuple(Repeat(Pure(cost), count) for cost, count in groups.items()))
    (branch,) = expand(event)
    assert atoms(branch.pure) <= MOST_ATOMS
    exact = responses_epsilon(branch.pure, log_target)
    assert enumerated_epsilon(branch, target, 2.0 * branch.epsilon) == pytest.approx(exact, rel=1e-8, abs=1e-10)
    renyi = renyi_epsilon(lambda h: _total(groups, h), log_target, 1e9 / max(groups))
    assert exact <= min(branch.epsilon, renyi) * (1 + 1e-9)
    assert epsilon(event, target) == pytest.approx(min(exact, branch.epsilon), rel=1e-12)


def _total(groups, h):
    parts = [(pure(cost, h), count) for cost, count in groups.items()]
    return sum(count * value for (value, _), count in parts), sum(count * slope for (_, slope), count in parts)


@pytest.mark.parametrize("target", [1e-9, 1e-6, 1e-3])
def test_the_discretised_distribution_agrees(target):
    event = Sequential((Repeat(Pure(0.05), 20), Repeat(Laplace(40.0), 20)))
    (branch,) = expand(event)
    cost = epsilon(event, target)
    assert discretised_epsilon(branch, target, cost) == pytest.approx(cost, rel=1e-3)
    assert cost <= discretised_epsilon(branch, target, cost) * (1 + 1e-9)


def test_one_event_costs_its_profile():
    """δ = (e^c − e^ε)/(e^c + 1), so ε = ln(e^c − δ(e^c + 1))."""
    for cost, target in [(1.0, 1e-3), (0.1, 1e-2), (5.0, 0.4)]:
        expected = math.log(math.exp(cost) - target * (math.exp(cost) + 1))
        assert epsilon(Pure(cost), target) == pytest.approx(expected, rel=1e-12)
    assert epsilon(Pure(0.1), 0.06) == 0.0  # tanh(0.05) = 0.04996 is the whole distance


def test_too_many_atoms_are_left_to_the_cumulants():
    event = Sequential(tuple(Repeat(Pure(0.001 * k), 60) for k in range(1, 4)))
    (branch,) = expand(event)
    assert atoms(branch.pure) > MOST_ATOMS
    assert enumerated_epsilon(branch, 1e-6, 10.0) is None
    assert 0.0 < recompute(event, 1e-6) <= epsilon(event, 1e-6) < branch.epsilon


def test_calibration_finds_its_way_below_what_a_mechanism_refuses_as_too_much():
    mechanism, privacy = LaplacePeeling(20), Privacy(1.0, 1e-6)
    with pytest.raises(ParameterError):
        mechanism.event(1e12, 2.0**41, 400)
    scale = calibrate(lambda s: mechanism.event(s, 2.0**41, 400), privacy)
    assert scale == pytest.approx(39.966, rel=1e-4)
    assert calibrate(lambda s: mechanism.event(s, 2.0**41, 400), Privacy(1.0, 0.0)) == pytest.approx(60.0, rel=1e-6)
    with pytest.raises(BudgetError):  # 2^14 is all that it allows at this sensitivity
        calibrate(lambda s: mechanism.event(s, 2.0**41, 400), Privacy(1e-4, 1e-12))
