"""Public scales in every recipe that would seek private ones: no step for what is given, and no harm by absurd ones."""

import dataclasses

import numpy as np
import pytest

import tailguard as tg
from tailguard.domains import Sparse
from tailguard.errors import ParameterError
from tailguard.losses.base import ResidualLoss
from tailguard.losses.squared_distance import SquaredDistance
from tailguard.plans import Scales, digest, dumps, loads, verify
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tailguard.solvers.scales import LARGEST
from tailguard.solvers.tight_descent import TightDescent
from tests.support import checks
from tests.support.registry_plans import CASES, Descent

SOUGHT = {
    *("feature centre", "feature scale", "feature mean", "feature variance", "common centre", "common scale"),
    *("pooled scale", "row length", "square length", "target centre", "target scale", "leading columns"),
}
LATER = {"sparse mean": {"feature centre"}, "sparse mean, pure": {"feature centre"}}
"""Medians of the columns that a sparse mean picks: there is no public centre of columns that nobody knows yet."""


def _seeks(case):
    known = case.plan.problem.moment is not None and case.plan.privacy.pure  # its bound takes the place of units
    return case.plan.parameters == "practical" and SOUGHT & {step.name for step in case.plan.steps} and not known


def _given(case, factor=1.0, target=1.0):
    """Return the case with all public units that its problem has a use for."""
    problem = case.plan.problem
    units = {"features": np.minimum(factor * 10.0 ** np.arange(case.d), LARGEST)}
    if problem.intercept or (isinstance(problem.loss, SquaredDistance) and not isinstance(problem.domain, Sparse)):
        units["centres"] = 5.0
    if isinstance(problem.loss, ResidualLoss):
        units["target"] = target
        units |= {"target_centre": 5.0} if problem.intercept else {}
    estimator, scales = case.estimator, Scales(**units)
    options = {**estimator.get_params(), "scales": scales, "method": case.plan.recipe}
    if isinstance(estimator, Descent):
        return dataclasses.replace(case, estimator=Descent(**options))
    return dataclasses.replace(case, estimator=type(estimator)(**options))


SEEKING = pytest.mark.parametrize("case", [case for case in CASES if _seeks(case)], ids=str)


@SEEKING
def test_what_is_given_is_not_sought_and_its_share_goes_to_the_fit(case):
    plan = _given(case).plan
    assert SOUGHT & {step.name for step in plan.steps} <= LATER.get(case.name, set())
    assert verify(plan).epsilon <= plan.privacy.epsilon
    assert loads(dumps(plan)) == plan
    assert digest(plan) != digest(case.plan)
    if not isinstance(plan.solver, TightDescent):
        before, after = ({(step.name, step.count): step.multiplier for step in p.steps} for p in (case.plan, plan))
        assert all(after[key] <= 1.001 * before[key] for key in after.keys() & before.keys())


@pytest.mark.parametrize("case", [case for case in CASES if _seeks(case) and case.name != "linear, in a ball"], ids=str)
def test_absurd_scales_cost_no_privacy(case):
    factor, target = (1.0 / LARGEST, 1e70) if len(case.name) % 2 else (1e70, 1.0 / LARGEST)
    absurd = _given(case, factor, target)
    base = absurd.records()
    changed = tuple(part.copy() for part in base)
    for part, value in zip(changed, (np.full(case.d, -1e9), 1e9), strict=False):
        part[7] = value
    checks.check_replay(absurd.plan, absurd.engine(*base), absurd.engine(*changed))
    coefficients = run(absurd.plan, absurd.engine(*base), Simulation(0)).estimate.coefficients
    assert np.all(np.isfinite(coefficients))


@pytest.mark.parametrize(
    ("given", "step"),
    [
        ({"features": 1.0}, "feature scale"),
        ({"centres": 0.0}, "feature centre"),
        ({"target": 1.0}, "target scale"),
        ({"target_centre": 0.0}, "target centre"),
    ],
)
def test_some_units_may_be_given_and_others_sought(given, step):
    plan = tg.LinearRegression(epsilon=2.0, scales=Scales(**given)).plan(20_000, 4)
    names = {"feature centre", "feature scale", "target centre", "target scale"}
    assert {step.name for step in plan.steps} & names == names - {step}


