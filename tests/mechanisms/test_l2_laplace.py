"""Isotropic noise: its direction, its tail, and what exactness costs."""

import math

import numpy as np
import pytest
from scipy.stats import gamma

from tailguard.errors import ParameterError
from tailguard.mechanisms import L2Laplace
from tailguard.mechanisms.l2_laplace import isotropic_laplace
from tailguard.run.randomness import Simulation
from tests.support.laws import p_value


def test_directions_are_uniform_and_independent_of_the_radius() -> None:
    randomness = Simulation(3)
    noise = np.array([isotropic_laplace(2, 1.0, randomness) for _ in range(4000)])
    octant = (np.arctan2(noise[:, 1], noise[:, 0]) // (math.pi / 4)).astype(int) + 4
    far = np.linalg.norm(noise, axis=1) > gamma(2).median()
    assert p_value(np.bincount(octant + 8 * far, minlength=16), np.full(16, 1 / 16)) > 1e-4


@pytest.mark.parametrize("dimension", [1, 2, 20, 1000])
@pytest.mark.parametrize("t", [0.1, 1.0, 3.0, 20.0])
def test_tail_bound_of_the_radius(dimension: int, t: float) -> None:
    assert gamma(dimension).sf(dimension + math.sqrt(2 * dimension * t) + t) <= math.exp(-t)


def test_the_printed_tail_bound_is_false() -> None:
    assert gamma(20).sf(20 + 3) == pytest.approx(0.238, abs=5e-4)
    assert gamma(20).sf(20 + 3) > math.exp(-3)


@pytest.mark.parametrize("dimension", [5, 50])
def test_exact_sampling_costs_at_most_a_factor_of_root_two(dimension: int) -> None:
    value, randomness = np.zeros(dimension, dtype=np.int64), Simulation(5)

    def mean_norm(mechanism: L2Laplace) -> float:
        noise = [mechanism.release(value, 1000.0, 1.0, randomness)[0] for _ in range(400)]
        return float(np.linalg.norm(noise, axis=1).mean())

    ratio = mean_norm(L2Laplace("grid")) / mean_norm(L2Laplace("continuous"))
    assert 1.2 < ratio < 1.05 * math.sqrt(2)


def test_density_ratio_in_the_plane_is_at_most_the_event() -> None:
    # Density ∝ exp(−‖y − S‖/β) for S = 0 and ‖S'‖ = Δ, on a mesh of y.
    multiplier, sensitivity = 2.0, 5.0
    epsilon = 1 / L2Laplace("continuous").event(multiplier, sensitivity, 2).multiplier
    y = np.stack(np.meshgrid(*[np.linspace(-30, 30, 61)] * 2), axis=-1)
    moved = np.linalg.norm(y - np.array([3.0, 4.0]), axis=-1) - np.linalg.norm(y, axis=-1)
    assert np.abs(moved).max() / (multiplier * sensitivity) <= epsilon + 1e-12


def test_sampling_must_be_known() -> None:
    with pytest.raises(ParameterError, match="The 'sampling' parameter of L2Laplace must be one of"):
        L2Laplace("exact")  # type: ignore[arg-type]
