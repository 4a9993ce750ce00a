"""The Gaussian profile: against quadrature, against many digits, and in every corner of its range."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from tailguard.privacy.gaussian import hazard, log_delta


def exact(mu: float, x: float) -> tuple[mp.mpf, mp.mpf]:
    """Return ln δ and the hazard with 300 digits."""
    with mp.workdps(300):
        a, b = mp.mpf(x) / mu - mp.mpf(mu) / 2, mp.mpf(x) / mu + mp.mpf(mu) / 2
        second = mp.exp(x) * mp.erfc(b / mp.sqrt(2)) / 2
        mass = mp.erfc(a / mp.sqrt(2)) / 2 - second
        return mp.log(mass), second / mass


@pytest.mark.parametrize("mu", [0.05, 0.5, 0.999, 1.001, 3.0])
@pytest.mark.parametrize("x", [-1.0, 0.0, 0.3, 2.0])
def test_hockey_stick_divergence_by_quadrature(mu: float, x: float) -> None:
    def density(t: float) -> float:
        return max(0.0, float(norm.pdf(t - mu) - math.exp(x) * norm.pdf(t)))

    zero = x / mu + mu / 2
    value, _ = quad(density, zero, zero + 40.0, epsabs=1e-14, limit=200)
    assert math.exp(log_delta(mu, x)) == pytest.approx(value, abs=1e-11)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.floats(math.log(1e-6), math.log(1e4)), st.floats(-7.0, 12.0))
def test_many_digits(log_mu: float, deviations: float) -> None:
    mu = math.exp(log_mu)
    x = mu * (mu / 2 + deviations)
    log_mass, slope = exact(mu, x)
    assert log_delta(mu, x) == pytest.approx(float(log_mass), rel=1e-11, abs=1e-11)
    assert hazard(mu, x) == pytest.approx(float(slope), rel=1e-9)


def test_continuous_where_the_formula_changes() -> None:
    for x in (-0.5, 0.0, 0.4, 0.5, 0.6, 3.0):
        below, above = log_delta(1.0, x), log_delta(math.nextafter(1.0, 2.0), x)
        assert below == pytest.approx(above, rel=1e-13)
    assert log_delta(0.01, 0.01 * 200.1) == pytest.approx(float(exact(0.01, 0.01 * 200.1)[0]), rel=1e-14)


@pytest.mark.parametrize("mu", [1e-150, 1e-12, 1e-6, 1.0, 1e4, 1e12])
def test_corners_are_finite_and_ordered(mu: float) -> None:
    points = mu * (mu / 2 + np.array([-7.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0]))
    masses = [log_delta(mu, float(x)) for x in points]
    hazards = [hazard(mu, float(x)) for x in points]
    assert all(math.isfinite(value) for value in masses + hazards)
    assert masses == sorted(masses, reverse=True)
    assert hazards == sorted(hazards)


def test_far_away_is_nothing() -> None:
    assert log_delta(1e-12, 1.0) == -math.inf
    assert log_delta(1e-12, -1.0) == pytest.approx(math.log(-math.expm1(-1.0)))
