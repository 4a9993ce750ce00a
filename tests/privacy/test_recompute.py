"""The second derivation: agrees with the first and with dp-accounting's accountants, and avoids their traps."""

import dataclasses
import math
import subprocess
import sys

import dp_accounting
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st

from tailguard.errors import ParameterError, PlanError
from tailguard.privacy import (
    BoundedRange,
    Disjoint,
    Event,
    Gaussian,
    Laplace,
    Privacy,
    Pure,
    Repeat,
    Sequential,
    calibrate,
    epsilon,
    recompute,
)
from tailguard.privacy.branches import expand
from tailguard.privacy.discretised import discretised_epsilon
from tailguard.privacy.inversion import inverted_epsilon
from tests.support.registry_events import trees

ADD_REMOVE = NeighboringRelation.ADD_OR_REMOVE_ONE
module = sys.modules["tailguard.privacy.recompute"]  # the package exports the function under the same name


@pytest.mark.parametrize("level", [0.1, 0.5, 1.0, 2.0, 8.0, 100.0, 1e6])
@pytest.mark.parametrize("target", [1e-5, 1e-6, 1e-9])
@pytest.mark.parametrize("distance", [0.0, 1e-20, 1e-12])
def test_a_calibrated_gaussian_plan_costs_what_was_asked(level: float, target: float, distance: float) -> None:
    for count in (1, 10, 1000):
        scale = calibrate(lambda s, n=count: Repeat(Gaussian(s, distance), n), Privacy(level, target))  # type: ignore[misc]
        assert 0.98 <= recompute(Repeat(Gaussian(scale, distance), count), target) / level <= 1.0


@settings(max_examples=60, deadline=None, derandomize=True)
@given(trees, st.floats(math.log(1e-14), math.log(0.1)))
def test_never_more_than_the_closed_form_and_not_much_less(event: Event, log_target: float) -> None:
    target = math.exp(log_target)
    closed, second = epsilon(event, target), recompute(event, target)
    assert second <= closed * (1.0 + 1e-8)
    assert second >= 0.9 * closed - 0.05 * math.sqrt(target)


MIXTURES = [
    Sequential((Gaussian(5.0), Repeat(BoundedRange(0.03), 4))),
    Sequential((Gaussian(5.0), Repeat(BoundedRange(0.1), 40), Pure(0.5))),
    Sequential((Gaussian(1.0), Repeat(Pure(0.1), 30))),
    Sequential((Gaussian(0.05), Repeat(BoundedRange(3.0), 20))),
]


@pytest.mark.parametrize("event", MIXTURES)
@pytest.mark.parametrize("target", [1e-9, 1e-6, 1e-3])
def test_inversion_and_discretisation_agree(event: Event, target: float) -> None:
    (branch,) = expand(event)
    high = 2.0 * epsilon(event, target)
    exact, numerical = (
        inverted_epsilon(branch, target, high),
        discretised_epsilon(branch, target, epsilon(event, target)),
    )
    assert numerical == pytest.approx(exact, rel=1e-3)
    assert recompute(event, target) == pytest.approx(min(exact, epsilon(event, target)), rel=1e-3)


@pytest.mark.parametrize("mu", [1e-7, 1e-3, 1.0, 50.0])
@pytest.mark.parametrize("target", [1e-300, 1e-13, 1e-6, 0.01])
def test_inversion_of_a_gaussian_is_the_closed_form(mu: float, target: float) -> None:
    event = Gaussian(1.0 / mu)
    expected = epsilon(event, target)
    assert inverted_epsilon(expand(event)[0], target, 2.0 * expected + mu) == pytest.approx(expected, rel=1e-9)


def test_inversion_says_where_it_has_no_answer() -> None:
    (branch,) = expand(Sequential((Gaussian(1e9), Pure(1.0))))
    assert math.isinf(inverted_epsilon(branch, 1e-6, 2.0))
    (branch,) = expand(Gaussian(1.0))
    assert math.isinf(inverted_epsilon(branch, 1e-6, 1.0))  # more than the bound that was given


@pytest.mark.parametrize("event", [Repeat(Pure(0.1), 50), Repeat(Laplace(1.0), 4), Repeat(Pure(0.01), 2000)])
def test_pure_events_against_the_library(event: Repeat) -> None:
    cost = epsilon(event.event, 0.0)
    leaf = dp_accounting.pld.privacy_loss_distribution.from_privacy_parameters(
        dp_accounting.pld.common.DifferentialPrivacyParameters(cost, 0.0), value_discretization_interval=cost / 100
    )
    expected = leaf.self_compose(event.count).get_epsilon_for_delta(1e-6)
    assert recompute(event, 1e-6) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("rho", "target"), [(1e-3, 1e-6), (0.5, 1e-9), (20.0, 1e-5), (1e6, 1e-6)])
def test_renyi_against_the_library(rho: float, target: float) -> None:
    accountant = RdpAccountant(orders=[1.0 + 1.02**k / 100 for k in range(1, 1200)], neighboring_relation=ADD_REMOVE)
    accountant.compose(dp_accounting.ZCDpEvent(rho))
    coarse = recompute(Gaussian(1.0 / math.sqrt(2.0 * rho), distance=0.9), target)
    assert coarse <= accountant.get_epsilon(target) * (1.0 + 1e-12)
    # for huge ρ the library lacks the orders below 1.01
    assert coarse > (0.985 if rho > 1e3 else 0.999) * accountant.get_epsilon(target)


