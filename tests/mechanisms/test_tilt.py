"""Isotropic noise: its law, and that every sample is near its ideal, the worst bits included."""

import math
from itertools import pairwise, product

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import beta, gamma, kstest

from tailguard.mechanisms import tilt
from tailguard.run.randomness import Exact, Simulation
from tests.support.laws import p_value

DRAWS = 5000
REACH = 1e6


def sample(dimension, randomness, draws=DRAWS, scale=1.0):
    return np.array([tilt.isotropic_tilt(dimension, scale, REACH, randomness) for _ in range(draws)])


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 7])
def test_radius_and_direction_have_their_laws_and_are_independent(dimension):
    noise = sample(dimension, Simulation(dimension), scale=3.0)
    radii = np.linalg.norm(noise, axis=1)
    assert kstest(radii, gamma(dimension, scale=3.0).cdf).pvalue > 1e-5
    assert kstest(radii, gamma(dimension, scale=3.3).cdf).pvalue < 1e-5
    directions = noise / radii[:, None]
    # Of a uniform direction, (1 + u_j)/2 is Beta((d−1)/2, (d−1)/2), in every coordinate and along any other axis.
    axes = [*np.eye(dimension), np.full(dimension, dimension**-0.5)]
    for axis in axes:
        height = 0.5 * (1.0 + directions @ axis)
        if dimension == 1:
            assert p_value(np.bincount(np.rint(height).astype(int)), np.array([0.5, 0.5])) > 1e-5
        else:
            half = 0.5 * (dimension - 1)
            assert kstest(height, beta(half, half).cdf).pvalue > 1e-5
    far, up = radii > gamma(dimension, scale=3.0).median(), directions[:, 0] > 0.0
    assert p_value(np.bincount(2 * far + up, minlength=4), np.full(4, 0.25)) > 1e-5


def test_exact_randomness_has_the_same_law():
    radii = np.linalg.norm(sample(3, Exact(), 1500), axis=1)
    assert kstest(radii, gamma(3).cdf).pvalue > 1e-6


@pytest.mark.parametrize("dimension", [2, 5, 6])
def test_pairs_of_coordinates_are_as_long_as_each_other(dimension):
    noise = sample(dimension, Simulation(9))
    squares = np.square(noise / np.linalg.norm(noise, axis=1)[:, None]).mean(axis=0)
    np.testing.assert_allclose(squares, 1.0 / dimension, atol=6.0 / math.sqrt(DRAWS) / math.sqrt(dimension))


class Given:
    """Hands out bits that a test has chosen, and remembers which real numbers they stand for."""

    def __init__(self, bits, steps):
        self._bits, self._steps = iter(bits), steps

    def uniform(self, size):
        return (np.array([next(self._bits) for _ in range(size)], float) + 0.5) * 2.0**-52

    def laplace(self, value, scale):
        self.scale = scale
        return np.array(self._steps[: value.size], np.int64)


ENDS = (0, 1, 2**51, 2**52 - 1)


def ideal(dimension, bits, steps, corner, scale):
    """Return the ideal vector at one corner of the cell, in fifty digits, written down from the definition."""
    bits = iter(bits)
    pairs, odd = divmod(dimension, 2)
    radius = mp.mpf(sum(s - 1 if s > 0 else -s for s in steps) + corner * dimension) / scale
    if pairs == 0:
        return [radius * (-1 if next(bits) < 2**51 else 1)]
    angles = [2 * mp.pi * (next(bits) + corner) / mp.mpf(2) ** 52 for _ in range(pairs)]

    def uniform():
        return ((mp.mpf(next(bits)) * 2**52 + next(bits)) + corner) / mp.mpf(2) ** 104

    cuts = [mp.mpf(0), *sorted(uniform() for _ in range(pairs - 1)), mp.mpf(1)]
    lengths = [mp.sqrt(high - low) for low, high in pairwise(cuts)]
    flat = [length * f(angle) for length, angle in zip(lengths, angles, strict=True) for f in (mp.cos, mp.sin)]
    if odd:
        height = 2 * sorted(uniform() for _ in range(2 * pairs - 1))[pairs - 1] - 1
        flat = [mp.sqrt(1 - height**2) * entry for entry in flat] + [height]
    return [radius * entry for entry in flat]


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("reach", [1e-3, 1e7])
@mp.workdps(50)
def test_every_sample_is_near_every_ideal_of_its_cell(dimension, reach):
    rng = np.random.default_rng(dimension)
    worst = 0.0
    for trial in range(40):
        choice = ENDS if trial % 3 else range(2**52)
        bits = [int(choice[rng.integers(len(choice))]) for _ in range(8 * dimension)]
        steps = [int(step) for step in rng.choice([0, 1, -1, 2**30, -(2**35), 12345678901], dimension)]
        told = Given(bits, steps)
        found = tilt.isotropic_tilt(dimension, 1.0, reach, told)
        for corner in (mp.mpf(0), mp.mpf("0.5"), mp.mpf(1) - mp.mpf(2) ** -60):
            exact = ideal(dimension, bits, steps, corner, told.scale)
            away = float(mp.sqrt(sum((mp.mpf(a) - b) ** 2 for a, b in zip(found.tolist(), exact, strict=True))))
            length = float(mp.sqrt(sum(b**2 for b in exact)))
            bound = dimension / told.scale + length * (tilt.coupling_error(dimension, 1e-30, 1.0))
            worst = max(worst, away / bound)
    assert worst <= 1.0
    assert worst >= 0.01


@pytest.mark.parametrize("end", [2**63 - 1, -(2**63)])
def test_saturated_noise_is_longer_than_the_reach(end):
    for dimension, reach in product((1, 2, 5), (1.0, 8192.0, 1e7, 2.0**60)):
        steps = [end, *[0] * (dimension - 1)]
        found = tilt.isotropic_tilt(dimension, 2.0, reach, Given([2**50 + 7] * 100, steps))
        assert np.linalg.norm(found) > reach


@pytest.mark.parametrize("reach", [1e-9, 1.0, 5.0, 2.0**40, 3e15])
def test_cells_are_as_fine_as_the_reach_allows(reach):
    for scale in (1e-3, 1.0, 1e9):
        grain = tilt._grain(scale, reach)
        assert 2.0**62 * grain * scale > reach
        assert grain == 2.0**-50 or 2.0**61 * grain * scale <= reach
        assert tilt.coupling_error(3, scale, reach) >= 3 * scale * grain


def test_geometric_noise_is_the_floor_of_an_exponential():
    """P(X > 0) = p/(1 + p) and both halves are geometric: shown for p = e^(−1) on the law of two-sided noise."""
    p, k = math.exp(-1.0), np.arange(60)
    two_sided = (1 - p) / (1 + p) * p ** np.abs(np.arange(-60, 61))
    folded = np.zeros(60)
    for x, mass in zip(range(-60, 61), two_sided, strict=True):
        folded[min(59, x - 1 if x > 0 else -x)] += mass
    np.testing.assert_allclose(folded[:59], ((1 - p) * p**k)[:59], rtol=1e-12)
