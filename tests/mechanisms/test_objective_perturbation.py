"""Objective perturbation: what it costs, what it refuses before a record is read, what it adds."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailguard.errors import LedgerError, ParameterError
from tailguard.losses import Logistic, Squared
from tailguard.mechanisms import L2Laplace, ObjectivePerturbation
from tailguard.mechanisms.objective_perturbation import TOLERANCE
from tailguard.privacy import Privacy, Pure, calibrate, epsilon, recompute
from tailguard.run.randomness import Exact, Simulation
from tailguard.statistics import Clipped, PerturbedMinimiser, Rows, View
from tests.support.registry_minimisers import records, source

MECHANISM = ObjectivePerturbation(1.0, 0.05)
MULTIPLIER, N, D = 0.7, 40, 2


def statistic(ridge=None, *, n=N, bits=40, curvature=2.0, loss=None, precision=10):
    ridge = MECHANISM.least_ridge(curvature, n, MULTIPLIER) if ridge is None else ridge
    return PerturbedMinimiser(View(D), loss or Squared(), 1.0, ridge, n, bits, curvature, precision)


def perform(asked, mechanism=MECHANISM, *, where=None, multiplier=MULTIPLIER, randomness=None):
    X, y = records(asked, asked.size)
    return mechanism.perform(
        asked, where or source(X, y), asked.sensitivity("tilt"), multiplier, randomness or Simulation(0)
    )


@given(
    curvature=st.floats(1e-3, 1e3),
    release=st.floats(1e-3, 10.0),
    multiplier=st.floats(1e-3, 1e3),
    sensitivity=st.floats(2.0**20, 2.0**41),
    d=st.integers(1, 300),
)
@settings(max_examples=60, deadline=None)
def test_the_event_is_the_sum_of_the_three_parts_and_never_less(curvature, release, multiplier, sensitivity, d):
    event = ObjectivePerturbation(curvature, release).event(multiplier, sensitivity, d)
    exact = (1 + Fraction(curvature) + Fraction(release)) / Fraction(multiplier)
    assert isinstance(event, Pure)
    assert event.epsilon == pytest.approx(float(exact), rel=1e-12)
    # Noise is rounded up, by which 1/multiplier and the last part may be a hair smaller; the sum is rounded up again.
    assert Fraction(event.epsilon) >= exact * (1 - Fraction(1, 2**49))


@pytest.mark.parametrize("asked", [0.05, 1.0, 8.0])
def test_calibration_spends_the_whole_budget_with_no_delta(asked):
    scale = calibrate(lambda s: MECHANISM.event(s, 2.0**41, 5), Privacy(asked))
    event = MECHANISM.event(scale, 2.0**41, 5)
    assert asked * (1 - 1e-5) <= epsilon(event, 0.0) <= asked
    assert recompute(event, 0.0) == pytest.approx(event.epsilon, rel=1e-12)
    assert scale == pytest.approx(MECHANISM.weight / asked, rel=1e-5)


@given(
    share=st.floats(1e-3, 19.0),
    curvature=st.floats(1e-10, 1e10),
    n=st.integers(1, 10**7),
    multiplier=st.floats(1.0, 1e4),
)
@settings(max_examples=100, deadline=None)
def test_the_least_ridge_is_accepted_and_hardly_any_less_is(share, curvature, n, multiplier):
    mechanism = ObjectivePerturbation(share)
    ridge = mechanism.least_ridge(curvature, n, multiplier)
    asked = PerturbedMinimiser(View(1), Squared(), 1.0, ridge, n, 30, curvature)
    assert Fraction(asked.curvature_loss) <= Fraction(share) / Fraction(multiplier)
    assert asked.curvature_loss >= math.log1p(curvature / (n * ridge))
    less = PerturbedMinimiser(View(1), Squared(), 1.0, ridge * (1 - 1e-9), n, 30, curvature)
    assert Fraction(less.curvature_loss) > Fraction(share) / Fraction(multiplier)


class Untouchable:
    """Records that must not be read."""

    size = N

    def gather(self):
        pytest.fail("a record was read")


@pytest.mark.parametrize(
    "asked",
    [
        statistic(ridge=0.999 * MECHANISM.least_ridge(2.0, N, MULTIPLIER)),
        statistic(ridge=MECHANISM.least_ridge(1.99, N, MULTIPLIER)),
        statistic(ridge=MECHANISM.least_ridge(2.0, N + 1, MULTIPLIER)),
    ],
    ids=["ridge", "curvature", "size"],
)
def test_a_curvature_beyond_the_plan_is_refused_before_a_record_is_read(asked):
    with pytest.raises(LedgerError, match="for its part of ε"):
        perform(asked, where=Untouchable())
    perform(asked, ObjectivePerturbation(1.05, 0.05))
    with pytest.raises(LedgerError, match="for its part of ε"):
        perform(statistic(), where=Untouchable(), multiplier=1.001 * MULTIPLIER)


def test_a_grid_too_coarse_for_the_tolerance_is_refused_before_a_record_is_read():
    with pytest.raises(ParameterError, match="must be of more bits"):
        perform(statistic(bits=10), where=Untouchable())
    perform(statistic(bits=14))


def test_another_statistic_is_refused():
    with pytest.raises(ParameterError, match="must be a perturbed minimiser"):
        MECHANISM.perform(Clipped(Rows(View(D)), 1.0, 30), Untouchable(), 2.0**31, 1.0, Simulation(0))
    with pytest.raises(ParameterError, match="norm"):
        statistic().sensitivity(L2Laplace.norm)
    with pytest.raises(ParameterError, match="norm"):
        Clipped(Rows(View(D)), 1.0, 30).sensitivity(MECHANISM.norm)


@pytest.mark.parametrize("share", [0.0, -1.0, math.nan, math.inf, "1", None])
@pytest.mark.parametrize("name", ["curvature_share", "release_share"])
def test_wrong_shares_are_refused(name, share):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of ObjectivePerturbation"):
        ObjectivePerturbation(**{name: share})


@pytest.mark.parametrize("randomness", [Simulation(3), Exact()], ids=["simulation", "exact"])
def test_the_event_performed_is_the_event_promised(randomness):
    asked = statistic(loss=Logistic())
    released, event = perform(asked, randomness=randomness)
    assert event == MECHANISM.event(MULTIPLIER, asked.sensitivity("tilt"), D)
    assert event.epsilon == pytest.approx(2.05 / MULTIPLIER)
    assert released.dtype == np.int64
    assert released.shape == (D,)


class Spied(Simulation):
    """Remembers every scale of Laplace noise, and the values it was added to."""

    def __init__(self, seed):
        super().__init__(seed)
        self.heard = []

    def laplace(self, value, scale):
        self.heard.append((value.copy(), scale))
        return super().laplace(value, scale)


def test_the_tolerance_is_released_with_noise_of_its_own():
    asked, spied = statistic(), Spied(0)
    perform(asked, randomness=spied)
    (_, first), (value, last) = spied.heard
    assert first >= 2.0**40  # the radius of the tilt, in cells of its own scale
    slack = TOLERANCE * asked.sensitivity("tilt")
    assert last == pytest.approx(math.sqrt(D) * slack * MULTIPLIER / 0.05)
    assert 2.0 * asked.tolerance < slack
    assert np.any(value != asked.evaluate(source(*records(asked, N))))


@pytest.mark.parametrize("precision", [14, 20])
def test_a_finer_solution_is_released_with_less_noise(precision):
    asked, fine, spied = statistic(precision=precision), ObjectivePerturbation(1.0, 0.05, precision), Spied(0)
    released, event = perform(asked, fine, randomness=spied)
    slack = 2.0**-precision * asked.sensitivity("tilt")
    assert spied.heard[1][1] == pytest.approx(math.sqrt(D) * slack * MULTIPLIER / 0.05)
    assert 2.0 * asked.tolerance < slack
    assert event.epsilon == pytest.approx(2.05 / MULTIPLIER)
    assert asked.sensitivity("tilt") == statistic().sensitivity("tilt")
    coarse = perform(statistic(), randomness=Simulation(0))[0]
    assert np.linalg.norm((released - coarse).astype(float)) < 40 * slack * 2.0 ** (precision - 10)


def test_a_solution_coarser_than_its_release_is_refused_before_a_record_is_read():
    fine = ObjectivePerturbation(1.0, 0.05, 14)
    with pytest.raises(ParameterError, match="must be of more bits"):
        perform(statistic(precision=12), fine, where=Untouchable())
    perform(statistic(precision=15), fine)


def test_what_floats_cannot_resolve_is_refused():
    with pytest.raises(ParameterError, match="what double precision resolves"):
        perform(statistic(precision=40), where=None)
    for wrong in (9, 41, 12.5):
        with pytest.raises(ParameterError, match="The 'precision' parameter"):
            ObjectivePerturbation(precision=wrong)
        with pytest.raises(ParameterError, match="The 'precision' parameter"):
            statistic(precision=wrong)


def test_noise_is_reported_by_its_scale():
    assert MECHANISM.exact
    assert not MECHANISM.selects
    assert MECHANISM.noise(4.0, 8.0, 3) == 32.0
