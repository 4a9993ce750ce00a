"""`select`: every candidate charged, the clearly better one chosen, one plan for all."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

import tailguard as tg
from tailguard import engines
from tailguard.audit.replay import replay_plan
from tailguard.errors import BudgetError, DataError, ParameterError
from tailguard.estimators.selection import plan_select
from tailguard.plans import dumps, loads
from tailguard.plans.result import result_hash, result_of
from tailguard.plans.step import composition
from tailguard.privacy.composition import epsilon
from tailguard.report import summary
from tailguard.solvers.selection import step_name

N = 3_000
W = np.array([1.0, -1.0, 0.8, 0.0])
BUDGETS = [(4.0, 1e-6), (12.0, 0.0)]


def numbers(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, size=(n, 4))
    return X, X @ W + rng.standard_t(4, size=n)


def classes(n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, size=(n, 4))
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X @ W)), "late", "paid")


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_the_clearly_better_candidate_is_chosen(epsilon, delta):
    X, y = numbers()
    models = {"one": (tg.LinearRegression(), [3]), "two": (tg.LinearRegression(), [0, 3]), "all": tg.LinearRegression()}
    chosen = tg.select(models, X, y, epsilon=epsilon, delta=delta, random_state=0)
    assert chosen.best_name_ == "all"
    assert chosen.best_estimator_ is chosen.estimators_["all"]
    assert np.abs(chosen.best_estimator_.coef_ - W).max() < 0.3
    assert chosen.estimators_["two"].coef_.shape == (2,)
    assert 0 < chosen.score_noise_ < 0.5
    np.testing.assert_allclose(chosen.release_.estimate.coefficients, chosen.best_estimator_.coef_)
    np.testing.assert_allclose(chosen.predict(X), chosen.best_estimator_.predict(X))


def test_a_chosen_subset_of_named_columns_predicts_from_them():
    X, y = numbers()
    frame = pd.DataFrame(X, columns=list("abcd"))
    models = [(tg.LinearRegression(), ["d"]), (tg.LinearRegression(), ["b", "a"])]
    chosen = tg.select(models, frame, y, epsilon=4.0, random_state=0)
    assert chosen.best_name_ == "1"
    assert list(chosen.best_estimator_.feature_names_in_) == ["b", "a"]
    np.testing.assert_allclose(chosen.best_estimator_.coef_, [-1.0, 1.0], atol=0.3)
    np.testing.assert_allclose(chosen.predict(frame), chosen.best_estimator_.predict(frame[["b", "a"]]))
    np.testing.assert_allclose(chosen.release_.estimate.coefficients[[1, 0]], chosen.best_estimator_.coef_)
    with pytest.raises(DataError, match="no column 'z'"):
        tg.select([(tg.LinearRegression(), ["z"]), tg.LinearRegression()], frame, y)


def test_classes_by_log_loss_and_by_mistakes():
    X, y = classes()
    labels = {"classes": ("paid", "late")}
    models = {"bad": (tg.LogisticRegression(**labels), [3]), "good": tg.LogisticRegression(**labels)}
    chosen = tg.select(models, X, y, epsilon=4.0, random_state=0)
    assert chosen.best_name_ == "good"
    assert chosen.plan_.solver.scoring == "log_loss"
    assert np.mean(chosen.predict(X) == y) > 0.8
    models = {"bad": (tg.LogisticRegression(**labels), [3]), "margin": tg.LinearSVC(**labels)}
    chosen = tg.select(models, X, y, epsilon=4.0, random_state=0)
    assert chosen.best_name_ == "margin"
    assert chosen.plan_.solver.scoring == "error_rate"


def several(n=6_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    scores = X[:, :3] * 2.0 + rng.gumbel(size=(n, 3))
    return X, np.array(["bus", "car", "train"])[scores.argmax(axis=1)]


@pytest.mark.parametrize("scoring", ["log_loss", "error_rate"])
def test_several_classes(scoring):
    X, y = several()
    labels = {"classes": ("bus", "car", "train")}
    models = {"bad": (tg.LogisticRegression(**labels), [3, 0]), "good": tg.LogisticRegression(**labels)}
    chosen = tg.select(models, X, y, epsilon=4.0, scoring=scoring, random_state=0)
    assert chosen.best_name_ == "good"
    best = chosen.best_estimator_
    assert (best.coef_.shape, best.intercept_.shape) == ((3, 4), (3,))
    assert chosen.estimators_["bad"].coef_.shape == (3, 2)
    assert np.mean(chosen.predict(X) == y) > 0.7
    np.testing.assert_array_equal(chosen.predict(X), best.predict(X))
    np.testing.assert_allclose(best.predict_proba(X).sum(axis=1), 1.0)
    estimate = chosen.release_.estimate
    np.testing.assert_array_equal(estimate.coefficients, best.coef_)
    np.testing.assert_array_equal(estimate.offsets, best.intercept_)
    assert 0.98 * 4.0 <= tg.verify(loads(dumps(chosen.plan_))).epsilon <= 4.0
    assert tg.evaluate(chosen, X, y, epsilon=2.0, random_state=0)["error_rate"].high < 0.4
    certificate = chosen.release_.certificate()
    assert certificate["result"] == result_hash(result_of(chosen.release_))
    moved = replace(chosen.release_, estimate=replace(estimate, offsets=estimate.offsets + 1.0))
    assert moved.certificate()["result"] != certificate["result"]


def test_what_several_classes_do_not_take():
    X, y = several(500)
    labels = {"classes": ("bus", "car", "train")}
    for other in (tg.LinearSVC(**labels), tg.SparseLogisticRegression(2, **labels)):
        with pytest.raises(ParameterError, match="a sequence of two different labels"):
            tg.select([tg.LogisticRegression(**labels), other], X, y)
    with pytest.raises(ParameterError, match="'delta' parameter of newton with 3 classes"):
        tg.select([tg.LogisticRegression(**labels)] * 2, X, y, epsilon=50.0, delta=0.0)
    with pytest.raises(ParameterError, match="for the same classes"):
        tg.select([tg.LogisticRegression(**labels), tg.LogisticRegression(classes=("bus", "car"))], X, y)


def test_kinds_of_models_and_scorings():
    X, y = numbers()
    y[:20] += 1e4
    models = {
        "lasso": tg.Lasso(1.0),
        "sparse": tg.SparseLinearRegression(1),
        "median": tg.LeastAbsoluteDeviations(),
    }
    chosen = tg.select(models, X, y, epsilon=6.0, scoring="absolute", random_state=0)
    assert chosen.best_name_ == "median"


@cache
def _plan(epsilon, delta, shares=None):
    models = [tg.LinearRegression(), tg.Lasso(1.0), tg.LinearRegression(fit_intercept=False)]
    return plan_select(models, [None, (0, 2), (3, 1, 0)], N, 4, tg.Privacy(epsilon, delta), shares=shares)


@pytest.mark.parametrize(("eps", "delta"), BUDGETS)
def test_the_cost_is_that_of_all_candidates_and_of_the_choice(eps, delta):
    plan = _plan(eps, delta)
    cost = tg.verify(plan)
    assert 0.98 * eps <= cost.epsilon <= eps
    names = [step.name for step in plan.steps]
    for k in range(3):
        assert any(name.startswith(step_name(k, "")) for name in names)
    assert names[-3:] == ["usual error", "choice level", "choice"]
    parts = [[s for s in plan.steps if s.name.startswith(step_name(k, ""))] for k in range(3)]
    costs = [epsilon(composition(part), delta) for part in [*parts, plan.steps[-3:]]]
    if delta == 0.0:
        assert sum(costs) == pytest.approx(epsilon(composition(plan.steps), 0.0))
    assert max(costs) < eps < sum(costs) * 1.01
    assert max(costs[:3]) < 1.03 * min(costs[:3])
    without = epsilon(composition([*parts[0], *parts[2], *plan.steps[-3:]]), delta)
    assert without < 0.9 * eps  # the second candidate is charged, though it may lose


@pytest.mark.parametrize("method", ["newton", "clipping"])
def test_nothing_is_spent_on_intervals_that_do_not_survive_a_choice(method):
    X, y = numbers(20_000)
    alone = tg.LinearRegression(epsilon=1.0, delta=1e-6, method=method).plan(*X.shape)
    chosen = tg.select([tg.LinearRegression(method=method)] * 2, X, y, epsilon=2.0, delta=1e-6, random_state=0)
    spent = {step.name.split(": ")[-1] for step in chosen.plan_.steps}
    assert {step.name for step in alone.steps} - spent == {"bread", "meat"} | (
        {"wide gradient"} if method == "newton" else set()
    )
    assert 0.98 * 2.0 <= chosen.privacy_.epsilon <= 2.0
    assert chosen.best_estimator_.coef_std_error_ is None


def test_shares():
    even, uneven = _plan(4.0, 1e-6), _plan(4.0, 1e-6, shares=(8.0, 1.0, 1.0))
    gradients = [min(s.multiplier for s in plan.steps if s.name == step_name(0, "gradient")) for plan in (even, uneven)]
    assert gradients[1] < 0.75 * gradients[0]
    with pytest.raises(ParameterError, match="'shares' parameter of select must be 3 numbers"):
        _plan(4.0, 1e-6, shares=(1.0,))


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_replay_and_json(epsilon, delta):
    plan = _plan(epsilon, delta)
    assert loads(dumps(plan)) == plan
    X, y = numbers()
    for row, value in (([1e308] * 4, 1e308), ([0.0, np.nan, 1e9, 0.0], -1e9)):
        other, target = X.copy(), y.copy()
        other[5], target[5] = row, value
        found = replay_plan(plan, engines.open(X, y), engines.open(other, target))
        assert found.holds
        assert found.by_step["choice"] > 0


def test_columns_of_steps_are_checked():
    plan = _plan(4.0, 1e-6)
    assert {step.columns for step in plan.steps} == {None, (0, 2), (3, 1, 0)}
    step = plan.steps[-1]
    for wrong in ((4,), ()):
        with pytest.raises(tg.PlanError, match="its columns are not among the 4"):
            tg.verify(replace(plan, steps=(*plan.steps[:-1], replace(step, columns=wrong))))
    for wrong in ((-1,), (0.5,), "01", [1]):
        with pytest.raises(ParameterError, match="columns"):
            replace(step, columns=wrong)


def test_sparse_records_and_blocks_with_columns():
    from scipy import sparse

    from tailguard.engines import Block
    from tailguard.engines.selection import Selection
    from tailguard.statistics import Clipped, Rows, View

    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) * (rng.random((300, 5)) < 0.3)
    statistic = Clipped(Rows(View(2)), 1.0, 30)
    for index in range(3):
        block = Block(index, 3, (4, 1))
        rows = Block(index, 3).rows(300)
        expected = statistic.kernel()(np.ascontiguousarray(X[rows][:, [4, 1]]), None)
        for records in (X, sparse.csr_array(X)):
            source = Selection(engines.open(records), block)
            np.testing.assert_array_equal(source.total(statistic.kernel()), expected)
            np.testing.assert_array_equal(sum(part.total(statistic.kernel()) for part in source.split(2)), expected)
            np.testing.assert_array_equal(source.gather()[0], X[rows][:, [4, 1]])


def test_larger_models_are_not_chosen_for_fitting_noise():
    """Without Akaike's term the larger model would always look better with so little noise."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((1_000, 13))
        y = X[:, 0] + rng.standard_normal(1_000)
        models = {"small": (tg.LinearRegression(), [0]), "large": tg.LinearRegression()}
        chosen = tg.select(models, X, y, epsilon=100.0, random_state=seed)
        errors = [
            np.mean((y - chosen.estimators_[name].predict(x)) ** 2) for name, x in (("small", X[:, :1]), ("large", X))
        ]
        assert errors[1] < errors[0]
        assert chosen.best_name_ == "small"


