"""The numbers and the noise of Hu et al. 2022, Algorithms 1 and 2; what practical parameters promise and refuse."""

import math

import numpy as np
import pytest
from scipy.special import erf

from tailguard import engines
from tailguard.domains import L1Ball, L2Ball, Polytope, Simplex
from tailguard.errors import BudgetError, ParameterError
from tailguard.losses import Biweight, CustomLoss, Huber, Logistic, Squared
from tailguard.plans import Moment, Problem, verify
from tailguard.privacy import Privacy
from tailguard.recipes import frank_wolfe, recipe, shrunken_lasso
from tailguard.run import make_randomness, run

SECOND, FOURTH = Moment(2.0, 1.5, "coordinate"), Moment(4.0, 1.5, "coordinate")
PURE, BUDGET = Privacy(1.0, 0.0), Privacy(1.0, 1e-6)


def lasso(n=20_000, d=50, radius=1.0, **facts):
    return Problem(Squared(), L1Ball(d, radius), n, d, **facts)


def test_theorem_2():
    n, d, zeta, tau = 20_000, 50, 0.05, 1.5**2
    plan = frank_wolfe.paper_regression(lasso(moment=SECOND, smoothness=2.0), PURE)
    T = math.floor((n * 2.0**2 * 2.0**2 / (tau * math.log(2 * d * d / zeta))) ** (1 / 3))  # α = 2, ‖W‖₁ = 2
    assert (plan.solver.steps, plan.steps[0].count, plan.steps[0].blocks) == (T, T, T)
    assert plan.solver.entries.threshold == pytest.approx(math.sqrt(n * tau / (T * math.log(2 * d * d * T / zeta))))
    assert (plan.solver.entries.beta, plan.solver.step_size, plan.solver.start) == (1.0, None, None)


def test_theorem_3():
    n, d, zeta, tau = 20_000, 50, 0.05, 1.5**2
    problem = Problem(Biweight(1.0), L1Ball(d, 1.0), n, d, moment=SECOND, smoothness=1.5)
    plan = frank_wolfe.paper_regression(problem, PURE)
    T = math.floor(1.5 * 2.0 / 1.5 * math.sqrt(n / math.log(d / zeta)))
    assert plan.solver.steps == T
    assert plan.solver.entries.threshold == pytest.approx(math.sqrt(n * tau / (T * math.log(d * T / zeta))))
    assert plan.solver.step_size == pytest.approx(1 / math.sqrt(T))


@pytest.mark.parametrize("beta", [0.5, 1.0, 10.0])
@pytest.mark.parametrize(
    ("domain", "ratio"),
    [(L1Ball(4, 3.0), 2.0), (Simplex(4), 2.0), (Polytope([(1, 0, 0, 0), (-1, 0, 0, 0)]), 2.0)],
    ids=lambda part: type(part).__name__,
)
def test_algorithm_1_has_the_noise_of_line_6(domain, ratio, beta):
    """Gumbel noise of scale 2Δ/ε on ⟨v, g̃⟩, Δ = 4√2·‖W‖₁·s/(3m): here in sums over a block, in units of the grid."""
    problem = Problem(Squared(), domain, 1000, 4)
    plan = frank_wolfe.plan_with(problem, Privacy(0.7, 0.0), steps=10, scale=2.5, beta=beta)
    step, reach = plan.steps[0], domain.norm_bound("l1")
    unit = 2.5 * (2 * math.sqrt(2) / 3) * erf(math.sqrt(beta / 2)) * 2.0**-step.bits * reach
    printed = 4 * math.sqrt(2) * ratio * reach * 2.5 / 3
    assert step.multiplier * step.sensitivity * unit == pytest.approx(2 * printed / 0.7, rel=1e-9)
    # What is really spent: the printed bound of Catoni's function is loose by 1/(2Φ(√β) − 1), the diameter by 2.
    assert verify(plan).epsilon == pytest.approx(0.7 * erf(math.sqrt(beta / 2)) / ratio, rel=1e-6)


def test_theorem_5_and_balls_of_any_radius():
    n, d, zeta, M = 50_000, 200, 0.05, 1.5
    logs = math.sqrt(math.log(1e6)) * math.log(d / zeta)
    for radius, bound in ((1.0, M), (3.0, 3.0 * M), (0.5, M)):
        problem = lasso(n, d, radius, moment=FOURTH, smoothness=30.0)
        plan = shrunken_lasso.paper_regression(problem, BUDGET)
        T = math.floor((math.sqrt(n) * 30.0 * radius**2 / (bound**2 * logs)) ** 0.8)
        K = bound * n**0.25 / T**0.125
        assert (plan.solver.steps, plan.steps[0].blocks, plan.solver.stretch) == (T, 1, radius)
        assert plan.solver.entries.threshold == pytest.approx(K)
        assert plan.solver.entries.limit == pytest.approx(2 * K)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 1e-5), (0.99, 1e-6), (4.0, 1e-6)])
