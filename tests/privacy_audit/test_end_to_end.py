"""An adversary with the worst data sets learns no more than was promised; with too little noise, it does.

Whole fits are run many times on two neighbouring data sets. A threshold on the estimate gives a lower bound on ε that
holds with high confidence. Likelihood ratios of everything released are for `tailguard.audit.attack`.
"""

import importlib
from functools import cache

import numpy as np
import pytest

import tailguard as tg
from tailguard import engines
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tests.support.attack import least_epsilon

N, RUNS = 50, 1400
FAR = 1e30  # beyond every clip level

KNOWN = {"method": "clipping", "moment": tg.Moment(2.0, 1.0)}
ESTIMATORS = {
    "gaussian": tg.Mean(epsilon=2.0, delta=1e-2, **KNOWN),
    "pure": tg.Mean(epsilon=1.0, delta=0.0, **KNOWN),
    "paper": tg.Mean(epsilon=3.0, delta=1e-2, parameters="paper", **KNOWN),
}
each = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture(autouse=True)
def _verify_once(monkeypatch):
    """A plan costs the same each time: spare the audit a thousand verifications."""
    kernel = importlib.import_module("tailguard.run.run")
    monkeypatch.setattr(kernel, "verify", cache(kernel.verify))


class Quieter(Simulation):
    """Draws a quarter of the noise that it is asked for."""

    def gaussian(self, value, scale):
        return super().gaussian(value, scale / 4)

    def laplace(self, value, scale):
        return super().laplace(value, scale / 4)


def _pair():
    """Return engines of two data sets that differ in one record, far out on opposite sides."""
    X = np.zeros((2, N, 1))
    X[0, 0], X[1, 0] = FAR, -FAR
    return [engines.open(records) for records in X]


def _estimates(name, randomness):
    plan = ESTIMATORS[name].plan(N, 1)
    return [
        np.array([run(plan, engine, randomness).estimate.coefficients[0] for _ in range(RUNS)]) for engine in _pair()
    ]


def _bound(name, randomness):
    return least_epsilon(*_estimates(name, randomness), ESTIMATORS[name].delta)


@each
def test_no_more_is_told_than_promised(name):
    found = _bound(name, Simulation(0))
    assert 0.1 < found <= ESTIMATORS[name].epsilon  # from below, and not far: the audit has power


@each
def test_a_quarter_of_the_noise_is_found_out(name):
    assert _bound(name, Quieter(0)) > ESTIMATORS[name].epsilon
