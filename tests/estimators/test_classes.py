"""Logistic regression with more than two public classes: one plan, probabilities, and what it costs."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as Reference
from sklearn.multiclass import OneVsRestClassifier

import tailguard as tg
from tailguard.losses.multinomial import Multinomial, memberships, softmax
from tailguard.plans import dumps, loads
from tailguard.plans.step import composition
from tailguard.privacy.recompute import recompute

LABELS = np.array(["setosa", "versicolor", "virginica"])


def flowers(n=6000, seed=0):
    """Four measures of three kinds of flowers, the second and third of them close."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(3, size=n)
    middle = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])[kind]
    return middle + rng.normal(size=(n, 4)) * [0.5, 0.35, 0.45, 0.25], LABELS[kind]


X, Y = flowers()
TEST_X, TEST_Y = flowers(seed=1)


def model(**options):
    return tg.LogisticRegression(**{"epsilon": 1.0, "classes": LABELS, "random_state": 0, **options})


@pytest.fixture(scope="module")
def fitted():
    return model().fit(X, Y)


def test_it_has_the_shapes_of_scikit_learn(fitted):
    assert fitted.coef_.shape == (3, 4)
    assert fitted.intercept_.shape == (3,)
    assert fitted.decision_function(TEST_X).shape == (len(TEST_X), 3)
    probabilities = fitted.predict_proba(TEST_X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.predict(TEST_X), LABELS[probabilities.argmax(axis=1)])
    np.testing.assert_array_equal(fitted.classes_, LABELS)
    assert fitted.__sklearn_tags__().classifier_tags.multi_class
    assert not tg.LogisticRegression().__sklearn_tags__().classifier_tags.multi_class
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(TEST_X), fitted.predict(TEST_X))
    assert clone(fitted).get_params()["classes"] is not None


def test_it_is_as_good_as_one_against_the_rest(fitted):
    rest = OneVsRestClassifier(Reference(C=1e6, max_iter=1000)).fit(X, Y).score(TEST_X, TEST_Y)
    assert fitted.score(TEST_X, TEST_Y) > rest - 0.02
    rich = model(epsilon=1e4).fit(X, Y)
    exact = Reference(C=1e6, max_iter=1000).fit(X, Y)
    assert rich.score(TEST_X, TEST_Y) > rest - 0.005
    assert np.abs(rich.predict_proba(TEST_X) - exact.predict_proba(TEST_X)).mean() < 0.02


def test_ten_classes_of_many_columns():
    rng = np.random.default_rng(3)
    middle = rng.normal(size=(10, 8)) * 2.0
    kind = rng.integers(10, size=12_000)
    digits = middle[kind] + rng.standard_t(4, size=(12_000, 8))
    fit = tg.LogisticRegression(epsilon=2.0, classes=range(10), random_state=0).fit(digits[:10_000], kind[:10_000])
    exact = Reference(max_iter=1000).fit(digits[:10_000], kind[:10_000])
    assert fit.score(digits[10_000:], kind[10_000:]) > exact.score(digits[10_000:], kind[10_000:]) - 0.03


def test_all_classes_cost_one_plan():
    several, two = (tg.LogisticRegression(epsilon=1.0, classes=range(k)).plan(20_000, 5) for k in (4, 2))
    assert tg.verify(several).epsilon <= 1.0
    assert loads(dumps(several)) == several
    names = [step.name for step in several.steps]
    assert names.count("feature scale") == names.count("gram") == names.count("class shares") == 1
    alone = [step for step in several.steps if step.name == "gradient"]
    pair = [step for step in two.steps if step.name == "gradient"]
    assert {step.dimension for step in alone} == {4 * 6}
    # One vector of all classes: the noise of the last step is that of two classes, not √4 times as much.
    assert alone[-1].multiplier / np.sqrt(2 / len(alone)) < 1.3 * pair[-1].multiplier / np.sqrt(2 / len(pair))
    # Four fits of one class against the rest, each at a quarter of the budget, would add up to the same promise.
    quarter = tg.LogisticRegression(epsilon=0.25, delta=0.25e-6).plan(20_000, 5)
    assert recompute(composition(quarter.steps * 4), 1e-6) <= 1.0
    assert min(step.multiplier for step in quarter.steps if step.name == "gradient") > 3.0 * alone[-1].multiplier


