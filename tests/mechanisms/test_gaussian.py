"""The discrete Gaussian against the rounded continuous one, by brute force."""

import math

import mpmath
import numpy as np
import pytest

from tailguard.errors import ParameterError
from tailguard.mechanisms import Gaussian
from tailguard.mechanisms.gaussian import rounding_distance
from tailguard.privacy import events
from tests.support.laws import discrete_gaussian


def total_variation(scale: int) -> float:
    """Return the exact distance of one coordinate, in thirty digits."""
    with mpmath.workdps(30):
        half = mpmath.mpf(1) / 2
        density = [mpmath.npdf(k, 0, scale) for k in range(12 * scale)]
        mass = 2 * mpmath.fsum(density) - density[0]
        edges = [mpmath.ncdf((k - half) / scale) for k in range(12 * scale + 1)]
        gaps = [abs(density[k] / mass - (edges[k + 1] - edges[k])) for k in range(12 * scale)]
        return float(mpmath.fsum(gaps) - gaps[0] / 2)


@pytest.mark.parametrize("scale", [16, 30, 100])
def test_the_distance_is_a_bound_and_a_sharp_one(scale: int) -> None:
    true = total_variation(scale)
    assert 0.9 * rounding_distance(scale, 1) < true < rounding_distance(scale, 1)


@pytest.mark.parametrize("scale", [1, 3, 10, 16, 30])
def test_the_two_terms_of_the_proof_bound_smaller_scales_too(scale: int) -> None:
    def phi(x: float) -> float:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    curvature, variation = 4 * phi(1), 8 * phi(math.sqrt(3)) + 2 * phi(0)
    normalisation = sum(math.exp(-2 * (math.pi * scale * j) ** 2) for j in range(1, 5))
    assert total_variation(scale) < (curvature + variation / scale) / (48 * scale**2) + normalisation
    if scale >= 16:
        assert (curvature + variation / scale) / 48 < 1 / 45


def test_the_bound_of_a_vector_covers_products() -> None:
    k, p = discrete_gaussian(16.0)
    edges = np.array([math.erf((j - 0.5) / 16.0 / math.sqrt(2)) / 2 for j in range(k[0], k[-1] + 2)])
    q = np.diff(edges)
    pair = np.abs(np.multiply.outer(p, p) - np.multiply.outer(q, q)).sum() / 2
    assert pair < rounding_distance(16.0, 2)


@pytest.mark.parametrize(("scale", "shift"), [(2.0, 1), (5.0, 7), (16.0, 3)])
@pytest.mark.parametrize("alpha", [1.01, 2.0, 10.0])
def test_discrete_gaussian_is_zcdp(scale: float, shift: int, alpha: float) -> None:
    k, _ = discrete_gaussian(scale)
    log_weight = -((k / scale) ** 2) / 2
    log_mass = np.logaddexp.reduce(log_weight)
    shifted = -(((k - shift) / scale) ** 2) / 2
    divergence = (np.logaddexp.reduce(alpha * log_weight + (1 - alpha) * shifted) - log_mass) / (alpha - 1)
    assert divergence <= alpha * shift**2 / (2 * scale**2) + 1e-12


def test_small_scales_are_refused_before_a_value_is_seen() -> None:
    with pytest.raises(ParameterError, match="noise scale in grid units is between 16 and"):
        Gaussian().event(1.0, 15.9, 3)


def test_the_distance_never_exceeds_one() -> None:
    assert Gaussian().event(1.0, 16.0, 10**9) == events.Gaussian(1.0, 1.0)
