"""Rows far out are predicted as if they ended where rows do: in every model, evaluation, selection, file and report."""

import dataclasses
import pickle

import numpy as np
import pytest
from scipy import sparse

import tailguard as tg
from tailguard.plans.result import result_hash, result_of
from tailguard.report import html, summary
from tests.support.held_rows import held_scores

SLOPES = np.array([1.0, -2.0, 0.5])


@pytest.fixture(scope="module")
def records():
    """One column in a thousand is a hundred times as large as the others, and means nothing there."""
    rng = np.random.default_rng(730)
    X = rng.standard_normal((20_000, 3))
    y = X @ SLOPES + rng.standard_normal(20_000)
    X[::2000, 2] *= 1e5
    return X, y


@pytest.fixture(scope="module")
def model(records):
    scales = tg.Scales(target=3.0, target_centre=0.0)  # no range of the target
    return tg.LinearRegression(epsilon=1.0, delta=1e-6, scales=scales, random_state=1).fit(*records)


def by_hand(model, X):
    return held_scores(result_of(model.release_), X)


def test_predictions_follow_the_range(model, records):
    X, y = records
    predictions = model.predict(X)
    np.testing.assert_allclose(predictions, by_hand(model, X), rtol=1e-9, atol=1e-9)
    plain = X @ model.coef_ + model.intercept_
    assert 1 - np.mean((y - predictions) ** 2) / y.var() > 0.8 > 0 > 1 - np.mean((y - plain) ** 2) / y.var()
    np.testing.assert_allclose(model.predict(sparse.csr_matrix(X)), predictions, rtol=1e-9, atol=1e-9)
    assert np.isnan(model.predict([[np.nan, 0.0, 0.0]])).all()


def test_pickles_and_seeds_keep_it(model, records):
    again = tg.LinearRegression(**{**model.get_params(), "random_state": 1}).fit(*records)
    assert again.feature_range_ == model.feature_range_ == pickle.loads(pickle.dumps(model)).feature_range_


def test_classifiers_follow_it_and_are_never_surer_than_one_in_n(records):
    X, y = records
    model = tg.LogisticRegression(epsilon=1.0, delta=1e-6, random_state=1).fit(X, y > 0.0)
    expected = np.clip(by_hand(model, X), *model.prediction_range_)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0.0)
    model.intercept_, most = 1e3, min(model.prediction_range_[1], np.log(20_000.0))
    np.testing.assert_allclose(model.predict_proba(X)[:, 0], 1.0 / (1.0 + np.exp(most)), rtol=1e-6)


def test_an_evaluation_judges_what_is_predicted(model, records):
    X, y = records
    wild = X.copy()
    wild[::4, 0] = 1e6
    held = tg.evaluate(model, wild, y, epsilon=5.0, random_state=0)["r2"].value
    truth = 1.0 - np.mean((y - model.predict(wild)) ** 2) / y.var()
    assert abs(held - truth) < 0.3
    assert tg.evaluate((model.coef_, model.intercept_), wild, y, epsilon=5.0, random_state=0)["r2"].value < truth - 3.0


def test_a_selection_keeps_the_range_of_its_models(records):
    models = [tg.LinearRegression(), (tg.LinearRegression(), [2, 1])]
    chosen = tg.select(models, *records, epsilon=4.0, delta=1e-6, random_state=0)
    assert chosen.release_.estimate.feature_range == chosen.best_estimator_.feature_range_ is not None
    assert len(chosen.estimators_["1"].feature_range_.rates) == 2
    far = np.array([[1e6, 0.0, 0.0]])
    np.testing.assert_allclose(chosen.predict(far), chosen.best_estimator_.predict(far))


def test_a_certificate_is_for_the_range_too(model):
    release = model.release_
    wider = dataclasses.replace(model.feature_range_, radius=2.0 * model.feature_range_.radius)
    other = dataclasses.replace(release, estimate=dataclasses.replace(release.estimate, feature_range=wider))
    assert release.certificate()["result"] == result_hash(result_of(release)) != other.certificate()["result"]


def test_reports_say_it(model):
    for text in (summary(model.release_), html(model.release_)):
        assert "private scales from the centre" in " ".join(text.split())
    unheld = dataclasses.replace(model.release_.estimate, feature_range=None)
    assert "private scales" not in summary(dataclasses.replace(model.release_, estimate=unheld))
