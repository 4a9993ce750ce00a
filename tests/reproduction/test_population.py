"""Population risks: closed forms against samples, minimisers against their neighbours."""

import numpy as np
import pytest

from tailguard.domains import L1Ball, Sparse
from tailguard.reproduction.laws import Law
from tailguard.reproduction.population import gaussian_logistic, independent_squares, sampled_logistic
from tailguard.solvers.base import Estimate


def test_squared_excess_is_that_of_a_large_sample():
    rng = np.random.default_rng(3)
    features, noise, truth = Law("lognormal", 0.6**0.5), Law("normal", 0.1**0.5), np.array([0.4, -0.5, 0.1])
    X = features.design(rng, 400_000, 3).astype(float)
    y = X @ truth + noise.noise(rng, len(X))
    population = independent_squares(features, noise, truth)
    model = Estimate(np.array([0.1, -0.2, 0.3]), 0.05)
    losses = (X @ model.coefficients + model.intercept - y) ** 2 - (X @ truth - y) ** 2
    assert population.excess(model) == pytest.approx(losses.mean(), abs=4 * losses.std() / np.sqrt(len(X)))
    assert population.excess(population.best) == 0.0


def test_the_mean_of_skew_noise_is_left_to_the_intercept():
    population = independent_squares(Law("normal", 2.0), Law("loglogistic", 0.1), np.array([1.0, 0.0]))
    assert population.excess(Estimate(np.zeros(2), 1e9)) == 4.0


@pytest.mark.parametrize("noise", [Law("logistic", 0.5), Law("loggamma", 0.5), Law("lognormal", 0.7)])
def test_gaussian_log_loss_is_that_of_a_large_sample(noise):
    rng = np.random.default_rng(4)
    features, truth, ridge = Law("normal", 5.0**0.5), np.array([0.6, 0.0, -0.8]), 0.01
    X = features.design(rng, 400_000, 3).astype(float)
    t = (X @ truth + noise.noise(rng, len(X)) > 0.0).astype(float)
    population = gaussian_logistic(features, noise, truth, ridge)
    for model in (Estimate(np.array([0.5, 0.3, -1.0]), 0.4), population.best, Estimate(np.zeros(3))):
        p = X @ model.coefficients + model.intercept
        losses = np.logaddexp(0.0, p) - t * p + 0.5 * ridge * model.coefficients @ model.coefficients
        assert population.risk(model) == pytest.approx(losses.mean(), abs=4 * losses.std() / np.sqrt(len(X)) + 1e-9)


@pytest.mark.parametrize("free", [True, False])
def test_no_neighbour_of_the_gaussian_minimiser_is_better(free):
    rng = np.random.default_rng(8)
    population = gaussian_logistic(Law("normal", 2.0), Law("loggamma", 0.5), np.array([0.6, 0.0, -0.8]), 0.01)
    best = population.best if free else population.plain
    assert free or best.intercept == 0.0
    for step in rng.normal(0.0, 0.05, (200, 4)):
        moved = Estimate(best.coefficients + step[:3], best.intercept + step[3] * free)
        assert population.risk(moved) > population.risk(best) - 1e-9
    assert population.excess(population.plain) >= 0.0
    assert population.excess(population.truth) > 0.0  # w* does not minimise a logistic risk


def test_sampled_minimiser_on_the_support_beats_other_sparse_vectors():
    rng = np.random.default_rng(9)
    X, truth = Law("laplace", 5.0).design(rng, 20_000, 6), np.array([0.0, 0.6, 0.0, 0.0, -0.8, 0.0])
    population = sampled_logistic(X, Law("loggamma", 0.5), truth, 0.01, Sparse(6, 2), support=True)
    assert set(np.flatnonzero(population.best.coefficients)) == {1, 4}
    for step in rng.normal(0.0, 0.02, (100, 2)):
        moved = population.best.coefficients.copy()
        moved[[1, 4]] += step
        assert population.excess(Estimate(moved, population.best.intercept)) > -1e-9


def test_sampled_minimiser_in_the_ball_beats_its_points():
    rng = np.random.default_rng(10)
    X, truth = Law("lognormal", 0.7).design(rng, 20_000, 5), np.array([0.3, -0.2, 0.2, -0.2, 0.1])
    population = sampled_logistic(X, Law("none"), truth, 0.0, L1Ball(5, 1.0), support=False)
    assert np.abs(population.best.coefficients).sum() == pytest.approx(1.0)
    for point in rng.dirichlet(np.ones(5), 100) * rng.choice([-1.0, 1.0], (100, 5)):
        mixed = Estimate(0.9 * population.best.coefficients + 0.1 * point, population.best.intercept)
        assert population.excess(mixed) > -1e-7
    assert population.excess(population.plain) > 0.0
