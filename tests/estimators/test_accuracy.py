"""Large budgets give scikit-learn's answers; ordinary ones give useful answers on heavy tails."""

import numpy as np
import pytest
from sklearn import linear_model

import tailguard as tg

SCALES = np.array([1.0, 10.0, 0.1, 1.0, 3.0])
CENTRES = np.array([0.0, 5.0, 0.0, -2.0, 1.0])
seeds = pytest.mark.parametrize("seed", range(4))


def _light(seed, n=5000):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 5))
    w = rng.normal(size=5)
    return Z * SCALES + CENTRES, Z @ (w / np.linalg.norm(w)), rng


def _off(found, expected):
    """Distance in units of the features' spread, relative to the size of the answer."""
    return np.linalg.norm((found - expected) * SCALES) / np.linalg.norm(expected * SCALES)


@seeds
@pytest.mark.parametrize("intercept", [True, False])
def test_linear_regression_tends_to_least_squares(seed, intercept):
    X, signal, rng = _light(seed)
    if not intercept:
        X = X - CENTRES
    y = signal + 3.0 * intercept + rng.normal(size=len(X))
    ours = tg.LinearRegression(epsilon=1e6, random_state=seed, fit_intercept=intercept).fit(X, y)
    theirs = linear_model.LinearRegression(fit_intercept=intercept).fit(X, y)
    assert _off(ours.coef_, theirs.coef_) < 0.01
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=0.01)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=0.05)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-3)


@seeds
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic_regression_tends_to_maximum_likelihood(seed, intercept):
    X, signal, rng = _light(seed)
    if not intercept:
        X = X - CENTRES
    y = rng.random(len(X)) < 1 / (1 + np.exp(-signal - 0.5 * intercept))
    ours = tg.LogisticRegression(epsilon=1e6, random_state=seed, fit_intercept=intercept).fit(X, y)
    theirs = linear_model.LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000, fit_intercept=intercept).fit(X, y)
    assert _off(ours.coef_, theirs.coef_[0]) < 0.01
    assert ours.intercept_ == pytest.approx(float(theirs.intercept_[0]), abs=0.02)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.01)


@seeds
def test_a_mean_tends_to_the_sample_mean(seed):
    X, _, _ = _light(seed)
    found = tg.Mean(epsilon=1e6, random_state=seed).fit(X).mean_
    np.testing.assert_allclose((found - X.mean(axis=0)) / SCALES, 0.0, atol=1e-3)


def test_the_mean_of_heavy_tails():
    """t with 3 degrees of freedom, n = 10 000, d = 10, ε = 0.5: the sample mean itself is off by 0.055."""
    errors = []
    for seed in range(15):
        X = np.random.default_rng(seed).standard_t(3, size=(10_000, 10))
        errors.append(np.linalg.norm(tg.Mean(epsilon=0.5, delta=1e-6, random_state=seed).fit(X).mean_))
    assert np.median(errors) <= 0.105


def test_a_mean_may_be_anywhere():
    """Where the data sit does not matter, up to the resolution of a median."""
    X = np.random.default_rng(0).standard_t(3, size=(10_000, 3))
    here, there = (tg.Mean(epsilon=1.0, random_state=0).fit(X + shift).mean_ - shift for shift in (0.0, 1e4))
    np.testing.assert_allclose(here, 0.0, atol=0.1)
    np.testing.assert_allclose(there, 0.0, atol=0.1)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_regression_on_heavy_tails(epsilon):
    """t3 features and noise, n = 10 000, d = 8: far better than nothing, at every seed tried."""
    ratios = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, size=(10_000, 8))
        w = rng.normal(size=8)
        y = X @ w + rng.standard_t(3, size=10_000) + 100.0
        found = tg.LinearRegression(epsilon=epsilon, random_state=seed).fit(X, y)
        ratios.append(np.linalg.norm(found.coef_ - w) / np.linalg.norm(w))
        assert found.intercept_ == pytest.approx(100.0, abs=1.0)
    assert np.median(ratios) < (0.12 if epsilon < 1 else 0.05)


def test_classification_on_heavy_tails():
    ratios = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, size=(20_000, 5))
        w = np.array([1.0, -1.0, 0.5, 0.0, 0.0])
        y = rng.random(20_000) < 1 / (1 + np.exp(-X @ w))
        found = tg.LogisticRegression(epsilon=1.0, random_state=seed).fit(X, y)
        ratios.append(np.linalg.norm(found.coef_ - w) / np.linalg.norm(w))
    assert np.median(ratios) < 0.15


def test_answers_lie_in_their_domain():
    X, signal, _ = _light(0, n=2000)
    ball = tg.domains.L2Ball(5, 0.3)
    for model, y in ((tg.LinearRegression, signal), (tg.LogisticRegression, signal > 0), (tg.Mean, None)):
        fitted = model(epsilon=50.0, domain=ball, random_state=0).fit(X, y)
        assert ball.contains(fitted.mean_ if y is None else fitted.coef_)
    short = tg.LinearRegression(epsilon=1e6, radius=0.3, random_state=0).fit(X, signal)
    assert np.linalg.norm(short.coef_) == pytest.approx(0.3, rel=1e-6)


def test_more_budget_is_more_accurate():
    X, signal, rng = _light(1, n=4000)
    y = signal + rng.normal(size=4000)
    exact = linear_model.LinearRegression().fit(X, y).coef_
    errors = [
        np.median([_off(tg.LinearRegression(epsilon=e, random_state=s).fit(X, y).coef_, exact) for s in range(5)])
        for e in (1.0, 10.0, 1000.0)
    ]
    assert errors[0] > errors[1] > errors[2]


def test_means_a_million_deviations_away():
    """The grid of medians is coarser than the spread there, which must not be taken for the rounding of a constant."""
    X = np.random.default_rng(500).standard_t(3, size=(10_000, 10)) / np.sqrt(3.0) + 1e6
    errors = 100.0 * (tg.Mean(epsilon=1.0, random_state=0).fit(X).mean_ - 1e6)  # in standard errors
    assert np.sqrt(np.mean(errors**2)) < 4.0
