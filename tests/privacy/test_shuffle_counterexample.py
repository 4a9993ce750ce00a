"""Shuffling group means does not amplify privacy: Zhao et al. 2024, Theorem 6, is false.

k groups of m records each release their clipped mean with Gaussian noise. All groups but one sit at −R·u, the odd one
at +R·u, and one record of the odd one moves from +R·u to −R·u. The estimator max_j ⟨u, Q_j⟩ does not depend on the
order of the groups, as the theorem asks. In units of the noise, the odd group is offset by m·√(2ρ) from the others, and
the change is √(2ρ): σ² = 2R²/(ρm²) by (23). The maximum has the distribution function Φ(t − offset)·Φ(t)^(k−1), and is
integrated; nothing is sampled.
"""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import log_ndtr

from tailguard.privacy import Disjoint, Gaussian, Privacy, calibrate, delta, epsilon, recompute

PROMISED = 1e-6


def amplified_rho(eps: float, k: float) -> float:
    """Return ρ of (24), which Theorem 6 allows to each group."""
    root = 1.0 + 2.0 * math.sqrt(math.log(12.0 * k / PROMISED))
    return eps**2 * k / (64.0 * math.e**4 * math.log(8.0 / PROMISED) * root**2)


def plain_rho(eps: float) -> float:
    """Return ρ of (15), which is private without any amplification."""
    return eps**2 / (1.0 + 2.0 * math.sqrt(math.log(1.0 / PROMISED))) ** 2


def largest_epsilon(k: float) -> float:
    """Return the largest ε to which Theorem 6 applies."""
    return 8.0 * math.e**2 * math.sqrt(math.log(4.0 / PROMISED) / k)


def density(t: NDArray[np.float64], offset: float, k: int) -> NDArray[np.float64]:
    """Return the density of the largest of one N(offset, 1) and k − 1 of N(0, 1)."""

    def log_normal(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return -0.5 * x * x - 0.5 * math.log(2.0 * math.pi)

    odd = np.exp(log_normal(t - offset) + (k - 1) * log_ndtr(t))
    return odd + (k - 1) * np.exp(log_normal(t) + (k - 2) * log_ndtr(t) + log_ndtr(t - offset))


def true_delta(eps: float, k: int, offset: float, change: float) -> float:
    """Return the smallest δ of the maximum for this pair of data sets: the larger of both hockey-stick divergences."""
    t = np.linspace(-10.0, max(offset, 9.0) + 10.0, 200_001)
    one, other = density(t, offset, k), density(t, offset - change, k)
    assert np.trapezoid(one, t) == pytest.approx(1.0, abs=1e-9)
    pairs = ((one, other), (other, one))
    return float(max(np.trapezoid(np.maximum(p - math.exp(eps) * q, 0.0), t) for p, q in pairs))


@pytest.mark.parametrize("mu", [0.1, 1.0])
def test_one_group_is_a_gaussian(mu: float) -> None:
    assert true_delta(0.3, 1, 5.0, mu) == pytest.approx(delta(Gaussian(1.0 / mu), 0.3), rel=1e-6)


@pytest.mark.parametrize(("k", "eps", "leaked"), [(10**6, 0.23, 1.109e-3), (10**7, 0.0728, 1.787e-2)])
@pytest.mark.parametrize("m", [90, 1000])
def test_theorem_6_is_broken(k: int, eps: float, leaked: float, m: int) -> None:
    assert eps <= largest_epsilon(k)
    change = math.sqrt(2.0 * amplified_rho(eps, k))
    found = true_delta(eps, k, m * change, change)
    assert found > 1000.0 * PROMISED
    assert found == pytest.approx(leaked, rel=1e-3)
    # One event is enough to see it: the maximum exceeds a level.
    level = m * change + eps / change - 0.5 * change
    above, below = (-np.expm1(log_ndtr(level - a) + (k - 1) * log_ndtr(level)) for a in (m * change, (m - 1) * change))
    assert above - math.exp(eps) * below == pytest.approx(found, rel=1e-3)


@pytest.mark.parametrize(("k", "eps", "cost"), [(10**6, 0.23, 0.4619), (10**7, 0.0728, 0.4459)])
def test_disjoint_groups_hold(k: int, eps: float, cost: float) -> None:
    change = math.sqrt(2.0 * amplified_rho(eps, k))  # 2R/(mσ), one over the multiplier
    event = Disjoint((Gaussian(1.0 / change),) * 3)  # as for k groups
    honest = max(epsilon(event, PROMISED), recompute(event, PROMISED))
    assert honest == pytest.approx(cost, abs=1e-4)
    for m in (1, 30, 1000):
        assert true_delta(honest, k, m * change, change) <= PROMISED * (1.0 + 1e-6)
        assert true_delta(eps, k, m * change, change) <= delta(event, eps) * (1.0 + 1e-6)
    assert true_delta(honest, k, 90 * change, change) >= 0.99 * PROMISED  # the odd group gets no amplification at all


def test_calibrated_without_amplification() -> None:
    multiplier = calibrate(lambda s: Disjoint((Gaussian(s), Gaussian(s))), Privacy(0.23, PROMISED))
    found = true_delta(0.23, 10**6, 1000.0 / multiplier, 1.0 / multiplier)
    assert 0.99 * PROMISED <= found <= PROMISED * (1.0 + 1e-6)


def test_amplification_is_real_only_when_groups_are_close() -> None:
    k, eps = 10**6, 0.23
    change = math.sqrt(2.0 * amplified_rho(eps, k))
    # The clones lemma assumes this case: no group is farther from the others than one record moves it.
    assert true_delta(eps, k, change, change) < 1e-12
    assert true_delta(eps, k, 30 * change, change) == pytest.approx(3.16e-4, rel=0.01)


def test_where_24_starts_to_be_wrong() -> None:
    def excess(log_k: float) -> float:
        eps = largest_epsilon(math.exp(log_k))
        change = math.sqrt(2.0 * amplified_rho(eps, math.exp(log_k)))
        return math.log(true_delta(eps, round(math.exp(log_k)), 300 * change, change) / PROMISED)

    def looseness(log_k: float) -> float:
        return math.log(amplified_rho(0.1, math.exp(log_k)) / plain_rho(0.1))  # the same for every ε

    ends = math.log(2e4), math.log(1e6)
    assert math.exp(brentq(looseness, *ends)) == pytest.approx(1.04e5, rel=0.01)  # below, (24) asks for more noise
    assert math.exp(brentq(excess, *ends, xtol=1e-3)) == pytest.approx(2.36e5, rel=0.02)
