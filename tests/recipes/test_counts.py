"""A loss of counts is none of residuals nor of classes: no slope at 0 for a count of 1, and no bound."""

from dataclasses import dataclass

import numpy as np
import pytest

import tailguard as tg
from tailguard.domains import WholeSpace
from tailguard.losses.base import Loss
from tailguard.plans import Problem
from tailguard.recipes import recipe
from tests.support.transcripts import FAMILIES, told

N, SLOPES = 10_000, np.array([0.5, -0.3, 0.0])


@dataclass(frozen=True)
class Counts(Loss):
    """e^p − t·p, its exponential going no further than e^30."""

    convex = True
    smoothness = None
    lipschitz = None

    def _value(self, prediction, target):
        return np.exp(np.minimum(prediction, 30.0)) - target * prediction

    def _derivative(self, prediction, target):
        return np.exp(np.minimum(prediction, 30.0)) - target

    def _second_derivative(self, prediction, target):
        return np.exp(np.minimum(prediction, 30.0))


@pytest.mark.parametrize("epsilon", [0.2, 2.0])  # tight descent, and newton
@pytest.mark.parametrize("intercept", [True, False])
def test_counts_are_fitted(epsilon, intercept):
    rng = np.random.default_rng(510)
    X = rng.standard_normal((N, 3))
    y = rng.poisson(np.exp(X @ SLOPES)).astype(float)
    release = tg.minimize(
        Counts(), WholeSpace(3), (X, y), tg.Privacy(epsilon, 1e-6), intercept=intercept, random_state=510
    )
    assert release.plan.recipe == "newton"
    np.testing.assert_allclose(release.estimate.coefficients, SLOPES, atol=0.2)
    assert abs(release.estimate.intercept) < 0.3


@pytest.mark.parametrize("family", [*FAMILIES, "mixed"])
@pytest.mark.parametrize("epsilon", [0.2, 2.0])
def test_whatever_is_released_there_is_a_model(epsilon, family):
    problem = Problem(Counts(), WholeSpace(3), N, 3, intercept=True)
    plan = recipe("newton").plan("regression", problem, tg.Privacy(epsilon, 1e-6), "practical")
    estimate = told(plan, family, 511)
    assert np.all(np.isfinite(np.append(estimate.coefficients, estimate.intercept)))
