"""Budgets: spent to the end, refused before any record is read, and never dependent on data."""

import dataclasses
import pickle
import re

import pytest

import tailguard as tg
from tailguard.errors import BudgetError, ParameterError
from tailguard.plans import verify
from tailguard.privacy import Privacy
from tailguard.recipes import list_recipes, recipe
from tailguard.recipes.feasible import carry
from tests.support.registry_plans import CASES
from tests.support.sentences import sentence

ESTIMATORS = {
    "mean": tg.Mean,
    "linear": tg.LinearRegression,
    "logistic": tg.LogisticRegression,
    "linear without intercept": lambda **options: tg.LinearRegression(fit_intercept=False, **options),
    "mean by medians": lambda **options: tg.Mean(method="median_of_means", **options),
    "linear by truncation": lambda **options: tg.LinearRegression(method="truncated_mean", **options),
}
each = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS.keys())
GRID = [
    (10**7, 1, 0.01, 1e-3),
    (10**7, 30, 0.1, 1e-9),
    (10**6, 100, 1.0, 1e-6),
    (50_000, 2, 1.0, 1e-12),
    (20_000, 10, 3.0, 1e-6),
    (5_000, 5, 12.0, 1e-4),
    (1_000, 2, 200.0, 1e-6),
]


@each
@pytest.mark.parametrize(("n", "d", "epsilon", "delta"), GRID)
def test_practical_plans_spend_what_was_asked(make, n, d, epsilon, delta):
    plan = make(epsilon=epsilon, delta=delta).plan(n, d)
    assert 0.98 * epsilon <= verify(plan).epsilon <= epsilon
    assert plan.privacy == Privacy(epsilon, delta)


@pytest.mark.parametrize(("n", "d", "epsilon"), [(10**6, 3, 0.5), (20_000, 1, 2.0), (3_000, 10, 100.0)])
@pytest.mark.parametrize("method", ["centred_clipping", "clipping"])
def test_pure_plans_spend_what_was_asked(n, d, epsilon, method):
    plan = tg.Mean(epsilon=epsilon, delta=0.0, method=method).plan(n, d)
    assert 0.98 * epsilon <= verify(plan).epsilon <= epsilon


REFUSED = [
    (100, 5, 0.1, 1e-6),
    (1000, 200, 1.0, 1e-6),
    (50, 1, 0.5, 1e-9),
    (1, 1, 1.0, 1e-6),
    (300, 60, 1.0, 1e-3),
    (7, 2, 1e-6, 1e-12),
]


@each
@pytest.mark.parametrize(("n", "d", "epsilon", "delta"), REFUSED)
def test_a_refusal_says_how_many_rows_would_do(make, n, d, epsilon, delta):
    estimator = make(epsilon=epsilon, delta=delta)
    if make is ESTIMATORS["linear without intercept"] and n * epsilon / d > 24:
        verify(estimator.plan(n, d))  # needs no medians, so fewer rows do
        return
    with pytest.raises(BudgetError, match=rf"n = {n} rows and d = {d} features at ε = ") as refusal:
        estimator.plan(n, d)
    rows = int(re.search(r"it needs about (\d+) rows", str(refusal.value)).group(1))
    assert rows > n
    verify(estimator.plan(rows, d))
    if "choice of a model" in str(refusal.value):  # "auto" may take another recipe at fewer rows
        estimator.set_params(method="centred_descent")
    with pytest.raises(BudgetError):
        estimator.plan(int(0.85 * rows), d)


def test_a_refusal_beyond_all_data_is_a_refusal():
    with pytest.raises(BudgetError, match=r"at any noise"):
        tg.LinearRegression(epsilon=1e-18, delta=1e-18).plan(1000, 3)


def test_refusals_travel():
    with pytest.raises(BudgetError) as refusal:
        tg.Mean(epsilon=0.1).plan(500, 3)
    again = pickle.loads(pickle.dumps(refusal.value))
    assert (str(again), again.rows) == (str(refusal.value), refusal.value.rows)


def test_pure_refusals_say_it_too():
    with pytest.raises(BudgetError) as refusal:
        tg.Mean(epsilon=1.0, delta=0.0).plan(500, 3)
    rows = int(re.search(r"it needs about (\d+) rows", str(refusal.value)).group(1))
    verify(tg.Mean(epsilon=1.0, delta=0.0).plan(rows, 3))


