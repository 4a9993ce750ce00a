"""Predictions stay where targets were seen: in predict, in an evaluation, in a selection, in a report."""

import dataclasses

import numpy as np
import pytest

import tailguard as tg
from tailguard.plans.result import result_hash, result_of
from tailguard.report import html, summary
from tailguard.solvers.base import EVERYWHERE
from tests.support.held_rows import held_scores


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(710)
    X = rng.standard_normal((20_000, 3))
    return X, X @ [1.0, -2.0, 0.0] + 10.0 + rng.standard_normal(20_000)


@pytest.fixture(scope="module")
def model(records):
    return tg.LinearRegression(epsilon=1.0, delta=1e-6, random_state=1).fit(*records)


def test_a_far_row_is_predicted_within_the_range(model, records):
    X, y = records
    low, high = model.prediction_range_
    assert np.sum((y < low) | (y > high)) <= 5
    assert (low, high) == model.release_.estimate.prediction_range
    far = np.array([[1e6, 0.0, 0.0], [0.0, 1e6, 0.0], [np.nan, 0.0, 0.0]])
    np.testing.assert_array_equal(model.predict(far), [high, low, np.nan])
    np.testing.assert_allclose(model.predict(X), X @ model.coef_ + model.intercept_, rtol=1e-12)


def test_seeds_reproduce_it(model, records):
    again = tg.LinearRegression(epsilon=1.0, delta=1e-6, random_state=1).fit(*records)
    assert again.prediction_range_ == model.prediction_range_


def test_public_units_leave_predictions_unheld(records):
    scales = tg.Scales(target=3.0, target_centre=10.0)
    model = tg.LinearRegression(epsilon=1.0, delta=1e-6, scales=scales, random_state=1).fit(*records)
    assert model.prediction_range_ == EVERYWHERE
    assert "prediction_range" not in result_of(model.release_)
    far = np.array([[1e6, 0.0, 0.0]])
    np.testing.assert_allclose(model.predict(far), held_scores(result_of(model.release_), far))


def test_an_evaluation_judges_what_is_predicted(model, records):
    X, y = records
    wild = X.copy()
    wild[::4, 0] = 1e6
    held = tg.evaluate(model, wild, y, epsilon=5.0, random_state=0)["r2"].value
    plain = tg.evaluate((model.coef_, model.intercept_), wild, y, epsilon=5.0, random_state=0)["r2"].value
    truth = 1.0 - np.mean((y - model.predict(wild)) ** 2) / y.var()
    assert abs(held - truth) < 0.2
    assert plain < truth - 3.0


def test_a_selection_keeps_the_range_of_its_models(records):
    models = [tg.LinearRegression(), (tg.LinearRegression(), [0, 1])]
    chosen = tg.select(models, *records, epsilon=4.0, delta=1e-6, random_state=0)
    assert chosen.release_.estimate.prediction_range == chosen.best_estimator_.prediction_range_ != EVERYWHERE
    low, high = chosen.best_estimator_.prediction_range_
    assert low < chosen.predict([[1e6, 0.0, 0.0]])[0] <= high


def test_a_certificate_is_for_the_range_too(model):
    release = model.release_
    result = result_of(release)
    assert result["prediction_range"] == list(model.prediction_range_)
    other = dataclasses.replace(release, estimate=dataclasses.replace(release.estimate, prediction_range=(0.0, 1.0)))
    assert release.certificate()["result"] == result_hash(result) != other.certificate()["result"]


def test_reports_say_it(model):
    for text in (summary(model.release_), html(model.release_)):
        assert "Predictions are held within" in text
    unheld = dataclasses.replace(model.release_.estimate, prediction_range=EVERYWHERE)
    assert "held within" not in summary(dataclasses.replace(model.release_, estimate=unheld))
