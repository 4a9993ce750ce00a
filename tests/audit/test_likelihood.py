"""Likelihoods of releases: those of the laws that the mechanisms really follow."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.stats import laplace, norm

from tailguard.audit.likelihood import _picked, _set_picked, log_likelihood
from tailguard.losses import Squared
from tailguard.mechanisms import Gaussian, L2Laplace, Laplace, NoisyMax, ObjectivePerturbation, Peeling, TopK
from tailguard.plans import Step
from tailguard.run.randomness import Simulation
from tailguard.statistics import PerturbedMinimiser, View
from tests.support.registry_minimisers import source

SENSITIVITY, MULTIPLIER, RELEASES = 1000.0, 2.0, 2000
ONE, OTHER = np.array([1500, 0, -500, 2500]), np.array([2200, -600, 300, 2000])
MECHANISMS = [Gaussian(), Laplace(), L2Laplace(), L2Laplace("continuous"), NoisyMax(), TopK(2), Peeling(2)]


class Fixed:
    """A statistic whose exact value is the record itself."""

    @staticmethod
    def evaluate(record):
        return record


def _step(mechanism, dimension=4, sensitivity=SENSITIVITY, multiplier=MULTIPLIER):
    return Step("a", "clipped sum", dimension, 10, 1, sensitivity, mechanism, multiplier)


def _excess(ratios):
    """How far the mean of e^ratio is from 1, in standard errors: a ratio of densities has mean 1."""
    weights = np.exp(ratios)
    return abs(weights.mean() - 1.0) / (weights.std() / np.sqrt(weights.size))


def _ratios(mechanism, planned):
    """Log-ratios of OTHER against ONE, of releases on ONE."""
    randomness, step, ratios = Simulation(0), _step(mechanism, multiplier=planned), []
    for _ in range(RELEASES):
        released, _ = mechanism.release(ONE, SENSITIVITY, MULTIPLIER, randomness)
        ratios.append(log_likelihood(step, Fixed, OTHER, released) - log_likelihood(step, Fixed, ONE, released))
    return np.array(ratios)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
def test_ratios_are_those_of_densities(mechanism):
    assert _excess(_ratios(mechanism, MULTIPLIER)) < 4.0
    assert _excess(_ratios(mechanism, 0.6 * MULTIPLIER)) > 4.0  # of another scale they are not


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [(Gaussian(), norm), (Laplace(), laplace), (L2Laplace(), laplace)],
    ids=["Gaussian", "Laplace", "L2Laplace"],
)
def test_noise_on_values_has_its_density(mechanism, law):
    step = _step(mechanism)
    scale = mechanism.noise(MULTIPLIER, SENSITIVITY, 4)
    released = np.array([1000, 200, -3000, 9000])
    found = log_likelihood(step, Fixed, OTHER, released) - log_likelihood(step, Fixed, ONE, released)
    expected = [law(loc=exact, scale=scale).logpdf(released).sum() for exact in (OTHER, ONE)]
    assert found == pytest.approx(expected[0] - expected[1])


def test_chances_of_picks_add_up_to_one():
    scores = np.array([0.3, -1.0, 2.0, 0.0, 1.1])
    ordered = [_picked(scores, np.array(chosen)) for chosen in permutations(range(5), 3)]
    assert np.exp(ordered).sum() == pytest.approx(1.0)
    for chosen in combinations(range(5), 3):
        whole = np.exp([_picked(scores, np.array(order)) for order in permutations(chosen)]).sum()
        assert np.exp(_set_picked(scores, np.array(chosen))) == pytest.approx(whole, rel=1e-6)


def test_sets_of_picks_far_apart_and_of_all():
    scores = np.array([400.0, 380.0, 0.0, -300.0])
    assert _set_picked(scores, np.array([0, 1])) == pytest.approx(0.0, abs=1e-6)
    assert _set_picked(scores, np.array([2, 3])) < -300.0
    assert _set_picked(scores, np.arange(4)) == 0.0


def test_ratios_of_perturbed_objectives_are_those_of_densities():
    """With a last release that is so exact that the minimiser is seen as it is."""
    mechanism, multiplier, size = ObjectivePerturbation(0.8, 1000.0), 1.5, 6
    ridge = mechanism.least_ridge(2.0, size, multiplier)
    asked = PerturbedMinimiser(View(2), Squared(), 1.0, ridge, size, 40, 2.0)
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((size, 2)), rng.standard_normal(size)
    other = X.copy()
    other[0] = 3.0
    one, two = source(X, y), source(other, y)
    step = _step(mechanism, 2, asked.sensitivity("tilt"), multiplier)
    randomness, ratios = Simulation(0), []
    for _ in range(300):
        released, _ = mechanism.perform(asked, one, step.sensitivity, multiplier, randomness)
        ratios.append(log_likelihood(step, asked, two, released) - log_likelihood(step, asked, one, released))
    assert np.std(ratios) > 0.2
    assert _excess(np.array(ratios)) < 4.0
    assert _excess(np.array(ratios) + 0.1) > 4.0
