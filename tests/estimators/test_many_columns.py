"""LASSO, robust and sparse models: parameters, domains, sparse records, and answers that are worth their budget."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model
from sklearn.base import clone

import tailguard as tg
from tailguard.audit import replay
from tailguard.domains import L1Ball, Sparse
from tailguard.engines.numpy import NumpyEngine
from tailguard.errors import BudgetError, ParameterError
from tailguard.losses import Biweight, Huber
from tests.support.neighbours import HOSTILE
from tests.support.sentences import sentence

MODELS = {
    "Lasso": tg.Lasso(2.0),
    "Lasso, pure": tg.Lasso(2.0, delta=0.0),
    "Huber": tg.RobustRegression(),
    "biweight": tg.RobustRegression("biweight", 3.0),
    "Huber on a simplex, pure": tg.RobustRegression(domain=tg.domains.Simplex(6), delta=0.0),
    "sparse linear": tg.SparseLinearRegression(2),
    "sparse linear, auto": tg.SparseLinearRegression(),
    "sparse linear, pure": tg.SparseLinearRegression(2, delta=0.0),
    "sparse logistic": tg.SparseLogisticRegression(2),
    "sparse logistic, auto": tg.SparseLogisticRegression(),
    "sparse mean": tg.SparseMean(2),
    "sparse mean, pure": tg.SparseMean(2, delta=0.0),
    "many columns": tg.LinearRegression(method="centred_descent"),
    "many columns, classes": tg.LogisticRegression(method="centred_descent"),
}
each = pytest.mark.parametrize("estimator", MODELS.values(), ids=MODELS.keys())


def _records(n=600, d=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(n, d)) * (rng.random((n, d)) < 0.3)
    y = X @ np.repeat([1.0, -1.0, 0.0], [1, 1, d - 2]) + rng.standard_normal(n)
    return X, y


def _fitted(estimator, X, y, **options):
    model = clone(estimator).set_params(**{"epsilon": 300.0, "random_state": 0, **options})
    if isinstance(model, tg.SparseLogisticRegression | tg.LogisticRegression):
        y = (y > 0.0).astype(float)
    return model.fit(X, y)


def _answer(model):
    return model.mean_ if isinstance(model, tg.Mean) else np.append(model.coef_, model.intercept_)


@each
def test_sparse_records_give_the_very_model_of_dense_ones(estimator):
    X, y = _records()
    expected = _answer(_fitted(estimator, X, y))
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        np.testing.assert_array_equal(_answer(_fitted(estimator, kind(X), y)), expected)


@each
def test_sparse_records_are_never_made_dense(estimator, monkeypatch):
    X, y = _records()
    records = sparse.csr_array(X)
    for kind in {base for base in type(records).__mro__ if hasattr(base, "toarray")}:
        monkeypatch.setattr(kind, "toarray", None)
    model = _fitted(estimator, records, y)
    if not isinstance(model, tg.Mean):
        np.testing.assert_allclose(model.predict(records), model.predict(X), rtol=1e-12, atol=1e-12)


@each
def test_answers_lie_in_their_domain(estimator):
    model = _fitted(estimator, *_records())
    domain = model.plan_.problem.domain
    assert domain.contains(model.mean_ if isinstance(model, tg.Mean) else model.coef_)


@each
def test_no_value_raises_or_warns_and_no_neighbour_moves_a_statistic_too_far(estimator):
    X, y = _records(n=80)
    hostile = np.random.default_rng(1).choice(np.array(HOSTILE), size=(80, 6))
    assert np.all(np.isfinite(_answer(_fitted(estimator, hostile, hostile[:, 0], epsilon=1e5))))
    other = X.copy()
    other[0] = 1e300
    model = clone(estimator).set_params(epsilon=1e5)
    labels = (y > 0.0).astype(float)
    pair = [(part,) if isinstance(estimator, tg.Mean) else (part, labels) for part in (X, other)]
    assert replay(model, *pair).holds


@each
def test_an_impossible_budget_is_refused_before_the_records_are_read(estimator, monkeypatch):
    monkeypatch.setattr(NumpyEngine, "_load", lambda *_: pytest.fail("a record was read"))
    with pytest.raises(BudgetError, match=rf"{type(estimator).__name__} \(n_samples = 50\): .* it needs about"):
        _fitted(estimator, np.zeros((50, 6)), np.zeros(50), epsilon=0.1)


SPARSE = [tg.SparseLinearRegression, tg.SparseLogisticRegression, tg.SparseMean]


@pytest.mark.parametrize("make", SPARSE)
@pytest.mark.parametrize("sparsity", [0, -1, 7, 2.5, True, None])
def test_a_wrong_sparsity_is_refused_in_a_sentence(make, sparsity):
    rule = sentence("sparsity", make.__name__, "an integer of at least 1 and at most 6", repr(sparsity))
    with pytest.raises(ParameterError, match=rule):
        make(sparsity).plan(10_000, 6)


def test_a_sparsity_is_automatic_only_where_the_budget_pays_for_the_choice():
    for make in SPARSE[:2]:
        with pytest.raises(ParameterError, match=sentence("sparsity", make.__name__, "an integer or 'auto'", "'all'")):
            make("all").plan(10_000, 6)
        with pytest.raises(ParameterError, match=r"must be an integer for the method 'sparse_rounds'. Got 'auto'"):
            make("auto", method="sparse_rounds").plan(10_000, 6)
        with pytest.raises(ParameterError, match=sentence("delta", "sparse_path", "greater than 0", "0.0")):
            make("auto", delta=0.0).plan(10_000, 6)
        assert make("auto").plan(10_000, 6) == make("auto", method="sparse_path").plan(10_000, 6)
    with pytest.raises(ParameterError, match="The 'sparsity' parameter of SparseMean must be an integer of at least 1"):
        tg.SparseMean("auto").plan(10_000, 6)


@pytest.mark.parametrize(
    ("estimator", "rule"),
    [
        (tg.Lasso(0.0), sentence("radius", "Lasso", "a finite number greater than 0", "0.0")),
        (tg.Lasso(None), sentence("radius", "Lasso", "a finite number greater than 0", "None")),
        (tg.RobustRegression("square"), "The 'loss' parameter of RobustRegression must be one of 'huber', 'biweight'"),
        (
            tg.RobustRegression(threshold=-1.0),
            sentence("threshold", "RobustRegression", "a finite number greater than 0"),
        ),
        (
            tg.RobustRegression(parameters="paper"),
            "The 'threshold' parameter of RobustRegression with parameters='paper'",
        ),
        (tg.RobustRegression(radius=1.0, domain=L1Ball(6, 1.0)), "must be None where a domain is given"),
        (tg.SparseLinearRegression(2, radius=-1.0), "The 'radius' parameter of Sparse must be"),
        (tg.SparseLinearRegression(2, fit_intercept=1), "The 'fit_intercept' parameter of SparseLinearRegression"),
    ],
    ids=str,
)
def test_wrong_parameters(estimator, rule):
    with pytest.raises(ParameterError, match=rule):
        estimator.plan(10_000, 6)


def test_estimators_become_the_problems_that_they_say():
    assert tg.Lasso(3.0).plan(9_000, 5).problem.domain == L1Ball(5, 3.0)
    assert tg.SparseLinearRegression(2, radius=4.0).plan(9_000, 5).problem.domain == Sparse(5, 2, 4.0)
    assert tg.SparseMean(2).plan(9_000, 5).problem.domain == Sparse(5, 2)
    assert tg.RobustRegression().plan(9_000, 5).problem.loss == Huber(1.345, relative=True)
    assert tg.RobustRegression("biweight").plan(9_000, 5).problem.loss == Biweight(4.685, relative=True)
    assert tg.RobustRegression("biweight", 2.0).plan(9_000, 5).problem.loss == Biweight(2.0)


PAPER = {"epsilon": 0.8, "parameters": "paper", "fit_intercept": False}


def test_theorem_parameters():
    second, fourth = tg.Moment(2.0, 3.0, of="coordinate"), tg.Moment(4.0, 3.0, of="coordinate")
    assert tg.Lasso(1.0, moment=fourth, **PAPER).plan(9_000, 5).recipe == "shrunken_lasso"
    assert tg.Lasso(1.0, moment=second, delta=0.0, **PAPER).plan(9_000, 5).recipe == "frank_wolfe"
    robust = tg.RobustRegression("biweight", 2.0, domain=L1Ball(5, 1.0), moment=second, **PAPER)
    assert robust.plan(9_000, 5).recipe == "frank_wolfe"
    assert tg.SparseLinearRegression(1, radius=1.0, moment=fourth, **PAPER).plan(9_000, 5).parameters == "paper"
    assert tg.SparseLogisticRegression(1, moment=second, **PAPER).plan(9_000, 5).recipe == "catoni_thresholding"
    mean = tg.SparseMean(1, epsilon=0.8, parameters="paper", moment=second)
    assert mean.plan(9_000, 5).recipe == "catoni_thresholding"


def test_the_lasso_tends_to_the_constrained_minimiser():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 4)) * [1.0, 3.0, 0.5, 1.0] + [0.0, 2.0, 0.0, 0.0]
    y = X @ [1.0, 0.5, 0.0, -1.0] + 3.0 + rng.normal(size=3_000)
    theirs = linear_model.Lasso(alpha=0.3).fit(X, y)  # a penalty has a radius
    ours = tg.Lasso(float(np.abs(theirs.coef_).sum()), epsilon=1e6, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.02)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=0.05)


@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("loss", ["huber", "biweight"])
def test_robust_regression_fits_the_bulk_in_any_unit(loss, unit):
    """One row in ten is spoilt, all on one side; least squares is off by far."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8_000, 3))
    y = X @ [1.0, -1.0, 0.0] + rng.standard_normal(8_000)
    y[:800] = 100.0 * X[:800, 2] + 1000.0
    found = tg.RobustRegression(loss, epsilon=2.0, random_state=0).fit(X, unit * y)
    assert np.abs(found.coef_ / unit - [1.0, -1.0, 0.0]).max() < (0.3 if loss == "huber" else 0.15)
    plain = tg.LinearRegression(epsilon=1e6, random_state=0).fit(X, unit * y)
    assert np.abs(plain.coef_ / unit - [1.0, -1.0, 0.0]).max() > 5.0


