"""Rounds of picks and refits, from the plan to the estimate: what they find, what they ignore, what they survive."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse

import tailguard as tg
from tailguard import engines
from tailguard.domains import Sparse, WholeSpace
from tailguard.errors import ParameterError
from tailguard.losses import CustomLoss, Huber, Logistic, Squared
from tailguard.plans import Problem
from tailguard.recipes import recipe
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tests.support import many
from tests.support.exactly import told_exactly

N, D, S = 2000, 30, 4
RNG = np.random.default_rng(0)
SPREADS = 2.0 ** RNG.integers(-6, 7, D)
X = RNG.standard_t(4, size=(N, D)) * SPREADS + SPREADS
SUPPORT = np.array([3, 7, 11, 20])
W = np.zeros(D)
W[SUPPORT] = np.array([1.0, -0.8, 0.6, 0.5]) / SPREADS[SUPPORT]
Y = X @ W + 0.5 * RNG.normal(size=N) + 3.0


@cache
def _plan(n=N, d=D, sparsity=S, epsilon=1e6, loss=Squared(), intercept=True, radius=None):  # noqa: B008
    problem = Problem(loss, Sparse(d, sparsity=sparsity, radius=radius), n, d, intercept=intercept)
    return recipe("sparse_rounds").plan("regression", problem, tg.Privacy(epsilon, 1e-6), "practical")


def _fit(X, y, seed=0, **facts):
    plan = _plan(len(X), X.shape[1], **facts)
    return run(plan, engines.open(np.ascontiguousarray(X), y), Simulation(seed)).estimate


def _exactly(X, y):
    """Return the estimate when there is no noise."""
    plan = _plan(*X.shape)
    return told_exactly(plan.solver.solve(), X, y, plan=plan)[0]


def _least_squares(rows, y, intercept=True):
    columns = np.column_stack([rows, np.ones(len(rows))]) if intercept else rows
    return np.linalg.lstsq(columns, y, rcond=None)[0]


def test_with_all_the_budget_it_is_least_squares_on_the_true_support():
    found, best = _fit(X, Y), _least_squares(X[:, SUPPORT], Y)
    np.testing.assert_array_equal(np.flatnonzero(found.coefficients), SUPPORT)
    np.testing.assert_allclose(found.coefficients[SUPPORT] * SPREADS[SUPPORT], best[:-1] * SPREADS[SUPPORT], atol=0.02)
    assert found.intercept == pytest.approx(best[-1], abs=0.05)


def test_a_line_through_the_origin():
    y = X @ W + 0.5 * RNG.normal(size=N)
    found, best = _fit(X, y, intercept=False), _least_squares(X[:, SUPPORT], y, intercept=False)
    assert found.intercept == 0.0
    np.testing.assert_allclose(found.coefficients[SUPPORT] * SPREADS[SUPPORT], best * SPREADS[SUPPORT], atol=0.02)


def test_classes():
    margins = (X - SPREADS) @ W + 0.2 * RNG.logistic(size=N)
    found = _fit(X, (margins > 0).astype(float), loss=Logistic())
    np.testing.assert_array_equal(np.flatnonzero(found.coefficients), SUPPORT)
    ours, true = found.coefficients * SPREADS, W * SPREADS
    assert ours @ true > 0.98 * np.linalg.norm(ours) * np.linalg.norm(true)


def test_the_answer_is_sparse_and_in_the_ball():
    for epsilon in (2.0, 1e6):
        found = _fit(X, Y, epsilon=epsilon, radius=0.01, sparsity=2)
        assert Sparse(D, sparsity=2, radius=0.01).contains(found.coefficients, tolerance=1e-9)


def test_the_order_of_columns_does_not_matter():
    order = np.random.default_rng(1).permutation(D)
    one, other = _exactly(X, Y), _exactly(X[:, order], Y)
    np.testing.assert_allclose(other.coefficients, one.coefficients[order], rtol=1e-6, atol=1e-12)
    assert other.intercept == pytest.approx(one.intercept, rel=1e-6)


def test_other_units_give_the_same_model():
    """By powers of two, column by column, and the target too: private units find them."""
    factors, unit = 2.0 ** np.random.default_rng(2).integers(-20, 21, D), 2.0**13
    one, other = _exactly(X, Y), _exactly(X * factors, Y * unit)
    np.testing.assert_allclose(other.coefficients * factors / unit, one.coefficients, rtol=1e-6, atol=1e-12)
    assert other.intercept == pytest.approx(unit * one.intercept, rel=1e-6)


@pytest.mark.parametrize("far", [1e12, -1e300, np.nan])
def test_a_percent_of_monsters_changes_little(far):
    rows, target = X.copy(), Y.copy()
    rows[::200], target[::200] = far, -far
    rows[100::200, 5] = far
    before, after = (_fit(*records, epsilon=100.0) for records in ((X, Y), (rows, target)))
    np.testing.assert_array_equal(np.flatnonzero(after.coefficients), SUPPORT)
    np.testing.assert_allclose(after.coefficients * SPREADS, before.coefficients * SPREADS, atol=0.06)


@pytest.mark.parametrize("target", many.HEAPED, ids=lambda target: target.__name__)
def test_targets_that_equal_their_median_are_explained(target):
    y = target((X - SPREADS) @ W, np.random.default_rng(3))
    known = np.isfinite(y)
    best = _least_squares(X[known][:, SUPPORT], y[known])
    found = _fit(X, y, epsilon=200.0)
    error = np.mean((y - X @ found.coefficients - found.intercept)[known] ** 2)
    least = np.mean((y - X[:, SUPPORT] @ best[:-1] - best[-1])[known] ** 2)
    assert error - least < 0.1 * (np.var(y[known]) - least)


def test_noise_without_a_mean_is_forgotten():
    rng = np.random.default_rng(4)
    y = X @ W + (1.0 / rng.random(N) - 1.0) ** -10.0
    found = _fit(X, y, epsilon=200.0)
    assert np.linalg.norm((found.coefficients - W) * SPREADS) < 0.2


def test_where_there_is_nothing_to_find_hardly_anything_is_found():
    rng = np.random.default_rng(5)
    found = [_fit(X, rng.standard_t(3, size=N), seed, epsilon=3.0).coefficients for seed in range(12)]
    spreads = [np.std(X @ coefficients) for coefficients in found]
    assert max(spreads) < 0.25  # of noise of deviation √3: risks of at most 2 % above the null model's
    assert spreads.count(0.0) >= 5


def test_sparse_records_give_the_same_model():
    thin = np.where(np.random.default_rng(6).random(X.shape) < 0.3, X, 0.0)
    plan = _plan(epsilon=50.0)
    one, other = (run(plan, engines.open(rows, Y), Simulation(0)).estimate for rows in (thin, sparse.csr_array(thin)))
    np.testing.assert_array_equal(one.coefficients, other.coefficients)
    assert one.intercept == other.intercept


FACTS = [
    {"n": 400, "d": 3, "sparsity": 1, "epsilon": 40.0},
    {"n": 400, "d": 3, "sparsity": 3, "epsilon": 40.0, "intercept": False},
    {"n": 300, "d": 1, "sparsity": 1, "epsilon": 40.0},
    {"n": 300, "d": 1, "sparsity": 1, "epsilon": 40.0, "intercept": False},
    {"n": 600, "d": 60, "sparsity": 7, "epsilon": 60.0, "loss": Huber(1.0)},
    {"n": 400, "d": 8, "sparsity": 2, "epsilon": 40.0, "loss": Logistic()},
    {"n": 400, "d": 8, "sparsity": 2, "epsilon": 40.0, "loss": Logistic(), "intercept": False},
    {"n": 5, "d": 2, "sparsity": 2, "epsilon": 1e6},
    {"n": 1, "d": 1, "sparsity": 1, "epsilon": 1e6},
    {"n": 10**7, "d": 40, "sparsity": 5, "epsilon": 0.1, "radius": 2.0},
]
each = pytest.mark.parametrize("facts", FACTS, ids=lambda facts: ", ".join(map(str, facts.values())))


@each
def test_plans_spend_their_budget_and_travel(facts):
    many.check_plan(_plan(**facts))


@each
def test_any_transcript_is_survived(facts):
    many.check_transcripts(_plan(**facts))


@pytest.mark.parametrize(
    "facts", [facts for facts in FACTS if facts["n"] < 1000], ids=lambda facts: str([*facts.values()])
)
def test_neighbours_learn_nothing(facts):
    many.check_neighbours(_plan(**facts))


@pytest.mark.parametrize("facts", FACTS[:6:2], ids=lambda facts: str([*facts.values()]))
def test_hostile_data_break_nothing(facts):
    many.check_hostile(_plan(**facts))


def test_a_fresh_process_reads_the_plans():
    many.check_fresh_process([_plan(**facts) for facts in FACTS])


@pytest.mark.parametrize(("changes", "parameter"), [
    ({"domain": WholeSpace(3)}, "domain"),
    ({"loss": CustomLoss("none")}, "loss"),
    ({"delta": 0.0}, "delta"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(changes, parameter):
    facts = {"loss": Squared(), "domain": Sparse(3, sparsity=1), "delta": 1e-6, **changes}
    problem = Problem(facts["loss"], facts["domain"], 10**5, 3)
    with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of sparse_rounds must be"):
        recipe("sparse_rounds").plan("regression", problem, tg.Privacy(1.0, facts["delta"]), "practical")
