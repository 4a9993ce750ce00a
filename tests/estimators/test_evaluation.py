"""`evaluate`: right values and intervals, one plan, nothing that depends on exact data."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import tailguard as tg
from tailguard import engines
from tailguard.audit.replay import replay_plan
from tailguard.errors import BudgetError, DataError, ParameterError
from tailguard.estimators.evaluation import _hits, _judged
from tailguard.plans import dumps, loads
from tailguard.recipes.evaluation import Judged, plan_evaluation
from tailguard.report import html, summary

W = np.array([1.0, -1.0, 0.5])
N = 20_000
BUDGETS = [(1.0, 0.0), (1.0, 1e-6)]


def numbers(n=N, seed=0, law=lambda rng, size: rng.standard_t(5, size), shift=0.0):
    rng = np.random.default_rng(seed)
    X = law(rng, (n, 3))
    return X, X @ W + law(rng, n) + shift


def classes(n=N, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, size=(n, 3))
    return X, (rng.random(n) < 1 / (1 + np.exp(-X @ W - offset))).astype(int)


def inside(measure, truth, errors=4.0):
    assert measure.low <= measure.value <= measure.high
    assert abs(measure.value - truth) <= errors * measure.standard_error + 1e-3 * abs(truth)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_numbers(epsilon, delta, shift):
    X, y = numbers(shift=shift)
    result = tg.evaluate((W, shift), X, y, epsilon=epsilon, delta=delta, random_state=1)
    inside(result["r2"], r2_score(y, X @ W + shift))
    inside(result["median_absolute_error"], np.median(np.abs(y - X @ W - shift)))
    assert result["r2"].standard_error < 0.05
    assert 0 < result["r2"].privacy_error < result["r2"].standard_error
    assert list(result) == ["r2", "median_absolute_error"]
    assert len(result) == 2
    assert "r2 = " in str(result)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
@pytest.mark.parametrize("offset", [0.0, -3.0])
def test_classes(epsilon, delta, offset):
    X, y = classes(offset=offset)
    score = X @ W + offset
    result = tg.evaluate((W, offset), X, y, classes=(0, 1), epsilon=epsilon, delta=delta, random_state=1)
    inside(result["error_rate"], np.mean((score > 0) != y))
    inside(result["log_loss"], log_loss(y, 1 / (1 + np.exp(-score))))
    inside(result["auc"], roc_auc_score(y, score))
    assert result["auc"].standard_error < 0.03


def test_intervals_cover():
    covered = {"r2": 0, "median_absolute_error": 0}
    truth = {"r2": 1 - 1 / 3.25, "median_absolute_error": 0.6745}
    for seed in range(40):
        X, y = numbers(8_000, seed, lambda rng, size: rng.standard_normal(size))
        result = tg.evaluate((W, 0.0), X, y, epsilon=1.0, random_state=seed)
        for name in covered:
            covered[name] += result[name].low <= truth[name] <= result[name].high
    assert covered["r2"] >= 34  # 38 expected
    assert covered["median_absolute_error"] >= 37  # wider than it must be


def test_a_bad_model_is_seen_to_be_bad():
    X, y = numbers()
    assert tg.evaluate((-W, 3.0), X, y, epsilon=1.0, random_state=0)["r2"].high < 0.0
    X, y = classes()
    worst = tg.evaluate((-W, 0.0), X, y, classes=(0, 1), epsilon=1.0, random_state=0)
    assert worst["error_rate"].low > 0.5
    assert worst["auc"].high < 0.5


def test_fitted_models_of_tailguard_and_others():
    X, y = numbers(2 * N)
    frame, rest = pd.DataFrame(X[:N], columns=list("abc")), pd.DataFrame(X[N:], columns=list("abc"))
    model = tg.LinearRegression(epsilon=1.0, random_state=0).fit(frame, y[:N])
    result = tg.evaluate(model, rest, y[N:], epsilon=1.0, random_state=1)
    inside(result["r2"], r2_score(y[N:], model.predict(rest)))
    public = LinearRegression().fit(X[:500], y[:500])
    inside(tg.evaluate(public, X, y, epsilon=1.0, random_state=1)["r2"], r2_score(y, public.predict(X)))
    with pytest.raises(DataError, match="not those that the model was fitted on"):
        tg.evaluate(model, rest[["b", "a", "c"]], y[N:], epsilon=1.0)
    with pytest.raises(DataError, match="The model has 3 features, the records have 2"):
        tg.evaluate(model, rest[["a", "b"]], y[N:], epsilon=1.0)


def test_any_object_that_predicts():
    class Rule:
        def predict(self, X):
            return np.where(X[:, 0] > 0, 1.0, -1.0)

    X, y = numbers()
    inside(tg.evaluate(Rule(), X, y, epsilon=1.0, random_state=0)["r2"], r2_score(y, Rule().predict(X)))


def test_classifiers_of_every_kind():
    X, y = classes()
    labels = np.where(y > 0, "yes", "no")
    private = tg.LogisticRegression(epsilon=1.0, classes=("no", "yes"), random_state=0).fit(X, labels)
    margin = tg.LinearSVC(epsilon=1.0, classes=("no", "yes"), random_state=0).fit(X, labels)
    forest = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X[:500], labels[:500])
    plain = LogisticRegression().fit(X[:500], labels[:500])
    for model in (private, margin, forest, plain):
        result = tg.evaluate(model, X, labels, epsilon=1.0, random_state=2)
        inside(result["error_rate"], np.mean(model.predict(X) != labels))
        assert ("log_loss" in result) == hasattr(model, "predict_proba")
        assert 0.7 < result["auc"].value < 0.95


def test_several_classes():
    X, _ = classes()
    y = np.array(["low", "middle", "high"], dtype=object)[np.digitize(X @ W, [-1.0, 1.0])]
    plain = LogisticRegression().fit(X[:500], y[:500])
    wrong = np.mean(plain.predict(X) != y)
    y[::10] = "unheard of"
    result = tg.evaluate(plain, X, y, epsilon=1.0, random_state=0)
    assert list(result) == ["error_rate"]
    inside(result["error_rate"], wrong)
    with pytest.raises(ParameterError, match="'measures' parameter of evaluate"):
        tg.evaluate(plain, X, y, epsilon=1.0, measures=["auc"])


def test_pipelines_and_chosen_models():
    X, y = classes(4_000)
    frame = pd.DataFrame({"x": X @ W, "group": np.where(X[:, 0] > 0, "a", "b")})
    encoder = tg.PublicOneHotEncoder({"group": ["a"]})
    steps = make_pipeline(encoder, tg.LogisticRegression(epsilon=8.0, random_state=0)).fit(frame, y)
    result = tg.evaluate(steps, frame, y, epsilon=4.0, random_state=0)
    inside(result["error_rate"], np.mean(steps.predict(frame) != y))
    models = {"bad": (tg.LogisticRegression(), [2]), "good": (tg.LogisticRegression(), [1, 0])}
    chosen = tg.select(models, X, y, epsilon=8.0, random_state=0)
    result = tg.evaluate(chosen, X, y, epsilon=4.0, random_state=0)
    inside(result["error_rate"], np.mean(chosen.predict(X) != y))
    assert list(result) == ["error_rate", "log_loss", "auc"]


def test_fewer_measures_have_less_noise():
    X, y = classes()
    alone = tg.evaluate((W, 0.0), X, y, classes=(0, 1), epsilon=0.5, measures=["error_rate"], random_state=0)
    assert list(alone) == ["error_rate"]
    both = tg.evaluate((W, 0.0), X, y, classes=(0, 1), epsilon=0.5, random_state=0)
    assert alone["error_rate"].privacy_error < 0.5 * both["error_rate"].privacy_error


def test_missing_records_are_left_out():
    X, y = classes()
    X[::4, 1] = np.nan
    y = np.where(np.arange(N) % 5 == 0, 7, y)
    here = np.isfinite(X[:, 1]) & (y < 2)
    result = tg.evaluate((W, 0.0), X, y, classes=(0, 1), epsilon=1.0, random_state=0)
    inside(result["error_rate"], np.mean((X[here] @ W > 0) != y[here]))
    X, y = numbers()
    X[::3], y[::4] = np.inf, np.nan
    here = np.isfinite(X[:, 0]) & np.isfinite(y)
    result = tg.evaluate((W, 0.0), X, y, epsilon=2.0, random_state=0)
    inside(result["median_absolute_error"], np.median(np.abs(y[here] - X[here] @ W)))
    assert abs(result["r2"].value - r2_score(y[here], X[here] @ W)) < 0.15


def _plan(target, privacy, n=2_000):
    judged = Judged(tuple(W.tolist()), 0.1, target)
    return plan_evaluation(judged, n, privacy, judged.measures, 0.9)


@pytest.mark.parametrize("privacy", [tg.Privacy(3.0, 0.0), tg.Privacy(2.0, 1e-6)], ids=str)
@pytest.mark.parametrize("target", ["numbers", "log-odds", "margins"])
def test_replay_with_absurd_records(target, privacy):
    plan = _plan(target, privacy)
    X, y = numbers(2_000) if target == "numbers" else classes(2_000)
    X[5], y = [1e3, -1e3, 0.0], y.astype(float)
    for row, value in (([1e308] * 3, 1.0), ([np.nan] * 3, 0.0), ([0.0] * 3, np.nan), ([-1e9, 0, 0], -1e300)):
        other, target_other = X.copy(), y.copy()
        other[5], target_other[5] = row, value
        found = replay_plan(plan, engines.open(X, y), engines.open(other, target_other))
        assert found.holds
        assert max(found.by_step.values()) > 0


@pytest.mark.parametrize("privacy", [tg.Privacy(3.0, 0.0), tg.Privacy(2.0, 1e-6)], ids=str)
@pytest.mark.parametrize("target", ["numbers", "log-odds", "margins"])
def test_plans_travel_and_spend_their_budget(target, privacy):
    plan = _plan(target, privacy)
    assert loads(dumps(plan)) == plan
    cost = tg.verify(plan)
    assert 0.95 * privacy.epsilon <= cost.epsilon <= privacy.epsilon


def test_reports():
    X, y = numbers()
    release = tg.evaluate((W, 0.0), X, y, epsilon=1.0, random_state=1).release
    text = summary(release)
    assert "evaluation of a linear regression" in text
    assert "median absolute error" in text
    assert "The measures" in html(release)


def test_nothing_to_see_is_no_number():
    X = np.zeros((N, 3))
    result = tg.evaluate((W, 0.0), X, np.zeros(N), epsilon=1.0, random_state=0)
    assert np.isnan(result["r2"].value)
    assert np.isnan(result["median_absolute_error"].value)
    result = tg.evaluate((W, 0.0), X, np.ones(N), classes=(0, 1), epsilon=1.0, random_state=0)
    assert np.isnan(result["auc"].value)
    result = tg.evaluate((W, 0.0), X, np.full(N, 5), classes=(0, 1), epsilon=1.0, random_state=0)
    assert np.isnan(result["log_loss"].value)


def test_refusals():
    X, y = numbers(300)
    with pytest.raises(BudgetError, match=r"needs about \d+ rows"):
        tg.evaluate((W, 0.0), X, y, epsilon=0.1)
    with pytest.raises(ParameterError, match="'measures' parameter of evaluate must be one of 'r2'"):
        tg.evaluate((W, 0.0), X, y, epsilon=1.0, measures=["auc"])
    for wrong in ((W * np.nan, 0.0), ("abc", 0.0), object(), (np.ones((2, 3)), 0.0), tg.Mean()):
        with pytest.raises(ParameterError, match="'model' parameter of evaluate"):
            tg.evaluate(wrong, X, y, epsilon=1.0)
    with pytest.raises(ParameterError, match="level"):
        tg.evaluate((W, 0.0), X, y, level=1.0)


def _refusing(kind):
    """Return a public model of another library that fails on a record, such a record, and a good one."""
    X, y = numbers(500, seed=7)
    if kind == "missing":
        return make_pipeline(StandardScaler(), LinearRegression()).fit(X, y), [np.nan, 0.0, 0.0], [0.3, 0.2, 0.1]
    if kind == "trees":
        forest = RandomForestRegressor(n_estimators=2, max_depth=3, random_state=0)
        return forest.fit(X, y), [1e300, 0.0, 0.0], [0.3, 0.2, 0.1]
    table = np.array([["a", "b"][i % 2] for i in range(500)], dtype=object)[:, None]
    return make_pipeline(OneHotEncoder(), LinearRegression()).fit(table, y), ["secret"], ["a"]


@pytest.mark.parametrize("kind", ["missing", "trees", "levels"])
def test_a_record_that_other_models_refuse_has_no_prediction_and_moves_no_other(kind):
    model, refused, good = _refusing(kind)
    rng, n = np.random.default_rng(0), 3_000
    X = rng.choice(["a", "b"], (n, 1)).astype(object) if kind == "levels" else rng.standard_t(5, (n, 3))
    y = rng.standard_t(5, n)
    X[17] = good
    other = X.copy()
    other[17] = refused
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tg.evaluate(model, other, y, epsilon=2.0, random_state=0)
        first, second = (_judged(model, table, None)[2] for table in (X, other))
    assert np.flatnonzero(np.any(first != second, axis=1)).tolist() == [17]
    assert np.isnan(second[17, 0])
    assert np.isfinite(first).all()


def test_classes_of_records_that_a_model_refuses():
    X, _ = numbers(600, seed=3)
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, labels)
    other = X.copy()
    other[5] = np.nan
    (hits, known), (others, fewer) = _hits(model, X, labels), _hits(model, other, labels)
    assert np.flatnonzero(known != fewer).tolist() == [5]
    np.testing.assert_array_equal(np.delete(hits, 5), np.delete(others, 5))
    hits, known = _hits(model, np.full_like(X, np.nan), labels)
    assert np.isnan(known).all()


def test_other_columns_are_refused_before_a_row_is_looked_at():
    model, *_ = _refusing("missing")
    with pytest.raises(DataError, match="3 features, the records have 2"):
        tg.evaluate(model, np.zeros((3_000, 2)), np.zeros(3_000))
    named = make_pipeline(StandardScaler(), LinearRegression()).fit(
        pd.DataFrame(numbers(100)[0], columns=list("abc")), W[:1].repeat(100)
    )
    with pytest.raises(DataError, match="no column 'c'"):
        tg.evaluate(named, pd.DataFrame(np.zeros((3_000, 3)), columns=list("abd")), np.zeros(3_000))


def test_a_model_with_a_link_is_judged_by_what_it_predicts():
    X, y = numbers()
    model = PoissonRegressor(alpha=0.0).fit(X[:2_000], np.exp(np.clip(y[:2_000], -3, 3)))
    target = model.predict(X) + np.random.default_rng(0).standard_normal(N)
    result = tg.evaluate(model, X, target, measures=["median_absolute_error"], random_state=0)
    assert result["median_absolute_error"].value == pytest.approx(0.674, rel=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_a_large_budget_does_not_look_beyond_the_largest_error(seed):
    """A quantile that rounds to 1 lies in no cell more than in any beyond the data."""
    X, y = numbers()
    found = tg.evaluate((W, 0.0), X, y, epsilon=200.0, delta=1e-6, random_state=seed)
    assert found["r2"].value == pytest.approx(r2_score(y, X @ W), abs=0.03)


def test_a_simulation_says_so_wherever_it_is_printed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = X @ [1.0, 2.0]
    assert "NOT PRIVATE" in str(tg.evaluate(([1.0, 2.0], 0.0), X, y, random_state=0))
    assert "NOT PRIVATE" not in str(tg.evaluate(([1.0, 2.0], 0.0), X, y))
    chosen = tg.select([tg.LinearRegression(), tg.RobustRegression()], X, y, epsilon=4.0, random_state=7)
    assert "random_state=7" in repr(chosen.best_estimator_)


@pytest.mark.parametrize(
    "model",
    [
        tg.LinearRegression(),
        tg.LogisticRegression(),
        make_pipeline(StandardScaler(), LinearRegression()),
        LinearRegression(),
    ],
    ids=str,
)
def test_nothing_is_spent_on_a_model_that_was_not_fitted(model, monkeypatch):
    monkeypatch.setattr("tailguard.estimators.evaluation.run", lambda *_: pytest.fail("the budget was spent"))
    with pytest.raises(NotFittedError):
        tg.evaluate(model, np.zeros((9000, 2)), np.zeros(9000))


def test_one_measure_may_be_a_word():
    X = np.random.default_rng(0).normal(size=(5000, 1))
    assert list(tg.evaluate(([1.0], 0.0), X, X[:, 0], measures="r2", random_state=0)) == ["r2"]