def test_sparse_models_with_more_columns_than_rows():
    rng = np.random.default_rng(900)
    X = sparse.random_array((3_000, 5_000), density=0.1, rng=rng, data_sampler=rng.standard_normal).tocsr()
    w = np.zeros(5_000)
    w[:4] = 2.0
    y = X @ w + 0.5 * rng.standard_normal(3_000)
    model = tg.SparseLinearRegression(4, epsilon=4.0, random_state=900).fit(X, y)
    assert np.count_nonzero(model.coef_[:4]) >= 3
    assert np.count_nonzero(model.coef_) <= 4


def test_classes_and_means_are_found_among_many_columns():
    rng = np.random.default_rng(900)
    X = rng.standard_t(3, size=(8_000, 300))
    y = rng.random(8_000) < 1 / (1 + np.exp(X[:, 7] - X[:, 9]))
    logistic = tg.SparseLogisticRegression(2, random_state=900).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(logistic.coef_), [7, 9])
    assert logistic.coef_[9] > 0.5 > -0.5 > logistic.coef_[7]
    X[:, 11] += 0.5
    mean = tg.SparseMean(1, random_state=900).fit(X)
    assert np.flatnonzero(mean.mean_).tolist() == [11]
    assert mean.mean_[11] == pytest.approx(0.5, abs=0.1)