def test_the_ends_that_the_sentence_names_are_units():
    scales = Scales(features=[1e-75, 1e75], target=1e-75, centres=-1e75, target_centre=1e75)
    assert (scales.features, scales.target) == ((1e-75, 1e75), 1e-75)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"features": 0.0}, "'features' parameter of Scales"),
        ({"features": [1.0, np.inf, 1.0]}, "'features' parameter of Scales"),
        ({"features": "wide"}, "'features' parameter of Scales"),
        ({"features": [[1.0]]}, "'features' parameter of Scales"),
        ({"features": {"a": -1.0}}, "'features' parameter of Scales"),
        ({"centres": [np.nan]}, "'centres' parameter of Scales"),
        ({"target": 1e300}, "'target' parameter of Scales"),
        ({"target_centre": True}, "'target_centre' parameter of Scales"),
    ],
)
def test_what_is_no_unit_is_refused_in_a_sentence(wrong, said):
    with pytest.raises(ParameterError, match=said):
        Scales(**wrong)


@pytest.mark.parametrize(
    ("estimator", "scales", "said"),
    [
        (tg.LinearRegression(), Scales([1.0, 1.0]), "3 numbers, one for each column"),
        (tg.LinearRegression(), {"a": 1.0}, "Scales or None"),
        (tg.LinearRegression(fit_intercept=False), Scales(1.0, centres=0.0), "without an intercept"),
        (tg.LogisticRegression(), Scales(1.0, target=1.0), "classes"),
        (tg.Mean(), Scales(1.0, target_centre=1.0), "no target"),
        (tg.SparseMean(1), Scales(1.0, centres=1.0), "sparse mean"),
        (tg.LinearRegression(parameters="paper", radius=1.0, method="clipping"), Scales(1.0), "no theorem has any"),
        (tg.LinearRegression(delta=0.0, moment=tg.Moment(2.0, 1.0)), Scales(1.0), "takes their place"),
    ],
)
def test_units_without_a_use_are_refused_before_any_data(estimator, scales, said):
    with pytest.raises(ParameterError, match=said):
        estimator.set_params(scales=scales).plan(20_000, 3)


def test_no_units_are_no_scales():
    given, none = (tg.Mean(scales=scales).plan(20_000, 3) for scales in (Scales(), None))
    assert digest(given) == digest(none)


def _excess(model, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(10_000, 20)) * 100.0 + 1e4
    slopes = rng.standard_normal(20)
    slopes /= np.linalg.norm(slopes) * 100.0 * np.sqrt(3.0)
    y = (X - 1e4) @ slopes + rng.standard_t(3, size=10_000) / np.sqrt(3.0) + 7.0
    model.set_params(random_state=seed).fit(X, y)
    change = (model.coef_ - slopes) * 100.0 * np.sqrt(3.0)
    return change @ change + (model.intercept_ + 1e4 * model.coef_.sum() - 7.0) ** 2


def test_a_small_budget_fits_well_in_public_units_and_less_well_without():
    plain = tg.LinearRegression(epsilon=0.1)
    assert "feature centre" not in {step.name for step in plain.plan(10_000, 20).steps}
    assert 0.08 < np.median([_excess(plain, seed) for seed in range(600, 603)]) < 0.5
    scales = Scales(170.0, target=1.4, centres=1e4, target_centre=7.0)
    model = tg.LinearRegression(epsilon=0.1, scales=scales)
    assert isinstance(model.plan(10_000, 20).solver, TightDescent)
    assert np.median([_excess(model, seed) for seed in range(600, 603)]) < 0.12


@pytest.mark.parametrize("wrong", [{"features": 1e-6}, {"features": 1e9}, {"target": 1e-6}])
def test_wrong_units_lead_to_the_null_model_at_worst(wrong):
    units = {"features": 170.0, "target": 1.4, "centres": 1e4, "target_centre": 7.0} | wrong
    model = tg.LinearRegression(epsilon=0.1, scales=Scales(**units))
    assert np.median([_excess(model, seed) for seed in range(600, 603)]) < 1.05
