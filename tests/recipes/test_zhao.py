"""The numbers of Zhao et al. 2024, computed again by hand, and the algorithms run again in plain NumPy."""

import math

import mpmath
import numpy as np
import pytest

import tailguard as tg
from tailguard.domains import L2Ball
from tailguard.errors import BudgetError, ParameterError
from tailguard.losses import Logistic, Squared, SquaredDistance
from tailguard.plans import Moment, Problem, verify
from tailguard.privacy import Privacy
from tailguard.recipes import recipe
from tailguard.recipes.clipping import clip_radius, concentrated_budget
from tests.support.exactly import told_exactly
from tests.support.sentences import sentence

CLIPPING = recipe("clipping")
GRID = [
    (n, d, epsilon, delta, order)
    for n in (100, 10_000, 10**7)
    for d in (1, 7, 300)
    for epsilon, delta in ((0.1, 1e-5), (1.0, 1e-9))
    for order in (2.0, 3.5)
]


def _rho(epsilon, delta):
    """(15), in fifty digits."""
    with mpmath.workdps(50):
        return mpmath.mpf(epsilon) ** 2 / (1 + 2 * mpmath.sqrt(mpmath.log(1 / mpmath.mpf(delta)))) ** 2


def _radius(n, d, rho, order, bound):
    """(19), each of its two terms as printed, times M."""
    with mpmath.workdps(50):
        root, p = mpmath.sqrt(d), 1 / mpmath.mpf(order)
        return bound * min(root * (n * mpmath.sqrt(rho) / root) ** p, root * (mpmath.mpf(n) / d) ** p)


def _mean(n, d, epsilon, delta, order, bound, parameters="paper"):
    problem = Problem(SquaredDistance(), tg.domains.WholeSpace(d), n, d, moment=Moment(order, bound))
    return CLIPPING.plan("mean", problem, Privacy(epsilon, delta), parameters)


def _regression(n, d, epsilon, delta, order, bound, *, intercept=False, smoothness=1.0, loss=None, radius=3.0):
    problem = Problem(loss or Squared(), L2Ball(d, radius), n, d, intercept, Moment(order, bound), smoothness)
    return CLIPPING.plan("regression", problem, Privacy(epsilon, delta), "paper")


def test_one_example_to_the_last_digit():
    """ε = 0.5, δ = 1e-5, n = 10 000, d = 4, p = 2, worked out on paper."""
    rho = concentrated_budget(Privacy(0.5, 1e-5))
    assert rho == pytest.approx(0.00412378, rel=1e-5)  # 0.25 ÷ (1 + 2·3.3930702)²
    # √4·√(10 000·0.0642167 ÷ 2) = 2·√321.08 = 35.837; the other term is 2·√2500 = 100
    assert clip_radius(10_000, 4, rho, 2.0, 1.0) == pytest.approx(35.837, rel=1e-4)
    plan = _regression(10_000, 4, 0.5, 1e-5, 2.0, 1.0)
    assert plan.solver.steps == 81  # 0.00412378·10⁸ ÷ (4·1284.3) = 80.27
    assert plan.solver.step_size == pytest.approx(1 / math.sqrt(162))


@pytest.mark.parametrize(("n", "d", "epsilon", "delta", "order"), GRID)
def test_algorithm_2_has_the_papers_numbers(n, d, epsilon, delta, order):
    bound = 2.5
    plan = _mean(n, d, epsilon, delta, order, bound)
    rho = _rho(epsilon, delta)
    radius = _radius(n, d, rho, order, bound)
    assert plan.solver.oracle.threshold == pytest.approx(float(radius), rel=1e-12)
    (step,) = plan.steps
    # Lemma 4: the variance of the noise in the mean is 2R²/(ρn²).
    noise = step.multiplier * step.sensitivity * float(radius) * 2.0**-step.bits / n
    assert noise**2 == pytest.approx(float(2 * radius**2 / (rho * n**2)), rel=1e-12)
    assert step.count == step.blocks == 1


@pytest.mark.parametrize(("n", "d", "epsilon", "delta", "order"), GRID)
@pytest.mark.parametrize("intercept", [False, True])
def test_algorithm_1_has_the_papers_numbers(n, d, epsilon, delta, order, intercept):
    bound, smoothness = 2.5, 0.3
    plan = _regression(n, d, epsilon, delta, order, bound, intercept=intercept, smoothness=smoothness)
    k, rho = d + intercept, _rho(epsilon, delta)
    radius = _radius(n, k, rho, order, bound)
    steps = rho * n**2 * bound**2 / (k * radius**2)  # Theorem 4 for the loss divided by M
    assert plan.solver.steps == max(1, math.ceil(steps * (1 - 1e-13)))
    assert plan.solver.step_size == pytest.approx(1 / math.sqrt(2 * plan.solver.steps * smoothness**2), rel=1e-12)
    assert plan.solver.oracle.threshold == pytest.approx(float(radius), rel=1e-12)
    (step,) = plan.steps
    noise = step.multiplier * step.sensitivity * float(radius) * 2.0**-step.bits / n
    assert noise**2 == pytest.approx(float(2 * radius**2 * plan.solver.steps / (rho * n**2)), rel=1e-12)
    assert step.count == plan.solver.steps


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 3.0, 8.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-12])
def test_the_papers_noise_is_enough_wherever_it_is_allowed(epsilon, delta):
    """(15) is stated for ε ≤ 1 and holds for ρ ≤ 1; beyond, it is refused."""
    if _rho(epsilon, delta) > 1:
        with pytest.raises(BudgetError, match="holds only for ρ ≤ 1"):
            _mean(1000, 3, epsilon, delta, 2.0, 1.0)
    else:
        assert verify(_mean(1000, 3, epsilon, delta, 2.0, 1.0)).epsilon <= epsilon


