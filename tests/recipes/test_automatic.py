"""What `method="auto"` takes: a function of public facts, and never a recipe that refuses where another would not."""

import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

import tailguard as tg
from tailguard.domains import Box, L1Ball, L2Ball, Polytope, Simplex, Sparse, WholeSpace
from tailguard.losses import Absolute, CustomLoss, Huber, Logistic, Squared, SquaredDistance
from tailguard.plans import Problem
from tailguard.privacy import Privacy
from tailguard.recipes import list_recipes
from tailguard.recipes.automatic import choose_recipe

BUDGET, PURE = Privacy(1.0, 1e-6), Privacy(1.0, 0.0)
SQUARE = Polytope([(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)])

CHOICES = [
    ("mean", SquaredDistance(), WholeSpace(5), BUDGET, "centred_clipping"),
    ("mean", SquaredDistance(), WholeSpace(5), PURE, "centred_clipping"),
    ("mean", SquaredDistance(), Sparse(5, 2), BUDGET, "sparse_mean"),
    ("regression", Squared(), WholeSpace(5), BUDGET, "newton"),
    ("regression", Squared(), WholeSpace(5), PURE, "objective_perturbation"),
    ("regression", Logistic(), L2Ball(400, 2.0), PURE, "objective_perturbation"),
    ("regression", Absolute(0.1), Box((-1.0,) * 5, (1.0,) * 5), PURE, "objective_perturbation"),
    ("regression", Squared(), WholeSpace(400), BUDGET, "centred_descent"),
    ("regression", Logistic(), L2Ball(400, 2.0), BUDGET, "centred_descent"),
    ("regression", Huber(1.0), L1Ball(400, 1.0), BUDGET, "centred_descent"),
    ("regression", Squared(), L1Ball(5, 1.0), BUDGET, "newton"),
    ("regression", Squared(), L1Ball(5, 1.0), PURE, "frank_wolfe"),
    ("regression", Logistic(), Simplex(400), BUDGET, "frank_wolfe"),
    ("regression", Huber(1.0), SQUARE, BUDGET, "newton"),
    ("regression", Huber(1.0), SQUARE, PURE, "frank_wolfe"),
    ("regression", Squared(), Sparse(400, 5), BUDGET, "sparse_rounds"),
    ("regression", Logistic(), Sparse(400, 5), PURE, "truncated_thresholding"),
    ("regression", CustomLoss("any", lambda point, rows, target: rows), WholeSpace(400), BUDGET, "clipping"),
]


@pytest.mark.parametrize(("task", "loss", "domain", "privacy", "expected"), CHOICES)
def test_the_choice_for_ten_thousand_rows(task, loss, domain, privacy, expected):
    problem = Problem(loss, domain, 10_000, domain.dimension, intercept=task == "regression")
    assert choose_recipe(task, problem, privacy) == expected


@pytest.mark.parametrize(
    ("task", "loss", "domain", "privacy", "expected"),
    [
        ("regression", Squared(), L1Ball(5, 1.0), BUDGET, "shrunken_lasso"),
        ("regression", Squared(), L1Ball(5, 1.0), PURE, "frank_wolfe"),
        ("regression", Huber(1.0), L1Ball(5, 1.0), BUDGET, "frank_wolfe"),
        ("regression", Squared(), Sparse(5, 1), BUDGET, "shrunken_thresholding"),
        ("regression", Logistic(), Sparse(5, 1), BUDGET, "catoni_thresholding"),
        ("regression", Squared(), L2Ball(400, 1.0), BUDGET, "clipping"),
        ("regression", Squared(), L2Ball(5, 1.0), PURE, "double_output_perturbation"),
        ("mean", SquaredDistance(), Sparse(5, 1), BUDGET, "catoni_thresholding"),
        ("mean", SquaredDistance(), WholeSpace(5), BUDGET, "centred_clipping"),
    ],
)
def test_theorem_parameters_take_the_algorithm_whose_theorem_covers_the_domain(task, loss, domain, privacy, expected):
    problem = Problem(loss, domain, 10_000, domain.dimension)
    assert choose_recipe(task, problem, privacy, "paper") == expected


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("make", [tg.LinearRegression, tg.LogisticRegression, tg.RobustRegression])
def test_there_is_one_switch_from_few_columns_to_many(make, epsilon):
    chosen = [make(epsilon=epsilon).plan(200_000, d).recipe for d in (1, 5, 13, 30, 60, 120, 250, 500, 2000)]
    switches = np.flatnonzero([one != other for one, other in pairwise(chosen)])
    assert chosen[0] == "newton"
    assert chosen[-1] == "centred_descent"
    assert switches.size == 1


