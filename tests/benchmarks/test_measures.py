"""Measures against closed forms."""

import numpy as np
import pytest
from scipy.special import expit

from benchmarks import measures
from benchmarks.objective import Fit

ROWS = np.array([[1.0], [2.0], [3.0], [4.0]])


def test_regression():
    y = np.array([1.0, 2.0, 3.0, 10.0])
    found = measures.regression(ROWS[:, 0], y, centre=4.0)
    assert found["r2"] == pytest.approx(1.0 - 36.0 / (9.0 + 4.0 + 1.0 + 36.0))
    assert found["median_error"] == 0.0


def test_a_fit_may_predict_more_than_its_coefficients_do():
    fit = Fit(np.array([2.0]), 1.0)
    np.testing.assert_array_equal(fit.predictions(ROWS), [3.0, 5.0, 7.0, 9.0])
    held = Fit(np.array([2.0]), 1.0, predict=lambda X: np.minimum(X[:, 0], 3.0))
    np.testing.assert_array_equal(held.predictions(ROWS), [1.0, 2.0, 3.0, 3.0])
    np.testing.assert_array_equal(held.values(ROWS), fit.values(ROWS))


def test_the_trimmed_error_leaves_the_largest_twentieth_out():
    y = np.zeros(100)
    y[:5] = 1e6
    found = measures.regression(np.ones(100), y, centre=2.0)
    assert found["trimmed_error"] == pytest.approx(0.25)
    assert found["median_error"] == pytest.approx(0.5)


def test_auc():
    labels = np.array([0.0, 0.0, 1.0, 1.0])
    assert measures.auc(np.array([1.0, 2.0, 3.0, 4.0]), labels) == 1.0
    assert measures.auc(np.array([4.0, 3.0, 2.0, 1.0]), labels) == 0.0
    assert measures.auc(np.zeros(4), labels) == 0.5
    assert measures.auc(np.array([1.0, 3.0, 2.0, 4.0]), labels) == 0.75
    assert measures.auc(np.array([np.nan, 3.0, 2.0, 4.0]), labels) == 0.5


def test_log_losses():
    odds = np.linspace(-3.0, 3.0, 7)
    probability = expit(odds)
    assert measures.log_loss(odds, probability) == pytest.approx(measures.least_log_loss(probability))
    assert measures.excess_log_loss(odds, odds) == pytest.approx(0.0, abs=1e-12)
    assert measures.excess_log_loss(np.zeros(7), odds) == pytest.approx(1.0)
    assert measures.excess_log_loss(-odds, odds) > 1.0


def test_recall_counts_the_largest_of_the_found_coefficients():
    truth = np.array([1.0, -1.0, 0.0, 0.0])
    assert measures.recall(np.array([0.5, 0.0, 0.0, 0.0]), truth) == 0.5
    assert measures.recall(np.array([0.5, 0.1, 0.2, 0.0]), truth) == 0.5
    assert measures.recall(np.array([0.5, -9.0, 0.2, 0.0]), truth) == 1.0
    assert measures.recall(np.zeros(4), truth) == 0.0


def test_coefficient_error_is_in_units_of_the_columns():
    truth, found = np.array([1.0, 100.0]), np.array([2.0, 100.0])
    assert measures.coefficient_error(found, truth, np.array([1.0, 0.01])) == pytest.approx(1.0 / np.sqrt(2.0))
