"""Small budgets in private units: what is planned, what is asked, and that it beats the null model."""

import re

import numpy as np
import pytest

import tailguard as tg
from tailguard.domains import L2Ball, WholeSpace
from tailguard.errors import BudgetError, TailguardError
from tailguard.losses import Biweight, Huber
from tailguard.plans import Scales, verify
from tailguard.recipes.small_budgets import faint
from tailguard.solvers import Newton, TightDescent

N, D, SLOPES = 10_000, 5, np.array([1.0, -1.0, 0.5, 0.0, 0.25])
SMALL = {"epsilon": 0.2, "delta": 1e-6}
UNITS = {"target centre", "target scale", "feature centre", "feature scale", "feature mean"}


def records(seed, size=1.0, n=N):
    """Return Gaussian rows and targets, and as many new ones; the best model explains 0.7 of their variance."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2 * n, D))
    y = X @ SLOPES + 0.5 + rng.standard_normal(2 * n)
    return size * X[:n], size * y[:n], size * X[n:], size * y[n:]


def explained(y, predictions):
    return 1.0 - np.mean((y - predictions) ** 2) / y.var()


def steps(plan):
    return {step.name for step in plan.steps}


@pytest.mark.parametrize("seed", [500, 501, 502])
@pytest.mark.parametrize("model", [tg.LinearRegression, tg.RobustRegression, tg.LeastAbsoluteDeviations])
def test_numbers_are_predicted_in_private_units(model, seed):
    X, y, new, truth = records(seed)
    fitted = model(**SMALL, random_state=seed).fit(X, y)
    assert isinstance(fitted.plan_.solver, TightDescent)
    assert explained(truth, fitted.predict(new)) > 0.6
    assert fitted.privacy_.epsilon <= 0.2


@pytest.mark.parametrize("seed", [500, 501, 502])
@pytest.mark.parametrize("model", [tg.LogisticRegression, tg.LinearSVC])
def test_classes_are_predicted_in_private_units(model, seed):
    X, y, new, truth = records(seed)
    fitted = model(**SMALL, random_state=seed).fit(X, y > 0.0)
    assert isinstance(fitted.plan_.solver, TightDescent)
    assert np.mean(fitted.predict(new) == (truth > 0.0)) > 0.75  # 0.81 at best, and 0.6 for the larger class


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_the_unit_of_the_records_does_not_matter_to_huber(size):
    """The threshold of the loss is one in raw units: as large as deviations, or hardly there."""
    X, y, new, truth = records(503, size)
    threshold = 1.345 * min(size, 1.0)
    release = tg.minimize(
        Huber(threshold), WholeSpace(D), (X, y), tg.Privacy(**SMALL), intercept=True, method="newton", random_state=503
    )
    assert isinstance(release.plan.solver, TightDescent)
    estimate = release.estimate
    assert explained(truth, new @ estimate.coefficients + estimate.intercept) > 0.6


@pytest.mark.parametrize("threshold", [1e-100, 1e-9, 0.1, 3.0])
def test_a_loss_that_falls_again_survives_any_threshold(threshold):
    """Far residuals have no slope: beside the target's released scale, a threshold may be anywhere."""
    X, y, new, truth = records(508)
    problem = Biweight(threshold), WholeSpace(D), (X, y), tg.Privacy(**SMALL)
    release = tg.minimize(*problem, intercept=True, method="newton", random_state=508)
    assert isinstance(release.plan.solver, TightDescent)
    found = explained(truth, new @ release.estimate.coefficients + release.estimate.intercept)
    assert np.isfinite(found)
    assert threshold < 1.0 or found > 0.5


@pytest.mark.parametrize("rows", [N, 4000])  # with medians of the columns, and with means
@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({}, UNITS),
        ({"features": 1.0}, UNITS - {"feature scale"}),
        ({"centres": 0.0}, UNITS - {"feature centre", "feature mean"}),
        ({"target": 1.5}, UNITS - {"target scale"}),
        ({"target_centre": 0.5}, UNITS - {"target centre"}),
        ({"features": 1.0, "centres": 0.0, "target_centre": 0.5}, {"target scale"}),
    ],
)
def test_some_scales_may_be_given_and_only_the_others_are_sought(given, left, rows):
    X, y, new, truth = records(504, n=rows)
    model = tg.LinearRegression(**SMALL, scales=Scales(**given), random_state=504).fit(X, y)
    averaged = model.plan_.solver.averaged
    assert averaged == ("centres" not in given and rows < N)
    assert steps(model.plan_) & UNITS == left - {"feature centre" if averaged else "feature mean"}
    assert explained(truth, model.predict(new)) > (0.55 if rows == N else 0.3)
    assert verify(model.plan_).epsilon <= 0.2
    assert {entry.step for entry in model.release_.ledger.entries} == steps(model.plan_)


