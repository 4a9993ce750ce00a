"""Descent on many columns, from the plan to the estimate: what it approaches, what it ignores, what it survives."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse

import tailguard as tg
from tailguard import engines
from tailguard.domains import L1Ball, L2Ball, Simplex, WholeSpace
from tailguard.errors import BudgetError, ParameterError
from tailguard.losses import CustomLoss, Huber, Logistic, Squared
from tailguard.plans import Problem
from tailguard.recipes import recipe
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tests.support import many
from tests.support.exactly import told_exactly

N, D = 3000, 25
RNG = np.random.default_rng(0)
SPREADS = 2.0 ** RNG.integers(-6, 7, D)
X = RNG.standard_t(5, size=(N, D)) * SPREADS + SPREADS
W = RNG.normal(size=D) / np.sqrt(D) / SPREADS
Y = X @ W + 0.5 * RNG.normal(size=N) + 3.0


@cache
def _plan(n=N, d=D, epsilon=1e6, loss=Squared(), intercept=True, domain=None):  # noqa: B008
    problem = Problem(loss, domain or WholeSpace(d), n, d, intercept=intercept)
    return recipe("centred_descent").plan("regression", problem, tg.Privacy(epsilon, 1e-6), "practical")


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


def _error(coefficients, reference):
    """Return the distance of slopes in units of the columns, as a part of the reference."""
    return np.linalg.norm((coefficients - reference) * SPREADS) / np.linalg.norm(reference * SPREADS)


def test_with_all_the_budget_it_is_near_least_squares():
    """A dozen steps, not a solution: within a twentieth of the slopes."""
    found, best = _fit(X, Y), _least_squares(X, Y)
    assert _error(found.coefficients, best[:-1]) < 0.05
    assert found.intercept == pytest.approx(best[-1], abs=0.3)


def test_a_line_through_the_origin():
    y = X @ W + 0.5 * RNG.normal(size=N)
    found, best = _fit(X, y, intercept=False), _least_squares(X, y, intercept=False)
    assert found.intercept == 0.0
    assert _error(found.coefficients, best) < 0.1


def test_few_columns_are_solved():
    """With no more columns than steps the released span is everything, and the refit is least squares."""
    few = X[:, :4]
    y = few @ W[:4] + 0.5 * RNG.normal(size=N)
    found, best = _fit(few, y), _least_squares(few, y)
    assert np.linalg.norm((found.coefficients - best[:-1]) * SPREADS[:4]) < 0.03
    assert found.intercept == pytest.approx(best[-1], abs=0.05)


def test_classes():
    margins = (X - SPREADS) @ W + 0.2 * RNG.logistic(size=N)
    found = _fit(X, (margins > 0).astype(float), loss=Logistic()).coefficients * SPREADS
    assert found @ (W * SPREADS) > 0.97 * np.linalg.norm(found) * np.linalg.norm(W * SPREADS)


@pytest.mark.parametrize("domain", [L1Ball(D, 0.3), L2Ball(D, 0.05), Simplex(D)], ids=str)
def test_the_answer_lies_in_the_domain(domain):
    for epsilon in (20.0, 1e6):
        assert domain.contains(_fit(X, Y, epsilon=epsilon, domain=domain).coefficients, tolerance=1e-9)


def test_the_order_of_columns_does_not_matter():
    order = np.random.default_rng(1).permutation(D)
    one, other = _exactly(X, Y), _exactly(X[:, order], Y)
    np.testing.assert_allclose(other.coefficients * SPREADS[order], (one.coefficients * SPREADS)[order], atol=1e-6)
    assert other.intercept == pytest.approx(one.intercept, rel=1e-6)


def test_other_units_give_the_same_model():
    """By powers of two, column by column, and the target too: private units find them."""
    factors, unit = 2.0 ** np.random.default_rng(2).integers(-20, 21, D), 2.0**13
    one, other = _exactly(X, Y), _exactly(X * factors, Y * unit)
    np.testing.assert_allclose(other.coefficients * SPREADS * factors / unit, one.coefficients * SPREADS, atol=1e-6)
    assert other.intercept == pytest.approx(unit * one.intercept, rel=1e-6)


@pytest.mark.parametrize("far", [1e12, -1e300, np.nan])
def test_a_percent_of_monsters_changes_little(far):
    rows, target = X.copy(), Y.copy()
    rows[::200], target[::200] = far, -far
    rows[100::200, 5] = far
    before, after = (_fit(*records, epsilon=100.0).coefficients for records in ((X, Y), (rows, target)))
    assert _error(after, before) < 0.12
    assert _error(after, W) < 0.2


@pytest.mark.parametrize("target", many.HEAPED, ids=lambda target: target.__name__)
def test_targets_that_equal_their_median_are_explained(target):
    y = target((X - SPREADS) @ W, np.random.default_rng(3))
    known = np.isfinite(y)
    best = _least_squares(X[known], y[known])
    found = _fit(X, y, epsilon=200.0)
    error = np.mean((y - X @ found.coefficients - found.intercept)[known] ** 2)
    least = np.mean((y - X @ best[:-1] - best[-1])[known] ** 2)
    assert error - least < 0.15 * (np.var(y[known]) - least)


def test_noise_without_a_mean_is_forgotten():
    y = X @ W + (1.0 / np.random.default_rng(4).random(N) - 1.0) ** -10.0
    assert _error(_fit(X, y, epsilon=200.0).coefficients, W) < 0.5


def test_where_there_is_nothing_to_find_hardly_anything_is_found():
    rng = np.random.default_rng(5)
    found = [_fit(X, rng.standard_t(3, size=N), seed, epsilon=3.0).coefficients for seed in range(8)]
    spreads = [np.std(X @ coefficients) for coefficients in found]
    assert max(spreads) < 0.3  # of noise of deviation √3: risks of at most 3 % above the null model's


def test_sparse_records_give_the_same_model():
    thin = np.where(np.random.default_rng(6).random(X.shape) < 0.3, X, 0.0)
    plan = _plan(epsilon=50.0)
    one, other = (run(plan, engines.open(rows, Y), Simulation(0)).estimate for rows in (thin, sparse.csr_array(thin)))
    np.testing.assert_array_equal(one.coefficients, other.coefficients)
    assert one.intercept == other.intercept


FACTS = [
    {"n": 600, "d": 3, "epsilon": 60.0},
    {"n": 600, "d": 1, "epsilon": 60.0},
    {"n": 600, "d": 1, "epsilon": 60.0, "intercept": False},
    {"n": 600, "d": 40, "epsilon": 60.0, "intercept": False},
    {"n": 800, "d": 120, "epsilon": 60.0, "loss": Huber(1.0)},
    {"n": 600, "d": 9, "epsilon": 60.0, "loss": Logistic()},
    {"n": 600, "d": 9, "epsilon": 60.0, "loss": Logistic(), "intercept": False},
    {"n": 600, "d": 9, "epsilon": 60.0, "domain": L1Ball(9, 1.0)},
    {"n": 600, "d": 9, "epsilon": 60.0, "domain": Simplex(9)},
    {"n": 5, "d": 2, "epsilon": 1e6},
    {"n": 1, "d": 1, "epsilon": 1e6},
    {"n": 10**7, "d": 60, "epsilon": 0.1, "domain": L2Ball(60, 2.0)},
]
each = pytest.mark.parametrize("facts", FACTS, ids=lambda facts: ", ".join(map(str, facts.values())))


@each
def test_plans_spend_their_budget_and_travel(facts):
    many.check_plan(_plan(**facts))


@each
def test_any_transcript_is_survived(facts):
    many.check_transcripts(_plan(**facts))


@pytest.mark.parametrize("facts", FACTS[:-1], ids=lambda facts: ", ".join(map(str, facts.values())))
def test_neighbours_learn_nothing(facts):
    many.check_neighbours(_plan(**facts))


@pytest.mark.parametrize(
    "facts", [FACTS[k] for k in (0, 2, 5, 8)], ids=lambda facts: ", ".join(map(str, facts.values()))
)
def test_hostile_data_break_nothing(facts):
    many.check_hostile(_plan(**facts))


def test_a_fresh_process_reads_the_plans():
    many.check_fresh_process([_plan(**facts) for facts in FACTS])


def test_what_does_not_fit_is_refused():
    for loss, delta, parameter in ((Squared(), 0.0, "delta"), (CustomLoss("none"), 1e-6, "loss")):
        problem = Problem(loss, WholeSpace(3), 10**5, 3)
        with pytest.raises(ParameterError, match=f"The '{parameter}' parameter of centred_descent must be"):
            recipe("centred_descent").plan("regression", problem, tg.Privacy(1.0, delta), "practical")
    with pytest.raises(BudgetError):
        _plan(n=100, epsilon=0.1)