def test_sessions_are_charged_once(tmp_path):
    X, y = numbers()
    session = tg.Session(tmp_path / "ledger.db", epsilon=5.0, delta=1e-5)
    models = [tg.LinearRegression(), (tg.LinearRegression(), [0])]
    chosen = tg.select(models, X, y, epsilon=4.0, delta=1e-6, session=session)
    assert chosen.release_.private
    assert chosen.release_.receipt.number == 1
    with pytest.raises(BudgetError):
        tg.select(models, X, y, epsilon=4.0, delta=1e-6, session=session)
    result = tg.evaluate(chosen.best_estimator_, X, y, epsilon=0.3, measures=["median_absolute_error"], session=session)
    assert result.release.receipt.number == 2


def test_reports():
    text = summary(_plan(4.0, 1e-6))
    assert "selection of a linear regression" in text
    assert "2: gradient" in text
    assert "the choice of" in text


def test_refusals():
    X, y = numbers(400)
    candidates = [tg.LinearRegression(), tg.LinearRegression()]
    with pytest.raises(BudgetError, match=r"one of several candidates: .* It needs about \d+ rows") as said:
        tg.select(candidates, X, y, epsilon=0.2)
    rows, epsilon = re.search(r"about (\d+) rows, ε of about ([\d.]+\d) for all together", str(said.value)).groups()
    assert tg.select(candidates, *numbers(int(rows)), epsilon=0.2, random_state=0).best_name_ in ("0", "1")
    assert "NOT PRIVATE" in str(tg.select(candidates, X, y, epsilon=float(epsilon), random_state=0))
    assert "ε = " in str(tg.select(candidates, X, y, epsilon=float(epsilon)))
    for wrong in ([tg.LinearRegression()], "ab", [tg.Mean(), tg.Mean()], 3, [tg.LinearRegression(), "x"]):
        with pytest.raises(ParameterError, match="'candidates' parameter of select"):
            tg.select(wrong, X, y)
    with pytest.raises(ParameterError, match="all for numbers or all for classes"):
        tg.select([tg.LinearRegression(), tg.LogisticRegression()], X, y)
    with pytest.raises(ParameterError, match="for the same classes"):
        tg.select([tg.LogisticRegression(), tg.LogisticRegression(classes=(1, 2))], X, y)
    with pytest.raises(ParameterError, match="'scoring' parameter of select of numbers"):
        tg.select([tg.LinearRegression(), tg.LinearRegression()], X, y, scoring="log_loss")
    for wrong in ([9], [0, 0], [], [-1], [0.5]):
        with pytest.raises(ParameterError, match="columns"):
            tg.select([(tg.LinearRegression(), wrong), tg.LinearRegression()], X, y)
    with pytest.raises(ParameterError, match="without sessions"):
        tg.select([tg.LinearRegression(session="x"), tg.LinearRegression()], X, y)
