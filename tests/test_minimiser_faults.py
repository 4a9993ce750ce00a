"""Planted faults of released minimisers: each breaks pure privacy in one place, and a check finds it.

As in `test_faults`, every test first shows that the check passes without the fault.
"""

import dataclasses

import numpy as np
import pytest

from tailguard import certified
from tailguard.errors import LedgerError, PlanError
from tailguard.losses import Squared
from tailguard.mechanisms import L2Laplace, ObjectivePerturbation
from tailguard.mechanisms.tilt import isotropic_tilt
from tailguard.plans import verify
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tailguard.statistics import Minimiser, PerturbedMinimiser, View, minimiser
from tests.support import checks, densities, minimising
from tests.support.minimising import EPSILON, MECHANISM, MULTIPLIER

POINTS = np.geomspace(0.01, 30.0, 12)[:, None] * np.array([[0.6, -0.8]])


def _density(asked=None):
    """Try to make a density of the perturbed minimiser grow by more than the plan's event allows."""
    asked = asked or minimising.tilted()
    points = POINTS * asked.clip / (asked.ridge * asked.size)
    X = np.full((asked.size, 2), np.nan)
    records = densities.aggressive(asked, points)
    return densities.check_density(asked, MECHANISM, MULTIPLIER, (X, np.zeros(asked.size)), records, points)


def _objective(monkeypatch, **changes):
    """Let the statistics minimise another objective than the one they name."""
    honest = certified.Objective
    names = [field.name for field in dataclasses.fields(honest)]

    def other(*arguments):
        return honest(**(dict(zip(names, arguments, strict=True)) | changes))

    monkeypatch.setattr(minimiser, "Objective", other)


def test_the_plans_are_private_without_a_fault():
    for plan in (minimising.output_plan(), minimising.tilted_plan()):
        guarantee = checks.check_cost(plan)
        assert guarantee.delta == 0.0
        assert guarantee.epsilon == pytest.approx(EPSILON)
        checks.check_noise_scale(plan, minimising.engine())
        checks.check_noise_is_fresh(plan, minimising.engine(), Simulation(0))
    assert _density() >= 0.95


# Objectives that bend or pull more than they say


def test_a_dropped_cap_on_the_curvature(monkeypatch):
    _density()
    _objective(monkeypatch, curvature=None)
    with pytest.raises(AssertionError, match="a density grows by"):
        _density()


def test_a_dropped_clip(monkeypatch):
    _objective(monkeypatch, clip=3.0)
    with pytest.raises(AssertionError, match="a density grows by"):
        _density()
    for plan in (minimising.output_plan(), minimising.tilted_plan()):
        with pytest.raises(AssertionError, match="a statistic moved too far"):
            checks.check_replay(plan, *minimising.opposed())


def test_a_smaller_ridge_than_the_plan_allows():
    verify(minimising.tilted_plan())
    plan = minimising.tilted_plan(asked=lambda: minimising.tilted(ridge=0.9 * minimising.tilted().ridge))
    with pytest.raises(LedgerError, match="for its part of ε"):
        run(plan, minimising.engine(), Simulation(0))
    with pytest.raises(AssertionError, match="a density grows by"):  # and rightly so
        _density(minimising.tilted(ridge=0.9 * minimising.tilted().ridge))


# Tolerances that nobody pays for


@pytest.fixture
def lazy(monkeypatch):
    """A solver that errs as far as it may, on the side to which the first record pulls."""
    honest = certified.minimise

    def away(objective, tolerance, domain=None):
        side = np.sign(objective.targets[0]) * np.eye(objective.centre.size)[0]
        return honest(objective, 1e-3 * tolerance, domain) + 0.999 * tolerance * side

    monkeypatch.setattr(minimiser, "minimise", away)


@pytest.mark.parametrize("plan", [minimising.output_plan(), minimising.tilted_plan()], ids=["output", "objective"])
def test_a_solver_that_errs_within_its_tolerance_is_paid_for(plan, lazy):
    found = checks.check_replay(plan, *minimising.opposed())
    assert found.by_step["minimiser"] >= 0.95


@pytest.mark.parametrize("kind", [Minimiser, PerturbedMinimiser])
def test_a_tolerance_that_is_not_in_the_sensitivity(monkeypatch, lazy, kind):
    monkeypatch.setattr(
        kind, "_sensitivity", classmethod(lambda cls, norm, dimension, size, parts: 2.0 * size + dimension)
    )
    plan = minimising.output_plan() if kind is Minimiser else minimising.tilted_plan()
    verify(plan)  # which trusts the object: the statistic's own contract is what must fail
    with pytest.raises(AssertionError, match="a statistic moved too far"):
        checks.check_replay(plan, *minimising.opposed())


