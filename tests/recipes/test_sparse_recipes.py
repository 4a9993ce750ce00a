"""Sparse rounds and sparse paths, planned: what is carried, how a budget is divided, what is predicted."""

import math
from itertools import pairwise

import numpy as np
import pytest

import tailguard as tg
from tailguard.domains import L2Ball, Sparse, WholeSpace
from tailguard.errors import BudgetError, ParameterError
from tailguard.losses import Logistic, Squared, SquaredDistance
from tailguard.plans import Problem, verify
from tailguard.privacy import Privacy
from tailguard.recipes import recipe
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.sparse_path import largest_sparsity
from tailguard.recipes.sparse_rounds import LEAST
from tailguard.recipes.wide import wide_preparation
from tests.support.sentences import sentence

BUDGET = Privacy(1.0, 1e-6)


def _plan(name, n, d, s, loss=None, privacy=BUDGET, intercept=True):
    domain = WholeSpace(d) if s is None else Sparse(d, s)
    problem = Problem(loss or Squared(), domain, n, d, intercept)
    return recipe(name).plan("regression", problem, privacy)


def _picks(plan):
    return [step.mechanism.count for step in plan.steps if step.name == "picks"]


@pytest.mark.parametrize("s", [1, 2, 4, 5, 7, 20, 33])
def test_rounds_pick_as_many_columns_as_the_domain_has(s):
    picks = _picks(_plan("sparse_rounds", 50_000, 200, s))
    assert sum(picks) == s
    assert len(picks) == min(5, s)
    assert max(picks) - min(picks) <= 1


@pytest.mark.parametrize("s", [1, 2, 3, 4, 5, 9, 40, 100])
def test_a_path_grows_by_a_factor_up_to_the_most_and_every_size_is_a_candidate(s):
    plan = _plan("sparse_path", 200_000, 200, s)
    sizes = np.cumsum(_picks(plan))
    assert sizes[-1] == s
    assert all(after <= 2 * before for before, after in pairwise(sizes))
    choice = next(step for step in plan.steps if step.name == "choice")
    assert choice.dimension == len(sizes) + 1
    assert [step.name for step in plan.steps].index("choice") < len(plan.steps) - 1  # the chosen one is fitted again
    assert 0.98 <= verify(plan).epsilon <= 1.0


def test_every_round_of_a_path_has_the_same_share_of_the_picks():
    plan = _plan("sparse_path", 50_000, 400, 50)
    costs = [step.mechanism.count / step.multiplier**2 for step in plan.steps if step.name == "picks"]
    assert max(costs) / min(costs) == pytest.approx(1.0)


@pytest.mark.parametrize(("d", "s", "epsilon"), [(400, 20, 1.0), (20_000, 10, 2.0), (50, 3, 0.2)])
def test_fewer_rows_than_columns_can_be_found_with_are_refused(d, s, epsilon):
    privacy = Privacy(epsilon, 1e-6)
    needed = LEAST * s * math.log(d / s) * CountNoise.of(privacy).multiplier
    _plan("sparse_rounds", math.ceil(1.01 * needed), d, s, privacy=privacy)
    with pytest.raises(BudgetError, match=rf"A model of {s} columns cannot be carried by n = \d+ rows") as refusal:
        _plan("sparse_rounds", math.floor(0.99 * needed), d, s, privacy=privacy)
    assert refusal.value.rows == pytest.approx(needed, rel=0.12)


def test_a_path_is_refused_where_not_even_one_column_is_found():
    with pytest.raises(BudgetError, match=r"A model of one column cannot be carried"):
        _plan("sparse_path", 100, 400, 1)


@pytest.mark.parametrize("name", ["sparse_rounds", "sparse_path"])
def test_what_the_recipes_ask_for(name):
    with pytest.raises(ParameterError, match=sentence("delta", name, "greater than 0", "0.0")):
        _plan(name, 10_000, 20, 2, privacy=Privacy(1.0, 0.0))
    with pytest.raises(ParameterError, match=f"The 'domain' parameter of {name} must be a Sparse domain"):
        recipe(name).plan("regression", Problem(Squared(), L2Ball(20, 1.0), 10_000, 20), BUDGET)
    with pytest.raises(ParameterError, match=f"The 'loss' parameter of {name} must be a loss of predictions"):
        _plan(name, 10_000, 20, 2, SquaredDistance(), intercept=False)


