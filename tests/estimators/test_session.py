"""Estimators inside a session: charged before they read, and no way around it by scores or resampled rows."""

import ast
import importlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingRegressor
from sklearn.feature_selection import RFE, RFECV
from sklearn.linear_model import RANSACRegressor
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.semi_supervised import SelfTrainingClassifier

import tailguard as tg
from tailguard.estimators.base import PrivateEstimator
from tailguard.plans import digest

rng = np.random.default_rng(0)
X = rng.standard_t(3, size=(20_000, 2))
y = X @ [1.0, -1.0] + rng.standard_t(3, size=20_000)
labels = (y > 0).astype(int)
kernel = importlib.import_module("tailguard.run.run")


@pytest.fixture
def session(tmp_path):
    return tg.Session(tmp_path / "ledger.db", epsilon=8.0, delta=1e-6)


def concrete(cls=PrivateEstimator):
    for sub in cls.__subclasses__():
        yield from concrete(sub)
    if cls.__module__.startswith("tailguard.") and cls.__name__ in tg.__all__:
        yield cls


@pytest.mark.parametrize(
    "kind", sorted(set(concrete()), key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__
)
def test_every_estimator_is_charged_before_it_reads(kind, session, monkeypatch):
    needed = {"radius": 2.0} if kind is tg.Lasso else {}

    def no_records(plan, answer):
        (charge,) = session.statement().charges
        assert charge.digest == digest(plan)
        raise InterruptedError

    monkeypatch.setattr(kernel, "drive", no_records)
    classifier = getattr(kind, "_estimator_type", "") == "classifier" or "classes" in kind().get_params()
    with pytest.raises(InterruptedError):
        kind(epsilon=4.0, session=session, **needed).fit(X, labels if classifier else y)
    assert len(session.check().charges) == 1  # a crash wastes budget


def test_there_are_estimators():
    assert {"Mean", "LinearRegression", "SparseMean"} <= {kind.__name__ for kind in concrete()}


def test_a_fit_beyond_the_budget_reads_nothing(session, monkeypatch):
    tg.LinearRegression(epsilon=4.0, session=session).fit(X, y)
    monkeypatch.setattr(kernel, "drive", None)
    for _ in range(2):
        with pytest.raises(tg.BudgetError, match=r"costs ρ = .*, and the session has ρ = .* left"):
            tg.LinearRegression(epsilon=8.0, session=session).fit(X, y)
    assert len(session.statement().charges) == 1


def test_the_whole_budget_may_go_into_one_fit(tmp_path):
    session = tg.Session(tmp_path / "one.db", epsilon=1.0, delta=1e-6)
    model = tg.Mean(epsilon=1.0, delta=1e-6, session=session).fit(X)
    assert model.release_.receipt.number == 1
    assert 0.99 < session.statement().spent <= 1.0
    with pytest.raises(tg.BudgetError, match=r"ρ = 0 of"):
        tg.Mean(epsilon=0.1, session=session).fit(X)


def test_minimize_is_charged(session):
    release = tg.minimize(
        tg.losses.SquaredDistance(), tg.domains.L2Ball(2, 1.0), X, tg.Privacy(1.0, 1e-6), session=session
    )
    assert release.receipt.ledger == session.statement().identity
    assert [charge.digest for charge in session.check().charges] == [release.digest]


def test_reports_say_who_paid(session):
    free, paid = tg.Mean(epsilon=1.0).fit(X).release_, tg.Mean(epsilon=1.0, session=session).fit(X).release_
    line = f"line 1 of ledger {session.statement().identity}, total budget ε = 8, δ = 1e-06"
    for write in (lambda release: tg.report.summary(release, width=200), tg.report.html):
        assert line in write(paid)
        assert "Paid by" not in write(free)
    assert free.receipt is None


def test_a_simulation_is_not_charged_but_refused(session):
    with pytest.raises(tg.ParameterError, match="random_state must be None"):
        tg.Mean(epsilon=1.0, random_state=0, session=session).fit(X)
    assert session.statement().charges == ()


def test_wrong_parameters_cost_nothing(session):
    for wrong in ({"numerics": "decimal"}, {"method": "nonsense"}, {"epsilon": -1.0}, {"moment": 3}):
        with pytest.raises(tg.ParameterError):
            tg.Mean(session=session, **wrong).fit(X)
    with pytest.raises(tg.DataError):
        tg.LinearRegression(session=session).fit(X, y[:-1])
    assert session.statement().charges == ()


@pytest.mark.parametrize(
    "kind", sorted(set(concrete()), key=lambda kind: kind.__name__), ids=lambda kind: kind.__name__
)
def test_no_estimator_has_a_score_inside_a_session(kind, session):
    model = kind(session=session, **({"radius": 2.0} if kind is tg.Lasso else {}))
    if hasattr(model, "score"):
        with pytest.raises(tg.BudgetError, match=r"tg\.evaluate"):
            model.score(X, y)


def test_scores_are_refused(session):
    model = tg.LinearRegression(epsilon=1.0, session=session).fit(X, y)
    classifier = tg.LogisticRegression(epsilon=1.0, session=session).fit(X, labels)
    for fitted, target in ((model, y), (classifier, labels)):
        with pytest.raises(tg.BudgetError, match=r"tg\.evaluate"):
            fitted.score(X, target)
        fitted.predict(X[:5])
    assert tg.LinearRegression(epsilon=1.0).fit(X, y).score(X, y) > 0.0
    assert tg.LogisticRegression(epsilon=1.0).fit(X, labels).score(X, labels) > 0.5


GRID = {"radius": [1.0, 10.0]}


@pytest.mark.parametrize(
    "search",
    [
        lambda model: GridSearchCV(model, GRID).fit(X, y),
        lambda model: GridSearchCV(model, GRID, n_jobs=2).fit(X, y),
        lambda model: GridSearchCV(model, GRID, scoring="neg_median_absolute_error", error_score="raise").fit(X, y),
        lambda model: GridSearchCV(model, {"session": [None]}).fit(X, y),
        lambda model: GridSearchCV(make_pipeline(model), {"linearregression__radius": [1.0]}, n_jobs=2).fit(X, y),
        lambda model: RandomizedSearchCV(model, GRID, n_iter=2).fit(X, y),
        lambda model: cross_val_score(model, X, y, error_score="raise"),
        lambda model: cross_validate(model, X, y),
        lambda model: cross_val_predict(model, X, y),
        lambda model: learning_curve(model, X, y),
        lambda model: BaggingRegressor(model).fit(X, y),
        lambda model: RFECV(model, cv=2, scoring="r2").fit(X, y),
        lambda model: RANSACRegressor(model, min_samples=0.5, random_state=0).fit(X, y),
    ],
    ids=[
        "grid",
        "workers",
        "scoring",
        "escape",
        "pipeline",
        "random",
        "score",
        "validate",
        "predict",
        "curve",
        "bagging",
        "folds",
        "inliers",
    ],
)
def test_searches_and_resampling_are_refused_before_anything_is_spent(session, search):
    # A pipeline's fits are refused one by one in the workers, and scikit-learn quotes that in an error of its own.
    with pytest.raises(ValueError, match=r"tg\.select .* tg\.evaluate"):
        search(tg.LinearRegression(epsilon=0.5, session=str(session.path)))
    assert session.statement().charges == ()


def test_a_search_may_be_shown(session):
    search = GridSearchCV(tg.LinearRegression(session=session), GRID)
    assert "Session(" in repr(search)
    assert "LinearRegression" in search._repr_html_()


def test_a_session_in_the_grid_is_found_in_the_fit(session):
    with pytest.raises(ValueError, match=r"tg\.select"):
        GridSearchCV(tg.LinearRegression(), {"session": [session]}).fit(X, y)
    assert session.statement().charges == ()


def test_calibration_is_refused(session):
    with pytest.raises(tg.BudgetError, match=r"sklearn\.calibration"):
        CalibratedClassifierCV(tg.LogisticRegression(session=session)).fit(X, labels)
    assert session.statement().charges == ()


@pytest.mark.parametrize("wrapper", [OneVsOneClassifier, OneVsRestClassifier, SelfTrainingClassifier])
def test_fits_to_rows_that_labels_choose_are_refused(session, wrapper):
    # The number of rows of two classes, or of classes, would be published exactly.
    with pytest.raises(tg.BudgetError, match=r"sklearn\.(multiclass|semi_supervised)"):
        wrapper(tg.LogisticRegression(session=session)).fit(X, np.where(X[:, 0] > 0, labels, -1))
    assert session.statement().charges == ()


def test_columns_may_be_eliminated_on_all_rows(session):
    found = RFE(tg.LinearRegression(epsilon=0.2, session=session), n_features_to_select=1).fit(X, y)
    assert found.n_features_ == 1
    assert {charge.n for charge in session.statement().charges} == {len(X)}


def test_parts_of_the_rows_are_refused_once_the_session_knows_how_many_there_are(session):
    tg.Mean(epsilon=0.5, session=session).fit(X)
    with pytest.raises(tg.BudgetError, match="20000 rows, and this plan is for 10000"):
        tg.Mean(epsilon=0.5, session=session).fit(X[:10_000])


def test_pipelines_of_fixed_transformations_work(session):
    pipeline = make_pipeline(FunctionTransformer(np.arctan), tg.LinearRegression(epsilon=1.0, session=session))
    pipeline.fit(X, y)
    assert len(session.statement().charges) == 1
    with pytest.raises(tg.BudgetError, match=r"tg\.evaluate"):
        pipeline.score(X, y)
    assert tg.evaluate(pipeline, X, y, epsilon=1.0, measures=["r2"]).release.receipt.number == 2


def test_a_replay_is_refused(session):
    with pytest.raises(tg.BudgetError, match="exact data"):
        tg.audit.replay(tg.Mean(session=session), (X,), (X,))


def test_an_evaluation_is_charged_to_the_session_of_its_rows(session, tmp_path):
    model = tg.LinearRegression(epsilon=1.0, session=session).fit(X, y)
    result = tg.evaluate(model, X, y, epsilon=0.5, measures=["r2"])
    assert result.release.receipt.number == 2
    assert [charge.digest for charge in session.check().charges] == [model.release_.digest, result.release.digest]
    half = X[:10_000], y[:10_000]
    with pytest.raises(tg.BudgetError, match="20000 rows"):
        tg.evaluate(model, *half, epsilon=0.5, measures=["r2"])
    other = tg.Session(tmp_path / "held-out.db", epsilon=1.0)
    assert tg.evaluate(model, *half, epsilon=0.5, measures=["r2"], session=other).release.receipt.number == 1
    assert len(session.statement().charges) == 2


def test_a_selection_is_charged_once_and_its_models_stay_inside(session):
    models = {"one column": (tg.LinearRegression(), [0]), "all": tg.LinearRegression()}
    chosen = tg.select(models, X, y, epsilon=2.0, delta=1e-6, session=session)
    assert [charge.digest for charge in session.check().charges] == [chosen.release_.digest]
    for model in chosen.estimators_.values():
        with pytest.raises(tg.BudgetError, match=r"tg\.evaluate"):
            model.score(X, y)
    result = tg.evaluate(chosen.best_estimator_, X, y, epsilon=0.5, measures=["r2"])
    assert result.release.receipt.number == 2
    for release in (chosen.release_, chosen.best_estimator_.release_, result.release):
        assert tg.plans.check_certificate(release.certificate()).guarantee == release.guarantee


def test_nothing_is_run_without_a_thought_of_the_session():
    """Every call of the kernel from an estimator, a function or the command line hands a session on."""
    source, found = Path(tg.__file__).parent, 0
    for path in [*(source / "estimators").glob("*.py"), *(source / "cli").glob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "run":
                found += 1
                assert len(node.args) + len(node.keywords) == 4, path.name
    assert found >= 5


def test_an_evaluation_of_a_chosen_model_is_paid_by_its_session(session):
    chosen = tg.select([tg.LinearRegression(), (tg.LinearRegression(), [0])], X, y, epsilon=1.0, session=session)
    tg.evaluate(chosen, X, y, epsilon=0.5)
    assert [charge.label.split(",")[0] for charge in session.statement().charges] == ["selection", "evaluation"]
