"""The parameter `scales`: by number, by order, by name, in frames, pickles, clones and selections."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import tailguard as tg

UNITS = {"b": 20.0, "a": 2.0}
SCALES = tg.Scales(UNITS, target=3.0, centres={"a": 1.0, "b": -5.0}, target_centre=4.0)
ESTIMATORS = [
    *(tg.LinearRegression, tg.LogisticRegression, tg.RobustRegression, tg.LeastAbsoluteDeviations, tg.LinearSVC),
    *(tg.Lasso, tg.SparseLinearRegression, tg.SparseLogisticRegression, tg.Mean, tg.SparseMean),
]


def _frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": 2.0 * rng.standard_t(3, 5000) + 1.0, "b": 20.0 * rng.standard_t(3, 5000) - 5.0})
    return frame, 4.0 + frame["a"] + rng.standard_t(3, 5000)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_estimator_has_scales_that_survive_copies(kind):
    model = kind(scales=tg.Scales(UNITS))
    assert clone(model).get_params()["scales"] == tg.Scales(UNITS)
    assert pickle.loads(pickle.dumps(model)).scales == tg.Scales(UNITS)
    assert kind().set_params(scales=SCALES).scales is SCALES
    assert kind().scales is None


def test_names_are_those_of_the_columns_in_any_order():
    X, y = _frame()
    model = tg.LinearRegression(scales=SCALES, random_state=0).fit(X, y)
    assert model.plan_.problem.scales == tg.Scales((2.0, 20.0), target=3.0, centres=(1.0, -5.0), target_centre=4.0)
    assert model.plan_ == model.plan(5000, 2, names=["a", "b"])
    assert abs(model.coef_[0] - 1.0) < 0.2
    by_order = tg.LinearRegression(scales=model.plan_.problem.scales, random_state=0).fit(X.to_numpy(), y.to_numpy())
    assert np.array_equal(by_order.coef_, model.coef_)


@pytest.mark.parametrize("other", [["a", "c"], ["a", "b", "c"], ["a", "a"]])
def test_other_names_are_refused(other):
    with pytest.raises(tg.ParameterError, match="exactly the columns of the records, by name"):
        tg.LinearRegression(scales=SCALES).plan(5000, len(other), names=other)


def test_records_without_names_need_numbers_in_order():
    X, y = _frame()
    with pytest.raises(tg.ParameterError, match="by name"):
        tg.LinearRegression(scales=SCALES).fit(X.to_numpy(), y)


def test_one_number_is_for_all_columns():
    problem = tg.Mean(scales=tg.Scales(2.0, centres=1)).plan(5000, 3).problem
    assert problem.scales == tg.Scales((2.0,) * 3, centres=(1.0,) * 3)


def test_minimize_and_select_take_scales_too():
    X, y = _frame()
    domain, budget = tg.domains.WholeSpace(2), tg.Privacy(1.0, 1e-6)
    release = tg.minimize(tg.losses.Huber(1.0), domain, (X, y), budget, intercept=True, scales=SCALES, random_state=0)
    assert release.plan.problem.scales.features == (2.0, 20.0)
    with pytest.raises(tg.ParameterError, match="'scales' parameter of minimize"):
        tg.minimize(tg.losses.Huber(1.0), domain, (X, y), budget, scales=[1.0, 1.0])
    narrow = tg.LinearRegression(scales=tg.Scales({"b": 20.0}, centres={"b": -5.0}))
    chosen = tg.select({"all": tg.LinearRegression(scales=SCALES), "b": (narrow, ["b"])}, X, y, random_state=0)
    assert chosen.best_name_ == "all"


def test_reports_and_certificates_say_what_was_taken_as_public():
    X, y = _frame()
    model = tg.LinearRegression(scales=SCALES).fit(X, y)
    text = " ".join(tg.report.summary(model.plan_).split())
    assert "centres of the columns (1, -5); scales of the columns (2, 20); centre of the target (4)" in text
    certificate = model.release_.certificate()
    assert any("were not computed from the rows" in sentence for sentence in certificate["assumed"])
    assert tg.plans.check_certificate(certificate).plan == model.plan_