def test_a_tolerance_that_is_released_without_noise(monkeypatch):
    def bare(self, value, sensitivity, multiplier, randomness):
        return value, self.event(multiplier, sensitivity, value.size)

    monkeypatch.setattr(ObjectivePerturbation, "release", bare)
    with pytest.raises(AssertionError, match="no noise for the solver's tolerance"):
        checks.check_noise_scale(minimising.tilted_plan(), minimising.engine())


def test_a_tolerance_that_is_not_in_the_event():
    """A plan that charges the linear term and the curvature alone is not the plan that is carried out."""

    class Forgetful(ObjectivePerturbation):
        def event(self, multiplier, sensitivity, dimension):
            return dataclasses.replace(self, release_share=1e-6)._honest(multiplier, sensitivity, dimension)

        def _honest(self, *numbers):
            return ObjectivePerturbation(self.curvature_share, self.release_share).event(*numbers)

    plan = minimising.tilted_plan(mechanism=Forgetful(1.0, 0.05))
    assert plan.steps[0].release_event.epsilon < EPSILON * 0.98
    with pytest.raises(AssertionError):
        checks.check_cost(plan)


# Noise for a part of ε that is spent more than once


@pytest.mark.parametrize("build", [minimising.output_plan, minimising.tilted_plan], ids=["output", "objective"])
def test_noise_for_all_of_epsilon_in_each_of_two_releases(build):
    verify(build())
    with pytest.raises(PlanError, match=r"costs ε = 4 .* more than the ε = 2"):
        verify(build(count=2))
    half = minimising.output_plan(count=2, multiplier=2.0 / EPSILON)
    assert verify(half).epsilon == pytest.approx(EPSILON)


def test_a_release_that_is_planned_once_and_asked_twice():
    with pytest.raises(LedgerError, match="where the plan has None"):
        run(minimising.tilted_plan(questions=2), minimising.engine(), Simulation(0))


def test_linear_terms_with_noise_for_twice_the_epsilon(monkeypatch):
    plan, honest = minimising.tilted_plan(), PerturbedMinimiser.minimise
    checks.check_tilt_scale(plan, minimising.engine())
    monkeypatch.setattr(
        "tailguard.mechanisms.objective_perturbation.isotropic_tilt",
        lambda dimension, scale, reach, randomness: isotropic_tilt(dimension, scale / 2.0, reach, randomness),
    )
    with pytest.raises(AssertionError, match="linear terms of the wrong scale"):
        checks.check_noise_scale(plan, minimising.engine())
    assert PerturbedMinimiser.minimise is honest  # the check leaves nothing behind


def test_one_linear_term_in_two_objectives(monkeypatch):
    plan = minimising.tilted_plan(count=2, multiplier=2.0 * MULTIPLIER, asked=lambda: minimising.tilted(ridge=1.0))
    checks.check_noise_is_fresh(plan, minimising.engine(), Simulation(0))
    drawn = []

    def reused(*numbers):
        drawn.append(isotropic_tilt(*numbers))
        return drawn[0]

    monkeypatch.setattr("tailguard.mechanisms.objective_perturbation.isotropic_tilt", reused)
    with pytest.raises(AssertionError, match="two releases carry the same noise"):
        checks.check_noise_is_fresh(plan, minimising.engine(), Simulation(0))


# Mechanisms and statistics that do not belong together


def test_a_perturbed_minimiser_with_noise_on_the_output_alone():
    """Its sensitivity is that of a linear term, and no other mechanism may use it."""
    plan = minimising.tilted_plan()
    for other in (L2Laplace(), L2Laplace("continuous")):
        step = dataclasses.replace(plan.steps[0], mechanism=other)
        with pytest.raises(PlanError, match="offers no l2 sensitivity"):
            verify(dataclasses.replace(plan, steps=(step,)))
    step = dataclasses.replace(minimising.output_plan().steps[0], mechanism=MECHANISM, multiplier=MULTIPLIER)
    with pytest.raises(PlanError, match="offers no tilt sensitivity"):
        verify(dataclasses.replace(plan, steps=(step,)))


def test_records_that_are_not_the_planned_number():
    small = PerturbedMinimiser(View(2), Squared(), 1.0, 1.0, 30, 40, 1.0)
    plan = minimising.tilted_plan(asked=lambda: small)
    with pytest.raises(ValueError, match="of 30 records was asked of 60"):
        run(plan, minimising.engine(), Simulation(0))