def test_the_largest_sparsity_is_carried_and_grows_with_rows_and_budget():
    sizes = [largest_sparsity(n, 400, BUDGET) for n in (500, 2000, 10_000, 50_000, 10**6)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 5 < sizes[2] < sizes[-1] == 100
    assert largest_sparsity(2000, 400, Privacy(0.2, 1e-6)) < sizes[1] < largest_sparsity(2000, 400, Privacy(4.0, 1e-6))
    assert largest_sparsity(10**6, 7, BUDGET) == 7
    assert largest_sparsity(30, 7, Privacy(1e6, 1e-6)) == 3
    assert largest_sparsity(1, 1, BUDGET) == 1
    for n in (500, 5000):
        _plan("sparse_rounds", n, 1000, largest_sparsity(n, 1000, BUDGET))


def _equal(seed, n, d, s, loss):
    """s equal coefficients that explain half of the variance; classes: with log-odds of deviation 2."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), np.zeros(d)
    w[rng.choice(d, s, replace=False)] = rng.choice([-1.0, 1.0], s) / math.sqrt(s)
    if loss.name == "logistic":
        return X, (rng.random(n) < 1 / (1 + np.exp(-2.0 * X @ w))).astype(float), 2.0 * w
    return X, X @ w + rng.standard_normal(n), w


@pytest.mark.parametrize(("n", "d", "s"), [(4_000, 100, 4), (10_000, 200, 10), (3_000, 200, 10)])
def test_the_excess_risk_of_sparse_rounds_is_predicted_within_a_factor_of_four(n, d, s):
    risks = []
    for seed in range(900, 905):
        X, y, w = _equal(seed, n, d, s, Squared())
        model = tg.SparseLinearRegression(s, random_state=seed).fit(X, y)
        risks.append(np.sum((model.coef_ - w) ** 2) + model.intercept_**2)  # the null model's is 1
    assert 0.25 < np.median(risks) / model.plan_.predicted_error < 4.0


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=lambda loss: loss.name)
@pytest.mark.parametrize(("name", "s"), [("sparse_rounds", 5), ("centred_descent", None)])
def test_more_rows_and_more_budget_promise_less(name, s, loss):
    def predicted(n, epsilon):
        return _plan(name, n, 100, s, loss, Privacy(epsilon, 1e-6)).predicted_error

    assert 1.0 > predicted(8_000, 1.0) > predicted(8_000, 2.0) > predicted(32_000, 2.0) > 0.0


@pytest.mark.parametrize(("n", "d"), [(15_000, 100), (8_000, 150)])
def test_the_excess_risk_of_a_centred_descent_is_predicted_within_a_factor_of_three(n, d):
    risks = []
    for seed in range(900, 903):
        X, y, w = _equal(seed, n, d, d, Squared())
        model = tg.LinearRegression(method="centred_descent", random_state=seed).fit(X, y)
        risks.append(np.sum((model.coef_ - w) ** 2) + model.intercept_**2)
    assert 1 / 3 < np.median(risks) / model.plan_.predicted_error < 3.0


@pytest.mark.parametrize("s", [3, 12])
def test_an_automatic_sparsity_is_about_the_true_one(s):
    sizes, risks = [], []
    for seed in range(900, 905):
        X, y, w = _equal(seed, 12_000, 150, s, Squared())
        model = tg.SparseLinearRegression(random_state=seed).fit(X, y)
        assert model.plan_.recipe == "sparse_path"
        assert model.plan_.problem.domain.sparsity > 40
        sizes.append(np.count_nonzero(model.coef_))
        risks.append(np.sum((model.coef_ - w) ** 2))
    assert s <= np.median(sizes) <= 2 * s
    assert np.median(risks) < 0.03


def test_nothing_to_find_is_the_null_model():
    rng = np.random.default_rng(900)
    X, y = rng.standard_normal((5_000, 100)), rng.standard_normal(5_000)
    sizes = [np.count_nonzero(tg.SparseLinearRegression(random_state=k).fit(X, y).coef_) for k in range(5)]
    assert np.median(sizes) == 0


def test_a_pure_budget_buys_fewer_units_of_columns():
    """With δ = 0 histograms of d columns are d times as noisy, not √d times."""
    problem = Problem(Squared(), Sparse(200, 5), 100_000, 200, intercept=True)
    pure = wide_preparation(problem, Privacy(1.0, 0.0), 0.1)
    assert pure.medians is None
    assert not pure.octaves
    assert wide_preparation(problem, Privacy(1.0, 1e-6), 0.1).medians is not None
    rng = np.random.default_rng(900)
    X = rng.standard_normal((60_000, 100))
    y = X[:, :3].sum(axis=1) + rng.standard_normal(60_000)
    found = tg.SparseLinearRegression(3, delta=0.0, random_state=900).fit(X, y)
    assert np.sum((found.coef_ - np.repeat([1.0, 0.0], [3, 97])) ** 2) < 0.1