def test_algorithm_2_has_the_noise_of_line_4(epsilon, delta):
    privacy, T, K = Privacy(epsilon, delta), 20, 1.7
    plan = shrunken_lasso.plan_with(lasso(1000, 4), privacy, steps=T, threshold=K)
    step = plan.steps[0]
    budget = epsilon / (2 * math.sqrt(2 * T * math.log(1 / delta)))
    ours = step.multiplier * step.sensitivity * 2 * K**2 * 2.0**-step.bits  # of sums; half the printed loss
    assert 2 * ours / 1000 == pytest.approx(2 * (8 * K**2 / 1000) / budget, rel=1e-9)
    assert verify(plan).epsilon < 0.25 * epsilon


def test_section_6_can_be_asked_for():
    n, epsilon = 10_000, 1.0
    start = np.full(50, -0.01)
    plan = frank_wolfe.plan_with(lasso(n), PURE, steps=21, scale=n * epsilon / 2, start=start)
    assert (plan.solver.steps, plan.solver.entries.threshold) == (21, 5000.0)
    np.testing.assert_array_equal(plan.solver.start, start)
    T = math.floor((n * epsilon) ** 0.4)
    K = shrunken_lasso.shrinkage(n, epsilon, T)
    plan = shrunken_lasso.plan_with(lasso(n), BUDGET, steps=T, threshold=K, start=start)
    assert (plan.solver.steps, plan.solver.entries.threshold) == (39, pytest.approx(10 / 39**0.125))


def _cubes(point, rows, target):
    return (point - rows) ** 3


CUSTOM = CustomLoss("cubes", _cubes)


@pytest.mark.parametrize(
    ("method", "parameters", "problem", "privacy", "match"),
    [
        ("frank_wolfe", "paper", lasso(), PURE, "'moment' parameter .* Moment of every coordinate or direction"),
        ("frank_wolfe", "paper", lasso(moment=Moment(1.5, 1.0, "coordinate")), PURE, "at least 2"),
        ("frank_wolfe", "paper", lasso(moment=SECOND, intercept=True), PURE, "'intercept'"),
        ("frank_wolfe", "paper", Problem(Squared(), L2Ball(3, 1.0), 999, 3, moment=SECOND), PURE, "'domain'"),
        ("frank_wolfe", "paper", Problem(CUSTOM, L1Ball(3, 1.0), 999, 3, moment=SECOND), PURE, "'loss'"),
        ("shrunken_lasso", "paper", lasso(moment=FOURTH), PURE, "'delta'"),
        ("shrunken_lasso", "paper", lasso(moment=SECOND), BUDGET, "at least 4"),
        ("shrunken_lasso", "paper", lasso(moment=FOURTH, intercept=True), BUDGET, "'intercept'"),
        ("shrunken_lasso", "paper", Problem(Huber(1.0), L1Ball(3, 1.0), 999, 3, moment=FOURTH), BUDGET, "'loss'"),
        ("shrunken_lasso", "paper", Problem(Squared(), Simplex(3), 999, 3, moment=FOURTH), BUDGET, "'domain'"),
        ("frank_wolfe", "practical", Problem(Squared(), L2Ball(3, 1.0), 9999, 3), PURE, "'domain'"),
        ("frank_wolfe", "practical", Problem(CUSTOM, L1Ball(3, 1.0), 9999, 3), PURE, "'loss'"),
        ("shrunken_lasso", "practical", Problem(Huber(1.0), L1Ball(3, 1.0), 9999, 3), BUDGET, "'loss'"),
        ("shrunken_lasso", "practical", Problem(Squared(), Simplex(3), 9999, 3), BUDGET, "'domain'"),
    ],
)
def test_what_cannot_be_planned_is_refused(method, parameters, problem, privacy, match):
    with pytest.raises(ParameterError, match=match):
        recipe(method).plan("regression", problem, privacy, parameters)


def test_more_steps_than_records_are_refused():
    with pytest.raises(BudgetError, match="A block of records for every step cannot be carried by n = 30"):
        frank_wolfe.plan_with(lasso(30), PURE, steps=31, scale=1.0)


