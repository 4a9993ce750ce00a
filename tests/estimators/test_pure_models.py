"""Support vector machines, least absolute deviations and pure regressions: accuracy, budgets, monsters, refusals."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import QuantileRegressor
from sklearn.svm import LinearSVC

import tailguard as tg
from tailguard.cli.costs import synthetic_costs
from tailguard.report import summary

N = 4000
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3)) * [1.0, 30.0, 0.1] + [0.0, 50.0, -1.0]
SIGNAL = X @ [1.0, 1.0 / 30.0, -10.0]
Y = 5.0 + SIGNAL + RNG.standard_t(2, size=N)
LABELS = (SIGNAL - SIGNAL.mean() + RNG.logistic(size=N) > 0).astype(int)
deltas = pytest.mark.parametrize("delta", [0.0, 1e-6])


@deltas
def test_least_absolute_deviations_tends_to_the_regression_of_the_median(delta):
    exact = QuantileRegressor(quantile=0.5, alpha=0.0).fit(X, Y)
    found = tg.LeastAbsoluteDeviations(epsilon=1e5, delta=delta, random_state=0).fit(X, Y)
    np.testing.assert_allclose(found.coef_ / exact.coef_, 1.0, atol=0.08)
    np.testing.assert_allclose(found.predict(X), exact.predict(X), atol=0.4)
    error = [np.mean(np.abs(Y - model.predict(X))) for model in (found, exact)]
    assert error[0] <= 1.005 * error[1]


@deltas
def test_a_support_vector_machine_tends_to_that_of_scikit_learn(delta):
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    exact = LinearSVC(C=1e4 / N, loss="hinge", max_iter=100_000, random_state=0).fit(rows, LABELS)
    found = tg.LinearSVC(smoothing=0.01, epsilon=1e5, delta=delta, random_state=0).fit(X, LABELS)
    np.testing.assert_allclose(found.coef_ * X.std(axis=0), exact.coef_[0], atol=0.15)
    assert np.mean(found.predict(X) == exact.predict(rows)) > 0.97
    risk = [np.mean(np.maximum(0.0, 1.0 - (2 * LABELS - 1) * scores))
            for scores in (found.decision_function(X), exact.decision_function(rows))]  # fmt: skip
    assert risk[0] <= 1.01 * risk[1]


@pytest.mark.parametrize("make", [tg.LinearRegression, tg.LeastAbsoluteDeviations, tg.LogisticRegression, tg.LinearSVC])
@pytest.mark.parametrize("method", ["objective_perturbation", "output_perturbation"])
def test_pure_fits_are_pure_and_survive_monsters(make, method):
    classes = make in (tg.LogisticRegression, tg.LinearSVC)
    clean = make(epsilon=3.0, delta=0.0, method=method, random_state=1).fit(X, LABELS if classes else Y)
    rows, target = X.copy(), (LABELS if classes else Y).astype(float)
    monsters = np.array([1e308, -1e308, np.inf, -np.inf, np.nan, 5e-324])
    rows[:18] = np.concatenate([np.repeat(monsters, 3).reshape(-1, 3), rows[6:18]])
    target[6:12] = monsters
    rows[12:18, 1] = monsters
    dirty = make(epsilon=3.0, delta=0.0, method=method, random_state=1).fit(rows, target)
    for model in (clean, dirty):
        assert model.privacy_.delta == 0.0
        assert model.privacy_.epsilon <= 3.0
        assert tg.verify(model.plan_).delta == 0.0
    scores = [model.decision_function(X) if classes else model.predict(X) for model in (clean, dirty)]
    truth = SIGNAL - SIGNAL.mean()
    for score in scores:
        assert np.corrcoef(score, truth)[0, 1] > 0.9
    assert np.median(np.abs(scores[1] - scores[0])) < 0.5


def test_log_odds_are_held_where_the_budget_can_tell_classes():
    model = tg.LogisticRegression(epsilon=1.0, delta=0.0, random_state=1).fit(X, LABELS)
    low, high = model.prediction_range_
    assert low == pytest.approx(-np.log(N / 8), abs=0.2)  # less by as much as all records' log-odds are above 0
    assert high == pytest.approx(np.log(N / 8), abs=0.2)
    far = model.coef_ * [[1e6], [-1e6]]
    np.testing.assert_array_equal(model.decision_function(far), [high, low])
    np.testing.assert_allclose(model.predict_proba(far)[:, 1], expit([high, low]))
    np.testing.assert_array_equal(model.predict(far), [1, 0])
    np.testing.assert_allclose(model.decision_function(X), np.clip(X @ model.coef_ + model.intercept_, low, high))
    loose = tg.LogisticRegression(epsilon=1.0, delta=1e-6, random_state=1).fit(X, LABELS)
    assert loose.prediction_range_[0] < -3.0 < 3.0 < loose.prediction_range_[1] < np.log(N)
    wild = np.where(np.arange(N)[:, np.newaxis] % 4 == 0, 1e6 * X, X)
    judged = tg.evaluate(model, wild, LABELS, epsilon=5.0, random_state=0)["log_loss"].value
    positive = model.predict_proba(wild)[:, 1]
    assert judged == pytest.approx(-np.mean(np.log(np.where(LABELS == 1, positive, 1.0 - positive))), rel=0.1)
    assert f"Log-odds are held within {low:.4g} and {high:.4g}" in summary(model.release_)


@pytest.mark.parametrize("make", [tg.LinearRegression, tg.LogisticRegression])
def test_columns_of_rare_large_numbers_do_not_spoil_a_fit(make):
    """A twentieth of the rows has a large number in a column without meaning: capital gains, say."""
    rng = np.random.default_rng(5)
    rare = np.where(rng.random((2, N)) < 0.08, rng.lognormal(8.0, 1.0, (2, N)), 0.0).T
    rows, target = np.hstack([X, rare]), LABELS if make is tg.LogisticRegression else Y
    truth = SIGNAL - SIGNAL.mean() + (0.0 if make is tg.LogisticRegression else 5.0 + SIGNAL.mean())
    found = []
    for seed in range(5):
        model = make(epsilon=4.0, delta=0.0, random_state=seed).fit(rows, target)
        found.append(np.mean((rows @ model.coef_ + model.intercept_ - truth) ** 2) / truth.var())
    assert np.median(found) < 0.2
    assert np.max(found) < 0.6


@pytest.mark.parametrize("make", [tg.LinearRegression, tg.LeastAbsoluteDeviations, tg.LogisticRegression, tg.LinearSVC])
def test_pure_fits_are_refused_with_a_number_of_rows(make):
    with pytest.raises(tg.BudgetError, match=r"cannot be carried by n = 100 rows .* it needs about \d+ rows"):
        make(epsilon=0.5, delta=0.0).plan(100, 10)


@pytest.mark.parametrize("make", [tg.LinearRegression, tg.LogisticRegression, tg.LinearSVC, tg.LeastAbsoluteDeviations])
def test_what_auto_takes(make):
    assert make(delta=0.0).plan(10_000, 3).recipe == "objective_perturbation"
    assert make().plan(10_000, 3).recipe == "newton"


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "wide"])
@pytest.mark.parametrize("make", [tg.LinearSVC, tg.LeastAbsoluteDeviations])
def test_a_wrong_smoothing_is_refused(make, value):
    with pytest.raises(tg.ParameterError, match=f"The 'smoothing' parameter of {make.__name__} must be"):
        make(smoothing=value).plan(10_000, 3)


def test_a_theorem_needs_a_smoothing_in_units_of_the_target():
    model = tg.LeastAbsoluteDeviations(parameters="paper", radius=1.0, moment=tg.Moment(2.0, 5.0, "norm"))
    with pytest.raises(tg.ParameterError, match="'smoothing'"):
        model.plan(10_000, 3)


def test_noise_without_a_mean():
    y = SIGNAL + np.random.default_rng(1).standard_cauchy(N)
    model = tg.LeastAbsoluteDeviations(epsilon=3.0, delta=0.0, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_ * [1.0, 30.0, -0.1], 1.0, atol=0.4)


def test_labels_outside_the_classes_contribute_nothing():
    labels = np.where(LABELS == 1, "yes", "no").astype(object)
    labels[:50] = "perhaps"
    model = tg.LinearSVC(epsilon=3.0, delta=0.0, classes=("no", "yes"), random_state=0).fit(X, labels)
    assert set(model.predict(X)) == {"no", "yes"}
    assert np.mean(model.predict(X)[50:] == labels[50:]) > 0.7


def test_indicators_and_counts_are_columns_like_others():
    """Rare and even indicators, counts with many zeros, and long tails at δ = 0: the model beats the null model."""
    people = synthetic_costs(20_000)
    model = tg.LinearRegression(epsilon=2.0, delta=0.0, random_state=41).fit(people.X, people.y)
    spread = np.std(model.predict(people.X))
    assert 0.05 * people.y.std() < spread < 0.6 * people.y.std()
    assert model.score(people.X, people.y) > 0.04
