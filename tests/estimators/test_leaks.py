"""What a fitted estimator keeps: releases and public facts, not a bit of a record."""

import pickle
import struct

import numpy as np
import pytest

import tailguard as tg
from tailguard.audit import replay

MARKS = (123456.789, -98765.4321, 31.25)
MODELS = [
    *(tg.Mean, tg.LinearRegression, tg.LogisticRegression, tg.Lasso, tg.RobustRegression),
    *(tg.SparseLinearRegression, tg.SparseLogisticRegression, tg.SparseMean),
    *(tg.LinearSVC, tg.LeastAbsoluteDeviations),
]
each = pytest.mark.parametrize("make", MODELS)


def _records(n=500):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] > 0).astype(float)
    X[0] = MARKS[:2]
    return X, y


@each
def test_no_record_is_kept(make):
    X, y = _records()
    model = make(epsilon=20.0, random_state=0).fit(X, y)
    written = pickle.dumps(model) + pickle.dumps(model.release_)
    for value in X[:50].ravel():
        for layout in ("<d", ">d", "<f"):
            assert struct.pack(layout, value) not in written
    for mark in MARKS[:2]:
        assert repr(mark) not in repr(vars(model))


@each
def test_everything_learned_is_released(make):
    """Fitted attributes are functions of the release and of public parameters: the audit finds nothing else moves."""
    X, y = _records()
    other = X.copy()
    other[0] = MARKS[::-1][:2]
    records = [(part,) if issubclass(make, tg.Mean) else (part, y) for part in (X, other)]
    assert replay(make(epsilon=20.0), *records).holds
    model = make(epsilon=20.0, random_state=0).fit(X, y)
    public = {"plan_", "privacy_", "n_iter_", "n_features_in_", "classes_", "release_"}
    learned = {name for name in vars(model) if name.endswith("_")} - public
    parts = ["mean"] if issubclass(make, tg.Mean) else ["coef", "intercept"]
    assert learned == {f"{part}{ending}" for part in parts for ending in ("_", "_std_error_")}
    estimate = model.release_.estimate
    np.testing.assert_array_equal(getattr(model, f"{parts[0]}_"), estimate.coefficients)
    errors = [getattr(model, f"{part}_std_error_") for part in parts]
    if estimate.uncertainty is None:
        assert errors == [None] * len(parts)
    else:
        np.testing.assert_array_equal(np.hstack(errors), estimate.uncertainty.std_error)


@each
def test_public_facts_are_the_same_for_all_data(make):
    X, y = _records()
    one = make(epsilon=20.0, random_state=0).fit(X, y)
    two = make(epsilon=20.0, random_state=0).fit(np.full_like(X, np.nan), np.full_like(y, np.inf))
    assert one.plan_ == two.plan_
    assert one.privacy_ == two.privacy_
    assert one.n_iter_ == two.n_iter_
    assert one.release_.numerics == two.release_.numerics
    assert [reply.step for reply in one.release_.released] == [reply.step for reply in two.release_.released]