@each
def test_more_budget_is_less_noise(make):
    noises = []
    for epsilon, delta in ((1.0, 1e-6), (1.01, 1e-6), (2.0, 1e-6), (2.0, 1e-4)):
        plan = make(epsilon=epsilon, delta=delta).plan(200_000, 4)
        noises.append(sum(step.multiplier**-2 * step.count for step in plan.steps))
    assert noises == sorted(noises)


def _rows_needed(make, d, epsilon):
    try:
        make(epsilon=epsilon, delta=1e-6).plan(10, d)
    except BudgetError as refusal:
        return int(re.search(r"it needs about (\d+) rows", str(refusal)).group(1))
    return 10


@each
def test_rows_needed_grow_with_features_and_fall_with_epsilon(make):
    by_features = [_rows_needed(make, d, 1.0) for d in (1, 3, 10, 100)]
    by_epsilon = [_rows_needed(make, 5, epsilon) for epsilon in (10.0, 3.0, 1.0, 0.1, 0.01)]
    assert by_features == sorted(by_features)
    assert by_epsilon == sorted(by_epsilon)
    assert by_epsilon[-1] > 10 * by_epsilon[0]


@each
def test_planning_is_a_function(make):
    one, two = (make(epsilon=1.0, delta=1e-6, random_state=seed).plan(100_000, 3) for seed in (None, 7))
    assert one == two


def test_recipes_name_themselves_and_their_source():
    names = [item.name for item in list_recipes()]
    assert len(set(names)) == len(names)
    for item in list_recipes():
        assert recipe(item.name) is item
        assert re.search(r"(Zhao|Tao|Hu|Chaudhuri) et al\. 20\d\d|Lowy 2026|tailguard", item.source)
        assert item.summary.endswith(".")
        assert set(item.tasks) <= {"mean", "regression", "classes"}
    assert all(case.plan.recipe in names for case in CASES)


def test_plans_say_where_their_numbers_come_from():
    for case in CASES:
        assert case.plan.sources
        if case.plan.parameters == "paper":
            assert any(re.search(r"et al\. 20|Lowy 2026", source) for _, source in case.plan.sources)


def test_unknown_names_are_refused():
    with pytest.raises(
        ParameterError, match="The 'method' parameter of Mean must be one of 'centred_clipping', 'newton', 'clipping'"
    ):
        recipe("magic", "Mean")
    with pytest.raises(
        ParameterError, match=sentence("parameters", "clipping", "one of 'practical', 'paper'", "'best'")
    ):
        tg.Mean(method="clipping", parameters="best").plan(1000, 3)
    with pytest.raises(
        ParameterError,
        match=r"The 'centred_clipping' method has no 'paper' parameters for task 'mean'; it has: mean \(practical\)",
    ):
        tg.Mean(parameters="paper").plan(1000, 3)
    with pytest.raises(ParameterError, match="no 'practical' parameters for task 'regression'"):
        tg.LinearRegression(method="centred_clipping").plan(1000, 3)


def test_some_methods_need_a_delta_and_others_none():
    with pytest.raises(ParameterError, match=sentence("delta", "clipping", "greater than 0", "0.0")):
        tg.LinearRegression(delta=0.0, method="clipping").plan(10**6, 3)
    for method in ("objective_perturbation", "output_perturbation"):
        with pytest.raises(ParameterError, match=sentence("delta", method, "0", "1e-06")):
            tg.LinearRegression(delta=1e-6, method=method).plan(10**6, 3)


@pytest.mark.parametrize(("noise", "rows"), [(1.0001, 110), (1.5, 150), (15.01, 1600), (123456.0, 13_000_000)])
def test_needed_rows_are_rounded_up(noise, rows):
    problem, privacy = CASES[0].plan.problem, Privacy(1.0, 1e-6)
    carry("This", 1.0, 1.0, problem, privacy)
    with pytest.raises(BudgetError, match=rf"This cannot be carried by n = 100 .* about {rows} rows"):
        carry("This", noise, 1.0, dataclasses.replace(problem, n=100), privacy)
