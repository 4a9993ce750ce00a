"""Repetitions: truths and starts lie where the paper puts them, and seeds repeat everything."""

import numpy as np
import pytest

from tailguard.reproduction.figures import FIGURES
from tailguard.reproduction.readings import Readings

SYNTHETIC = [figure for figure in FIGURES.values() if figure.source is not None]


def world(figure, readings=None, seed=3, d=30, sparsity=4):
    source = figure.source(readings or Readings())
    return source.world(d, sparsity, np.random.default_rng(seed))


@pytest.mark.parametrize("figure", SYNTHETIC, ids=lambda figure: figure.name)
def test_truth_start_and_minimiser_lie_in_the_domain(figure):
    made = world(figure)
    assert made.domain.contains(made.start)
    assert made.domain.contains(made.population.best.coefficients, 1e-6)
    assert made.domain.contains(made.population.plain.coefficients, 1e-6)
    truth = made.population.truth.coefficients
    assert np.linalg.norm(truth, 1 if figure.algorithm in (1, 2) else 2) == pytest.approx(1.0)
    assert figure.algorithm in (1, 2) or np.count_nonzero(truth) == np.count_nonzero(made.start) == 4
    assert np.linalg.norm(made.start) <= 1.0


@pytest.mark.parametrize("figure", SYNTHETIC, ids=lambda figure: figure.name)
def test_equal_seeds_make_equal_records(figure):
    (X, y), (again, same), (other, _) = (world(figure, seed=seed).draw(50) for seed in (3, 3, 4))
    assert np.array_equal(X, again)
    assert np.array_equal(y, same)
    assert not np.array_equal(X, other)
    assert np.isfinite(y).all()
    assert set(y) <= {0.0, 1.0} or figure.number not in (2, 10, 11)


@pytest.mark.parametrize("figure", SYNTHETIC, ids=lambda figure: figure.name)
def test_the_minimiser_is_no_worse_than_its_rivals(figure):
    population = world(figure).population
    assert population.excess(population.plain) >= -1e-9
    assert population.excess(population.truth) >= -1e-9
    assert population.excess_over_truth(population.best) <= 1e-9


def test_readings_change_the_laws():
    def features(number, **changed):
        return FIGURES[f"fig{number}"].source(Readings(**changed)).features.parameter

    assert features(1) == pytest.approx(0.6**0.5)
    assert features(1, lognormal="sigma") == 0.6
    assert features(7) == pytest.approx(5.0**0.5)
    assert features(7, normal="sd") == 5.0
    assert features(11) == 5.0
    assert 2.0 * features(11, laplace="variance") ** 2 == pytest.approx(5.0)
    assert FIGURES["fig10"].source(Readings(noise10="lognormal")).noise.family == "lognormal"
    positive = world(FIGURES["fig1"], Readings(signs="positive")).population.truth.coefficients
    assert (positive > 0.0).all()
    assert FIGURES["fig10"].source(Readings(ridge=0.5)).ridge == 0.5


def test_facts_hold_on_a_sample():
    made = world(FIGURES["fig1"])
    X, y = made.draw(100_000)
    X = X.astype(float)
    largest = np.linalg.eigvalsh(X.T @ X / len(y))[-1]
    assert made.facts.smoothness == pytest.approx(largest, rel=0.05)
    second = np.mean((X * y[:, None]) ** 2, axis=0)
    assert made.facts.gradient**2 == pytest.approx(second.mean(), rel=0.3)