@pytest.mark.parametrize("privacy", [PURE, BUDGET], ids=str)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_budget_that_carries_no_pick_is_refused_with_enough_rows(privacy, intercept):
    chosen = recipe("frank_wolfe")
    with pytest.raises(BudgetError, match="it needs about") as refusal:
        chosen.plan("regression", lasso(100, intercept=intercept), privacy)
    rows = refusal.value.rows
    assert 100 < rows < 20_000
    assert chosen.plan("regression", lasso(rows, intercept=intercept), privacy)


@pytest.mark.parametrize("privacy", [PURE, BUDGET], ids=str)
def test_more_rows_allow_more_steps_and_wider_bounds(privacy):
    plans = [recipe("frank_wolfe").plan("regression", lasso(n), privacy) for n in (5000, 50_000, 10**9)]
    assert plans[0].solver.steps < plans[1].solver.steps <= plans[2].solver.steps
    assert plans[0].solver.entries.threshold <= plans[1].solver.entries.threshold < plans[2].solver.entries.threshold
    assert plans[0].solver.counted <= plans[1].solver.counted <= plans[2].solver.counted


def lognormal(seed, n, d, coefficients):
    """Hu et al. 2022, Figure 1: lognormal features, Gaussian noise of variance 0.1; the risk of any model is known."""
    rng = np.random.default_rng(seed)
    X = np.exp(rng.standard_normal((n, d)) * math.sqrt(0.6))
    mean, variance = math.exp(0.3), math.exp(0.6) * (math.exp(0.6) - 1)

    def risk(w, b):
        e = w - coefficients
        return variance * e @ e + (mean * e.sum() + b) ** 2

    return X, X @ coefficients + rng.normal(0.0, math.sqrt(0.1), n), risk


def fitted(method, privacy, seed, X, y, *, intercept):
    problem = lasso(len(y), X.shape[1], intercept=intercept)
    plan = recipe(method).plan("regression", problem, privacy)
    return run(plan, engines.open(X, y), make_randomness(seed)).estimate


@pytest.mark.parametrize("method", ["frank_wolfe", "shrunken_lasso"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("privacy", [PURE, Privacy(1.0, 1e-5)], ids=str)
def test_a_faint_dense_model_is_never_much_worse_than_none(method, intercept, privacy):
    n, d, ratios = 6000, 100, []
    for seed in range(5):
        w = np.random.default_rng(seed).standard_normal(d)
        w /= np.abs(w).sum()
        X, y, risk = lognormal(seed, n, d, w)
        estimate = fitted(method, privacy, seed, X, y, intercept=intercept)
        ratios.append(risk(estimate.coefficients, estimate.intercept) / risk(np.zeros(d), 0.0))
    assert np.median(ratios) <= 1.05


@pytest.mark.parametrize("method", ["frank_wolfe", "shrunken_lasso"])
@pytest.mark.parametrize(("privacy", "most"), [(PURE, 0.3), (Privacy(1.0, 1e-5), 0.1)], ids=["pure", "approximate"])
def test_a_clear_sparse_model_is_found(method, privacy, most):
    n, d, ratios = 10_000, 200, []
    for seed in range(3):
        w = np.zeros(d)
        w[[3, 50, 120]] = 0.4, -0.35, 0.25
        X, y, risk = lognormal(seed, n, d, w)
        estimate = fitted(method, privacy, seed, X, y, intercept=True)
        ratios.append(risk(estimate.coefficients, estimate.intercept) / risk(np.zeros(d), np.mean(y)))
    assert np.median(ratios) <= most


def test_a_constant_target_leaves_the_null_model():
    rng = np.random.default_rng(0)
    estimate = fitted("frank_wolfe", BUDGET, 0, rng.standard_t(3, (5000, 20)), np.full(5000, 40.0), intercept=True)
    assert not np.any(estimate.coefficients)
    assert estimate.intercept == pytest.approx(40.0, rel=0.2)


def test_classes_are_told_apart():
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, (8000, 30))
    score = 1.5 * X[:, 0] - X[:, 1] - 1.0
    y = (score + rng.logistic(size=8000) > 0).astype(float)
    problem = Problem(Logistic(), L1Ball(30, 2.5), 8000, 30, intercept=True)
    plan = recipe("frank_wolfe").plan("regression", problem, BUDGET)
    estimate = run(plan, engines.open(X, y), make_randomness(0)).estimate
    risk = np.mean(Logistic().value(X @ estimate.coefficients + estimate.intercept, y))
    assert risk < np.mean(Logistic().value(score, y)) + 0.03
    assert estimate.intercept < -0.4