def test_the_ledger_and_a_replay_hold(fitted):
    fitted.release_.ledger.check(fitted.plan_)
    for row, label in (([1e308, -1e308, 0.0, np.nan], "setosa"), ([1e9] * 4, "virginica"), (X[0], "no such flower")):
        other_x, other_y = X.copy(), Y.astype(object)
        other_x[5], other_y[5] = row, label
        assert tg.audit.replay(model(), (X, Y), (other_x, other_y)).holds


def test_labels_outside_the_classes_contribute_nothing():
    other = np.where(np.arange(len(Y)) % 10 == 0, "weed", Y).astype(object)
    hidden = X.copy()
    hidden[::10] = np.nan
    np.testing.assert_allclose(model().fit(X, other).coef_.shape, (3, 4))
    assert model().fit(hidden, other).score(TEST_X, TEST_Y) > 0.9


def test_sparse_records_are_the_same_records():
    thin = np.where(np.abs(X) > 1.0, X, 0.0)
    same = model(fit_intercept=False).fit(sparse.csr_array(thin), Y)
    np.testing.assert_array_equal(same.coef_, model(fit_intercept=False).fit(thin, Y).coef_)
    np.testing.assert_allclose(same.predict_proba(sparse.csr_array(thin[:9])), same.predict_proba(thin[:9]))


def test_a_frame_with_named_columns():
    frame = pd.DataFrame(X, columns=list("abcd"))
    numbers = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.searchsorted(LABELS, Y))
    named = tg.LogisticRegression(epsilon=1.0, classes=(0, 1, 2), random_state=0).fit(numbers, "kind")
    np.testing.assert_array_equal(named.coef_, model().fit(frame, Y).coef_)
    assert list(named.feature_names_in_) == list("abcd")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"delta": 0.0}, "'delta' parameter of newton with 3 classes must be greater than 0"),
        ({"radius": 1.0}, "'domain' parameter of newton with 3 classes must be left out"),
        ({"method": "frank_wolfe"}, "no 'practical' parameters for task 'classes'"),
        ({"parameters": "paper"}, "no 'paper' parameters for task 'classes'"),
        ({"classes": ("a", "b", "a")}, "two or more different labels"),
        ({"classes": ("a",)}, "two or more different labels"),
    ],
)
def test_what_it_does_not_do_is_a_sentence(options, sentence):
    with pytest.raises(tg.ParameterError, match=sentence):
        model(**options).plan(10_000, 4)


def test_too_few_rows_are_refused_with_what_would_do():
    with pytest.raises(tg.BudgetError, match="needs about"):
        model(epsilon=0.1).plan(100, 4)


def test_intervals_are_not_offered(fitted):
    assert fitted.coef_std_error_ is None
    with pytest.raises(tg.ParameterError, match="models of more than two classes release nothing"):
        fitted.coef_interval()


def test_the_loss_is_the_logarithm_of_a_probability():
    rng = np.random.default_rng(0)
    loss, point, rows = Multinomial(3), rng.normal(size=6), rng.normal(size=(5, 2))
    target = np.array([0.0, 1.0, 2.0, 1.0, np.nan])
    scores = rows @ point.reshape(3, 2).T
    np.testing.assert_allclose(loss.value(point, rows, target)[:4], -np.log(softmax(scores)[range(4), [0, 1, 2, 1]]))
    steps = np.eye(6) * 1e-6
    slopes = [(loss.value(point + s, rows, target) - loss.value(point - s, rows, target)) / 2e-6 for s in steps]
    np.testing.assert_allclose(np.array(slopes).T, loss.gradient(point, rows, target), atol=1e-6)
    assert np.isnan(loss.gradient(point, rows, target)[4]).all()
    np.testing.assert_array_equal(memberships([0.5, 1.0], 2), [[np.nan, np.nan], [0.0, 1.0]])


def test_reports_have_a_column_for_each_class(fitted):
    text = tg.report.summary(fitted.release_, names=["a", "b", "c", "d"])
    assert "multinomial logistic regression" in text
    assert "class 2" in text
    page = tg.report.html(fitted.release_, classes=list(LABELS), target="kind")
    assert all(label in page for label in LABELS)
