"""What a plan predicts: from public facts alone, and not far from what is measured."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.plans import dumps, loads
from tests.support.registry_plans import CASES


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_prediction_is_finite_and_says_its_unit(case):
    predicted = case.plan.predicted_error
    if predicted is not None:
        assert np.isfinite(predicted)
        assert predicted > 0.0
        assert dict(case.plan.sources)["predicted_error"]
    assert loads(dumps(case.plan)).predicted_error == predicted


@pytest.mark.parametrize("method", ["centred_clipping", "clipping", "truncated_mean", "median_of_means"])
def test_more_rows_and_more_budget_promise_less_error(method):
    def predicted(n, epsilon):
        return tg.Mean(epsilon=epsilon, method=method).plan(n, 5).predicted_error

    assert predicted(100_000, 1.0) < predicted(10_000, 1.0)
    assert predicted(10_000, 2.0) < predicted(10_000, 1.0)


@pytest.mark.parametrize(("n", "d", "epsilon"), [(10_000, 1, 0.5), (10_000, 10, 0.5), (20_000, 5, 2.0)])
def test_the_error_of_a_mean_is_predicted_within_a_factor_of_three(n, d, epsilon):
    errors = []
    for seed in range(9):
        X = np.random.default_rng(seed).standard_t(3, (n, d)) / np.sqrt(3.0)  # unit variance
        errors.append(np.linalg.norm(tg.Mean(epsilon=epsilon, random_state=seed).fit(X).mean_))
    predicted = tg.Mean(epsilon=epsilon).plan(n, d).predicted_error
    assert 1 / 3 < np.median(errors) / predicted < 3


@pytest.mark.parametrize(("n", "d", "epsilon"), [(10_000, 5, 1.0), (20_000, 10, 1.0)])
def test_the_excess_risk_of_a_regression_is_predicted_within_a_factor_of_three(n, d, epsilon):
    risks = []
    for seed in range(7):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        truth = rng.choice([-1.0, 1.0], d) / np.sqrt(d)
        model = tg.LinearRegression(epsilon=epsilon, random_state=seed).fit(X, X @ truth + rng.standard_normal(n))
        risks.append(np.sum((model.coef_ - truth) ** 2) + model.intercept_**2)  # the null model's is 1
    predicted = tg.LinearRegression(epsilon=epsilon).plan(n, d).predicted_error
    assert 1 / 3 < np.median(risks) / predicted < 3


def test_theorem_parameters_predict_the_theorem():
    from tailguard.theory import Setting, tao

    moment = tg.Moment(order=1.5, bound=2.0, of="coordinate")
    plan = tg.Mean(epsilon=0.5, method="truncated_mean", parameters="paper", moment=moment).plan(10_000, 1)
    expected = tao.truncated_mean(Setting(n=10_000, epsilon=0.5, delta=1e-6, order=1.5, bound=2.0))
    assert plan.predicted_error == pytest.approx(expected)