@pytest.mark.parametrize("d", [1, 10, 13, 14, 20, 40, 80, 400, 5000])
def test_enough_rows_for_one_recipe_are_enough_for_all_that_are_chosen_above(d):
    """No gap: from the first number of rows that is planned on, every larger one is planned too."""
    planned = []
    for rows in np.geomspace(300, 3e6, 25):
        try:
            tg.LinearRegression(epsilon=1.0).plan(int(rows), d)
            planned.append(True)
        except tg.BudgetError:
            planned.append(False)
    assert planned == sorted(planned)
    assert planned[-1]


def test_the_choice_is_always_a_recipe():
    names = {item.name for item in list_recipes()}
    assert {expected for *_, expected in CHOICES} <= names


def test_four_hundred_columns_are_fitted_and_not_refused():
    rng = np.random.default_rng(900)
    X = rng.standard_normal((10_000, 400)).astype(np.float32)
    w = rng.standard_normal(400) / 20.0
    signal = X @ w
    linear = tg.LinearRegression(random_state=900).fit(X, signal + rng.standard_normal(10_000))
    assert linear.plan_.recipe == "centred_descent"
    assert np.sum((linear.coef_ - w) ** 2) < 0.6 * np.sum(w**2)
    logistic = tg.LogisticRegression(random_state=900).fit(X, signal * 3.0 + rng.logistic(size=10_000) > 0.0)
    assert np.corrcoef(logistic.coef_, w)[0, 1] > 0.6


REFUSED = {
    "wide, with more rows another recipe": (tg.LinearRegression(), 300, 40),
    "few": (tg.LinearRegression(), 290, 3),
    "few, but enough without a δ": (tg.LinearRegression(), 300, 3),
    "enough without a δ, for fewer columns": (tg.LinearRegression(), 410, 12),
    "tiny": (tg.LogisticRegression(epsilon=0.1), 10, 1),
    "pure": (tg.LinearRegression(delta=0.0), 100, 4),
    "classes": (tg.LogisticRegression(classes=(0, 1, 2)), 500, 4),
    "sparse": (tg.SparseLinearRegression(3), 100, 1000),
    "mean": (tg.Mean(epsilon=0.5), 200, 8),
}


def _works(estimator, n):
    """Whether a single feature is carried, of which a sparse model has no more."""
    try:
        estimator = tg.SparseLinearRegression(1) if isinstance(estimator, tg.SparseLinearRegression) else estimator
        estimator.plan(n, 1)
    except tg.BudgetError:
        return False
    return True


@pytest.mark.parametrize(("estimator", "n", "d"), REFUSED.values(), ids=REFUSED)
def test_what_a_refusal_says_would_do_does(estimator, n, d):
    with pytest.raises(tg.BudgetError, match=r"it needs about \d+ rows") as said:
        estimator.plan(n, d)
    words = str(said.value)
    assert ("fewer features" in words) == (d > 1 and _works(estimator, n))
    rows = int(re.search(r"about (\d+) rows", words)[1])
    estimator.plan(rows, d)
    for named in re.findall(r"ε of about ([\d.]+\d)", words):
        clone(estimator).set_params(epsilon=float(named)).plan(n, d)
    if "or δ = 0." in words:
        clone(estimator).set_params(delta=0.0).plan(n, d)
    with pytest.raises(tg.BudgetError):  # and not much less would
        estimator.plan(int(0.85 * rows), d)


def test_a_refusal_names_an_epsilon_that_is_worth_having():
    with pytest.raises(tg.BudgetError, match=r"about 420 rows or ε of about 1\.5\.$"):
        tg.LinearRegression().plan(290, 3)
    with pytest.raises(tg.BudgetError, match=r"about 410 rows\.$"):
        tg.LinearRegression().plan(30, 1)


def test_a_refusal_says_where_the_stronger_promise_needs_fewer_rows():
    with pytest.raises(tg.BudgetError, match=r"about 410 rows, ε of about 1\.3 or δ = 0\.$"):
        tg.LinearRegression().plan(340, 3)
    assert tg.LinearRegression(delta=0.0).plan(340, 3).recipe == "objective_perturbation"


def test_rows_that_another_recipe_would_need_are_not_asked_for():
    """With 300 rows `centred_descent` is chosen, and needs 4300; from 720 on `newton` is, and is content."""
    advice = tg.advise(300, 40, epsilons=(1.0,))
    needed = {option.recipe: option.rows for option in advice.options}
    assert needed["centred_descent"] > 4000
    assert "needs about 720 rows" in advice.curve[0].refusal