def test_repeated_selections_are_counted() -> None:
    accountant = RdpAccountant(orders=[1.0 + 0.01 * k for k in range(2, 20_000)], neighboring_relation=ADD_REMOVE)
    accountant.compose(dp_accounting.SelfComposedDpEvent(dp_accounting.ZCDpEvent(0.1**2 / 8.0), 1000))
    assert accountant.get_epsilon(1e-6) == pytest.approx(8.85, abs=0.01)
    assert recompute(Repeat(BoundedRange(0.1), 1000), 1e-6) == pytest.approx(8.836, abs=0.001)


def test_the_replace_one_trap() -> None:
    # σ = 4 and rows of norm 1: replacing one moves the sum by 2, so our multiplier is 2.
    sigma, truth = 4.0, recompute(Gaussian(2.0), 1e-6)
    assert truth == pytest.approx(2.254, abs=1e-3)
    event = dp_accounting.GaussianDpEvent(sigma)
    distribution = PLDAccountant(NeighboringRelation.REPLACE_ONE).compose(event)
    assert distribution.get_epsilon(1e-6) == pytest.approx(truth, rel=1e-3)
    trapped = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE).compose(event).get_epsilon(1e-6)
    assert trapped < 0.6 * truth  # unsafe, which is why recompute never uses it
    right = PLDAccountant(ADD_REMOVE).compose(dp_accounting.GaussianDpEvent(2.0))
    assert right.get_epsilon(1e-6) == pytest.approx(truth, rel=1e-3)


def test_pure_budgets_do_not_go_through_the_library() -> None:
    laplace = PLDAccountant(ADD_REMOVE).compose(dp_accounting.LaplaceDpEvent(1.0))
    assert math.isinf(laplace.get_epsilon(0.0))
    assert recompute(Repeat(Laplace(1.0), 3), 0.0) == 3.0
    assert math.isinf(recompute(Sequential((Laplace(1.0), Gaussian(9.0))), 0.0))


def test_disjoint_blocks_are_composed_first() -> None:
    event = Sequential((Gaussian(10.0), Disjoint((Gaussian(5.0), Repeat(BoundedRange(0.1), 3))), Pure(0.1)))
    first = recompute(Sequential((Gaussian(10.0), Gaussian(5.0), Pure(0.1))), 1e-6)
    second = recompute(Sequential((Gaussian(10.0), Repeat(BoundedRange(0.1), 3), Pure(0.1))), 1e-6)
    assert recompute(event, 1e-6) == max(first, second)


def test_a_branch_that_was_lost_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    event = Disjoint((Gaussian(5.0), Repeat(BoundedRange(1.0), 3)))
    assert recompute(event, 1e-6) > 0.0
    monkeypatch.setattr(module, "expand", lambda tree: expand(tree)[:1])
    with pytest.raises(PlanError, match="do not cost what the tree costs"):
        recompute(event, 1e-6)


def test_a_leaf_that_was_misread_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        module, "expand", lambda tree: tuple(dataclasses.replace(b, precision=b.precision / 4.0) for b in expand(tree))
    )
    with pytest.raises(PlanError, match="do not cost what the tree costs"):
        recompute(Gaussian(2.0), 1e-6)


def test_an_inversion_that_understates_is_overruled(monkeypatch: pytest.MonkeyPatch) -> None:
    event = MIXTURES[0]
    true = recompute(event, 1e-6)
    monkeypatch.setattr(module, "inverted_epsilon", lambda *arguments: 0.5 * true)
    assert 0.98 * true < recompute(event, 1e-6) < true


PLANS = {
    "thousands of different steps": Sequential(tuple(Gaussian(20.0 + i) for i in range(3000))),
    "many and mixed": Sequential((Repeat(Gaussian(300.0, 1e-18), 5000), Repeat(BoundedRange(0.01), 3000))),
    "blocks": Sequential((Disjoint(tuple(Gaussian(3.0 + i) for i in range(1000))), Repeat(Laplace(500.0), 2000))),
    "different selections": Sequential((Gaussian(3.0), *(BoundedRange(1e-3 * i) for i in range(1, 101)))),
}


@pytest.mark.parametrize("event", PLANS.values(), ids=PLANS.keys())
def test_large_plans_have_a_cost(event: Event) -> None:
    assert 0.0 < recompute(event, 1e-6) <= epsilon(event, 1e-6) * (1.0 + 1e-8)


def test_importing_is_light() -> None:
    code = (
        "import importlib.util, sys, types; package = types.ModuleType('tailguard');"
        "package.__path__ = importlib.util.find_spec('tailguard').submodule_search_locations;"
        "sys.modules['tailguard'] = package; import tailguard.privacy;"
        "print([name for name in ('dp_accounting', 'scipy.optimize', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_wrong_parameters() -> None:
    with pytest.raises(ParameterError, match="The 'delta' parameter of recompute must be"):
        recompute(Pure(1.0), 1.0)
    with pytest.raises(ParameterError, match="The 'event' parameter of an accountant must be"):
        recompute(Event(), 1e-6)


@pytest.mark.parametrize("event", [Gaussian(1e-12), Gaussian(1e12), Gaussian(1e-200), Pure(1e6), BoundedRange(1e-9)])
@pytest.mark.parametrize("target", [5e-324, 1e-13, 1e-6, 0.5])
def test_corners(event: Event, target: float) -> None:
    assert recompute(event, target) <= epsilon(event, target) * (1.0 + 1e-8)