@pytest.mark.parametrize("seed", range(510, 516))
def test_rows_that_differ_in_a_column_far_from_0_are_held(seed):
    """A column of ones with a few zeros may get a scale that is far too small: nothing tells it from one far from 0."""
    X, y, new, truth = records(seed, n=5000)
    X[:, 3], new[:, 3] = 1000.0 + X[:, 3], 1000.0 + new[:, 3]
    model = tg.LinearRegression(**SMALL, random_state=seed).fit(X, y)
    assert model.plan_.solver.rounds
    usual, wild = model.predict(new), new.copy()
    wild[:, 3] = 0.0
    assert np.abs(model.predict(wild) - usual).max() < 20.0 * y.std()
    assert explained(truth, usual) > 0.3


def test_rows_in_public_units_are_taken_as_they_are():
    given = Scales(features=1.0, centres=100.0, target=1.5, target_centre=0.5)
    X, y, *_ = records(509)
    model = tg.LinearRegression(**SMALL, scales=given, random_state=509).fit(X + 100.0, y)
    assert isinstance(model.plan_.solver, TightDescent)
    assert model.feature_range_ is None


def test_without_an_intercept_nothing_is_centred():
    X, y, new, truth = records(505)
    model = tg.LinearRegression(**SMALL, fit_intercept=False, random_state=505).fit(X, y - 0.5)
    assert steps(model.plan_) == {"target scale", "feature scale", "gradient", "choice"}
    assert explained(truth, model.predict(new) + 0.5) > 0.6


def test_a_ball_holds_the_model():
    X, y, *_ = records(506, size=100.0)
    model = tg.LinearRegression(**SMALL, domain=L2Ball(D, 0.2), random_state=506).fit(X, y)
    assert isinstance(model.plan_.solver, TightDescent)
    assert 0.1 < np.linalg.norm(model.coef_) <= 0.2 + 1e-9


@pytest.mark.parametrize("columns", [1, 5, 29, 60])
@pytest.mark.parametrize("model", [tg.LinearRegression, tg.LogisticRegression])
def test_newton_takes_over_where_the_budget_carries_it_and_stays(model, columns):
    plans = [model(**SMALL, method="newton").plan(n, columns) for n in range(6000, 60_000, 6000)]
    tight = [isinstance(plan.solver, TightDescent) for plan in plans]
    assert tight == [faint(plan.problem, plan.privacy) for plan in plans]
    assert tight == sorted(tight, reverse=True)
    assert tight[0]
    assert isinstance(plans[-1].solver, Newton)


def test_there_are_no_intervals_and_a_sentence_says_what_would_have_them():
    X, y, *_ = records(507)
    model = tg.LinearRegression(**SMALL, random_state=507).fit(X, y)
    assert model.coef_std_error_ is None
    for interval in (model.coef_interval, model.intercept_interval):
        with pytest.raises(TailguardError, match="LinearRegression has no intervals here: with n = ") as said:
            interval()
        assert "\n" not in str(said.value)
    n, epsilon = re.search(r"About (\d+) rows at this budget, or ε of about ([\d.]+), would", str(said.value)).groups()
    for plan in (model.plan(int(n), D), tg.LinearRegression(epsilon=float(epsilon), delta=1e-6).plan(N, D)):
        assert {"bread", "meat"} <= steps(plan)
    assert faint(model.plan(int(0.9 * int(n)), D).problem, model.plan_.privacy)
    robust = tg.RobustRegression(**SMALL, random_state=507).fit(X, y)
    with pytest.raises(
        TailguardError, match=r"RobustRegression has no intervals here: the 'newton' method with .*nothing"
    ):
        robust.coef_interval()  # none at any budget
    assert {"bread", "meat", "wide gradient"}.isdisjoint(steps(model.plan_))


@pytest.mark.parametrize(("n", "epsilon"), [(1000, 0.2), (2000, 0.1), (400, 1.0)])
def test_what_no_median_of_the_target_can_carry_is_refused_in_a_sentence(n, epsilon):
    with pytest.raises(BudgetError, match=r"A private median of the target cannot be carried by .*needs about") as said:
        tg.LinearRegression(epsilon=epsilon, delta=1e-6, method="newton").plan(n, D)
    assert "\n" not in str(said.value)
    enough = int(re.search(r"needs about (\d+) rows", str(said.value)).group(1))
    assert isinstance(
        tg.LinearRegression(epsilon=epsilon, delta=1e-6, method="newton").plan(enough, D).solver, TightDescent
    )