def test_scaling_the_data_scales_the_answer():
    one, ten = (_mean(5000, 3, 0.5, 1e-6, 2.0, bound) for bound in (1.0, 10.0))
    assert ten.solver.oracle.threshold == pytest.approx(10 * one.solver.oracle.threshold)
    assert ten.steps == one.steps


def test_known_moments_serve_the_practical_mean_too():
    """(19) with the budget of the tight accountant: a larger ρ, so a larger radius and less noise."""
    paper, practical = (_mean(5000, 3, 0.5, 1e-6, 2.0, 1.0, parameters) for parameters in ("paper", "practical"))
    assert practical.solver.oracle.threshold > paper.solver.oracle.threshold
    assert practical.steps[0].multiplier < paper.steps[0].multiplier


def test_algorithm_2_is_the_mean_of_clipped_records():
    X = np.random.default_rng(0).standard_t(3, size=(500, 3)) * 10
    plan = _mean(500, 3, 0.5, 1e-6, 2.0, 3.0)
    radius = plan.solver.oracle.threshold
    clipped = X * np.minimum(1.0, radius / np.linalg.norm(X, axis=1, keepdims=True))
    assert np.any(clipped != X)
    found, _ = told_exactly(plan.solver.solve(), X)
    np.testing.assert_allclose(found.coefficients, clipped.mean(axis=0), atol=1e-7)


@pytest.mark.parametrize(
    ("loss", "slope"), [(Squared(), lambda p, t: p - t), (Logistic(), lambda p, t: 1 / (1 + np.exp(-p)) - t)]
)
@pytest.mark.parametrize("intercept", [False, True])
def test_algorithm_1_is_projected_descent_with_the_average_of_its_points(loss, slope, intercept):
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, size=(2000, 2))
    y = (X @ [1.0, -1.0] + rng.standard_t(3, size=2000) > 0).astype(float) * 2.0
    plan = _regression(2000, 2, 0.9, 1e-4, 2.0, 0.5, intercept=intercept, loss=loss, radius=0.4)
    T, eta, R = plan.solver.steps, plan.solver.step_size, plan.solver.oracle.threshold
    Z = np.column_stack([X, np.ones(2000)]) if intercept else X
    w, points = np.zeros(Z.shape[1]), []
    for _ in range(T):
        points.append(w)
        gradients = slope(Z @ w, y)[:, None] * Z
        norms = np.linalg.norm(gradients, axis=1, keepdims=True)
        w = w - eta * (gradients * np.minimum(1.0, R / np.maximum(norms, 1e-300))).mean(axis=0)  # equation (7) …
        slopes = w[:2] * min(1.0, 0.4 / np.linalg.norm(w[:2]))
        w = np.append(slopes, np.clip(w[2:], -0.4, 0.4))
    expected = np.mean(points, axis=0)  # … and (8)
    found, queries = told_exactly(plan.solver.solve(), X, y)
    assert len(queries) == T > 3
    np.testing.assert_allclose(found.coefficients, expected[:2], atol=1e-6)
    assert found.intercept == pytest.approx(expected[2] if intercept else 0.0, abs=1e-6)


@pytest.mark.parametrize(
    "moment",
    [None, Moment(2.0), Moment(1.5, 1.0), Moment(2.0, 1.0, of="coordinate"), Moment(2.0, 1.0, of="norm")],
    ids=str,
)
@pytest.mark.parametrize("task", ["mean", "regression"])
def test_theorems_need_their_moment(moment, task):
    loss = SquaredDistance() if task == "mean" else Squared()
    problem = Problem(loss, L2Ball(3, 1.0), 1000, 3, moment=moment)
    with pytest.raises(
        ParameterError, match="The 'moment' parameter of clipping with parameters='paper' must be a Moment"
    ):
        CLIPPING.plan(task, problem, Privacy(0.5, 1e-6), "paper")


def test_theorems_need_a_bounded_domain():
    problem = Problem(Squared(), tg.domains.WholeSpace(3), 1000, 3, moment=Moment(2.0, 1.0))
    with pytest.raises(
        ParameterError, match="The 'domain' parameter of clipping with parameters='paper' must be bounded"
    ):
        CLIPPING.plan("regression", problem, Privacy(0.5, 1e-6), "paper")


def test_theorems_need_delta():
    with pytest.raises(
        ParameterError, match=sentence("delta", "clipping with parameters='paper'", "greater than 0", "0.0")
    ):
        _mean(1000, 3, 0.5, 0.0, 2.0, 1.0)


@pytest.mark.parametrize("bound", [1e200, 1e-200, 1e308])
@pytest.mark.parametrize("parameters", ["paper", "practical"])
def test_radii_that_no_grid_can_hold_are_refused_when_planned(bound, parameters):
    with pytest.raises(
        ParameterError, match="The 'threshold' parameter of Clip must be a finite number at least 1e-120"
    ):
        _mean(1000, 3, 0.5, 1e-6, 2.0, bound, parameters)
