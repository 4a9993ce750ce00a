"""Recipes and theory state the papers' numbers independently; they must be the same numbers."""

from dataclasses import replace

import numpy as np
import pytest

from tailguard.domains import L1Ball, Polytope, Simplex, Sparse
from tailguard.losses import Squared
from tailguard.plans import Moment, Problem
from tailguard.privacy import Privacy
from tailguard.recipes import (
    catoni_thresholding,
    clipping,
    frank_wolfe,
    iterative_updating,
    shrunken_lasso,
    shrunken_thresholding,
    thresholding,
    truncated_mean,
    truncated_thresholding,
)
from tailguard.recipes.prediction import theorem_error
from tailguard.theory import Setting, hu, tao, zhao

SETTINGS = [
    Setting(n=n, d=d, epsilon=epsilon, delta=delta, order=order, bound=bound, failure=0.15)
    for n, d, epsilon, delta in ((1000, 1, 0.1, 1e-5), (50_000, 7, 1.0, 1e-6))
    for order, bound in ((2.0, 1.0), (3.5, 0.2))
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_zhao(setting):
    rho = clipping.concentrated_budget(Privacy(setting.epsilon, setting.delta))
    assert rho == pytest.approx(setting.rho, rel=1e-12)
    radius = clipping.clip_radius(setting.n, setting.d, rho, setting.order, setting.bound)
    assert radius == pytest.approx(zhao.clip_radius(setting), rel=1e-12)
    wide = iterative_updating.updating_radius(setting.n, setting.d, setting.epsilon, setting.order, setting.bound)
    assert wide == pytest.approx(zhao.iterated_radius(setting), rel=1e-12)


@pytest.mark.parametrize("order", [1.2, 1.5, 2.0])
def test_tao(order):
    # The theorem fails with three times the ξ for which its threshold is set.
    setting = Setting(n=5000, epsilon=0.3, delta=1e-6, order=order, bound=4.0, failure=3 * truncated_mean.FAILURE)
    threshold = truncated_mean.truncation_threshold(5000, Privacy(0.3, 1e-6), order, 4.0)
    assert threshold == pytest.approx(tao.truncation_threshold(setting), rel=1e-12)


@pytest.mark.parametrize(
    ("domain", "norm", "expected"),
    [
        (L1Ball(6, radius=1.5), "l1", {"diameter": 3.0, "vertices": None}),
        (Simplex(6), "l1", {"diameter": 2.0, "vertices": 6}),
        (Polytope(((1.0, 2.0), (0.0, -1.0), (0.0, 0.0))), "l1", {"d": 2, "diameter": 6.0, "vertices": 3}),
        (Polytope(((3.0, 4.0), (0.0, -1.0))), "l2", {"d": 2, "diameter": 10.0, "vertices": 2}),
        (Sparse(6, sparsity=2, radius=1.0), "l2", {"diameter": 2.0, "sparsity": 2}),
        (Sparse(6, sparsity=2), "l2", {"diameter": 1.0, "sparsity": 2}),
    ],
    ids=str,
)
def test_the_facts_of_a_domain_reach_the_theorem(domain, norm, expected):
    seen = []
    problem = Problem(Squared(), domain, 100, domain.dimension, moment=Moment(2.0, 3.0), smoothness=2.0)
    error = theorem_error(lambda setting: seen.append(setting) or 1.0, problem, Privacy(1.0, 1e-6), norm)
    assert error == 1.0
    facts = {"d": 6, "n": 100, "bound": 3.0, "smoothness": 2.0, "convexity": 2.0} | expected
    assert {name: getattr(seen[0], name) for name in facts} == facts


def _told(setting, loss, domain):
    moment = Moment(setting.order, setting.bound, "coordinate")
    curvature = {"smoothness": setting.smoothness, "strong_convexity": setting.convexity}
    return Problem(loss, domain, setting.n, setting.d, moment=moment, **curvature)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize(("s", "curvature"), [(1, {}), (3, {"smoothness": 1.5, "convexity": 1.0})])
def test_thresholding(epsilon, s, curvature):
    setting = Setting(
        n=20_000, d=900, epsilon=epsilon, order=4.0, bound=0.7, failure=thresholding.FAILURE, sparsity=s, **curvature
    )
    privacy, second = Privacy(epsilon, setting.delta), replace(setting, order=2.0)
    problem = _told(setting, Squared(), Sparse(900, sparsity=s, radius=1.0))
    plan = shrunken_thresholding.plan_with(problem, privacy)
    assert (plan.solver.sparsity, plan.solver.steps) == (hu.kept(setting), hu.thresholding_steps(setting))
    assert plan.solver.step_size == pytest.approx(hu.thresholding_step(setting), rel=1e-12)
    assert plan.solver.entries.threshold == pytest.approx(hu.shrunken_thresholding_threshold(setting), rel=1e-12)
    for recipe, parameter in (
        (catoni_thresholding, hu.catoni_thresholding_scale),
        (truncated_thresholding, tao.sparse_threshold),
    ):
        plan = recipe.plan_with(_told(second, Squared(), problem.domain), privacy)
        assert plan.solver.entries.threshold == pytest.approx(parameter(second), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("domain", [L1Ball(50, radius=1.5), Simplex(50), Polytope(((1.0, 2.0), (0.0, -1.0)))], ids=str)
def test_frank_wolfe(epsilon, domain):
    corners = None if isinstance(domain, L1Ball) else len(domain.vertices())
    distances = np.abs(domain.vertices()[:, None] - domain.vertices()).sum(axis=2)
    setting = Setting(
        n=20_000,
        d=domain.dimension,
        epsilon=epsilon,
        bound=0.7,
        failure=truncated_mean.FAILURE,
        diameter=distances.max(),
        smoothness=3.0,
        vertices=corners,
    )
    facts = (setting.n, domain, epsilon, setting.smoothness, setting.bound)
    steps = frank_wolfe.convex_steps(*facts)
    assert steps == hu.frank_wolfe_steps(setting)
    candidates = len(domain.vertices()) * setting.d
    scale = frank_wolfe.smoothing_scale(setting.n, candidates, epsilon, steps, setting.bound)
    assert scale == pytest.approx(hu.frank_wolfe_scale(setting), rel=1e-12)
    steps = frank_wolfe.robust_steps(*facts)
    assert steps == hu.robust_steps(setting)
    scale = frank_wolfe.smoothing_scale(setting.n, setting.d, epsilon, steps, setting.bound)
    assert scale == pytest.approx(hu.robust_scale(setting), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_shrunken_lasso(epsilon):
    setting = Setting(
        n=50_000, d=50, epsilon=epsilon, order=4.0, bound=0.3, failure=truncated_mean.FAILURE, smoothness=3.0
    )
    privacy = Privacy(epsilon, setting.delta)
    steps = shrunken_lasso.lasso_steps(setting.n, setting.d, privacy, setting.smoothness, setting.bound)
    assert steps == hu.shrunken_lasso_steps(setting)
    threshold = shrunken_lasso.shrinkage(setting.n, epsilon, steps, setting.bound)
    assert threshold == pytest.approx(hu.shrunken_lasso_threshold(setting), rel=1e-12)
