"""Small plans that release a minimiser: by output perturbation, and by objective perturbation."""

import numpy as np

from tailguard import engines
from tailguard.losses import Squared
from tailguard.mechanisms import L2Laplace, ObjectivePerturbation
from tailguard.privacy import Privacy
from tailguard.solvers import Query
from tailguard.statistics import Minimiser, PerturbedMinimiser, View
from tests.support import toy

EPSILON, CURVATURE, BITS = 2.0, 3.0, 40
MECHANISM = ObjectivePerturbation(1.0, 0.05)
MULTIPLIER = MECHANISM.weight / EPSILON * (1.0 + 1e-12)


def output(*, ridge=0.05, clip=1.0):
    return Minimiser(View(toy.D), Squared(), clip, ridge, np.zeros(toy.D), toy.N, BITS)


def tilted(*, ridge=None, clip=1.0, curvature=CURVATURE):
    ridge = MECHANISM.least_ridge(curvature, toy.N, MULTIPLIER) if ridge is None else ridge
    return PerturbedMinimiser(View(toy.D), Squared(), clip, ridge, toy.N, BITS, curvature)


def output_plan(*, count=1, mechanism=None, multiplier=1.0 / EPSILON, asked=None):
    """Return a plan of `count` noisy minimisers, each with noise for all of ε unless the multiplier says otherwise."""
    step = toy.step("minimiser", output(), mechanism or L2Laplace(), multiplier=multiplier, count=count)
    return toy.plan((step,), lambda told: _asks(asked or output, count), Privacy(EPSILON))


def tilted_plan(*, count=1, mechanism=MECHANISM, multiplier=MULTIPLIER, asked=None, questions=None):
    """Return a plan of `count` perturbed minimisers."""
    step = toy.step("minimiser", tilted(), mechanism, multiplier=multiplier, count=count)
    return toy.plan((step,), lambda told: _asks(asked or tilted, questions or count), Privacy(EPSILON))


def _asks(statistic, count):
    for _ in range(count):
        yield Query("minimiser", statistic())


def engine(*, first=None):
    """Return records of a heavy-tailed regression, the first of them replaced by a row along the first axis."""
    X = toy.records()
    y = X @ np.array([1.0, -0.5]) + np.random.default_rng(1).standard_t(2, toy.N)
    if first is not None:
        X[0], y[0] = [1.0, 0.0], first
    return engines.open(X, y)


def opposed():
    """Return neighbours whose first records pull along the first axis as hard as they may, both ways, among nobody."""
    found = []
    for target in (1e9, -1e9):
        X, y = np.full((toy.N, toy.D), np.nan), np.full(toy.N, np.nan)
        X[0], y[0] = [1.0, 0.0], target
        found.append(engines.open(X, y))
    return found
