"""`evaluate`: how well a fixed model predicts records that it has not seen, privately."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator
from sklearn.linear_model import GammaRegressor, PoissonRegressor, SGDClassifier, TweedieRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples, check_is_fitted

from tailguard._validate import choice, real, refuse
from tailguard.engines import Engine
from tailguard.errors import DataError
from tailguard.estimators.answers import answers
from tailguard.estimators.base import LinearModel
from tailguard.estimators.candidates import narrowed
from tailguard.estimators.guard import inherited
from tailguard.estimators.labelled import open_labelled
from tailguard.estimators.labels import equal
from tailguard.estimators.records import open_records, target, vector
from tailguard.estimators.selection import Selection
from tailguard.ledger.session import SessionLike, session_of
from tailguard.plans import Plan, Release
from tailguard.privacy import Privacy
from tailguard.recipes.evaluation import Judged, plan_evaluation
from tailguard.run import make_randomness, run
from tailguard.solvers.base import EVERYWHERE
from tailguard.solvers.measures import Evaluated, Measure

__all__ = ["Evaluation", "evaluate"]

_CURVED = (GammaRegressor, PoissonRegressor, SGDClassifier, TweedieRegressor)
"""Models with coefficients whose predictions, or probabilities, are another function of them."""


@dataclass(frozen=True, eq=False)
class Evaluation(Mapping[str, Measure]):
    """Measured qualities of a model, by name.

    Attributes
    ----------
    release : Release
        What was done; its plan, its ledger and every released number.
    """

    release: Release

    @property
    def _evaluated(self) -> Evaluated:
        assert isinstance(self.release.estimate, Evaluated)
        return self.release.estimate

    def __getitem__(self, name: str) -> Measure:
        """Return a measure, for instance "r2"."""
        return {measure.name: measure for measure in self._evaluated.measures}[name]

    def __iter__(self) -> Iterator[str]:
        return (measure.name for measure in self._evaluated.measures)

    def __len__(self) -> int:
        return len(self._evaluated.measures)

    @property
    def clip(self) -> float:
        """The size of error beyond which a squared error, or a log-loss, counted no more; 0 where nothing was cut."""
        return self._evaluated.clip

    @property
    def plan(self) -> Plan:
        """What was promised."""
        return self.release.plan

    @property
    def privacy(self) -> Privacy:
        """The recomputed guarantee."""
        return self.release.guarantee

    def __str__(self) -> str:
        lines = [f"{m.name} = {m.value:.4g}, {m.low:.4g} to {m.high:.4g}" for m in self.values()]
        made = "" if self.release.private else f"; {self.release.numerics}"
        return "\n".join([*lines, f"({self.privacy}{made})"])


def evaluate(
    model: Any,
    X: Any,
    y: Any,
    *,
    epsilon: float = 1.0,
    delta: float = 0.0,
    measures: str | Sequence[str] | None = None,
    classes: Sequence[Any] | None = None,
    level: float = 0.95,
    random_state: int | None = None,
    numerics: Literal["exact", "float"] = "exact",
    session: SessionLike | None = None,
) -> Evaluation:
    """Measure how well a fixed model predicts records, privately.

    Parameters
    ----------
    model : fitted model, or (coefficients, intercept)
        A fitted estimator of tailguard, or what `select` has chosen; or anything public: coefficients and intercept, a
        linear model of scikit-learn, or an object that predicts row by row. It must not depend on these records but
        through earlier private releases.
    X, y
        Records that were not used to fit, as for the estimators. On records that were used, the costs of the fit and of
        the evaluation add up, and the model looks better than it is.
    epsilon, delta : float, default=1.0, 0.0
        The budget, for replacing one record.
    measures : str, sequence of str or None, default=None
        For numbers "r2" and "median_absolute_error"; for two classes "error_rate", "log_loss" (not for margins) and
        "auc"; for more classes "error_rate". None is all of them; fewer have less noise.
    classes : sequence of two labels or None, default=None
        For coefficients that give log-odds: the public labels, the positive one last. Fitted classifiers know them.
    level : float, default=0.95
        Of the intervals.
    random_state, numerics
        As for the estimators.
    session : str, path, Session or None, default=None
        The total budget of these records, which pays. None takes that of the model, if it has one; records that were
        held out from the start are a data set of their own, with its own session.

    Returns
    -------
    Evaluation
        A mapping from names to measures, each with a value, a standard error (of sampling and of the noise for privacy
        together, and of the latter alone) and an interval; and the release.

    Notes
    -----
    *Guarantee.* (ε, δ)-differential privacy for replacing one record by any other. Errors are cut at private levels,
    whatever a record holds. A record without a target or a prediction contributes nothing, and so does one that makes
    the model fail, such as a level that a pipeline does not know.

    *Accuracy.* R² compares squared errors with those around the target's mean, both cut at one private level far out in
    the target's tail (`Evaluation.clip`): without a cut no private R² exists, and with heavy tails the plain one hangs
    on a few records. The median absolute error cuts nothing. A log-loss counts at most 6. Scores are counted in 16 to
    64 cells, and two scores in one cell are a tie, which lowers an area under the ROC curve by up to 0.005.

    Examples
    --------
    >>> import numpy as np, tailguard as tg
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_t(4, size=(40_000, 2))
    >>> y = X @ [1.0, -1.0] + rng.standard_t(4, size=40_000)
    >>> model = tg.LinearRegression(epsilon=1.0, delta=1e-6, random_state=0).fit(X[:20_000], y[:20_000])
    >>> result = tg.evaluate(model, X[20_000:], y[20_000:], epsilon=1.0, random_state=1)
    >>> bool(result["r2"].low < 0.67 < result["r2"].high)
    True
    """
    _check_fitted(model)
    model, X = _unwrapped(model, X)
    if _has_several_classes(model):
        X, y = _hits(model, X, y)
        judged: Judged = _linear([1.0], 0.0, "mistakes")
        labels: NDArray[Any] | None = np.array([0, 1])
    else:
        judged, labels, X = _judged(model, X, classes)
    asked = judged.measures if measures is None else (measures,) if isinstance(measures, str) else tuple(measures)
    for name in asked:
        choice("measures", name, "evaluate", judged.measures)
    if not asked:
        raise refuse("measures", "evaluate", "None or some names of measures", measures)
    level = real("level", level, "evaluate", above=0.0, below=1.0)
    engine = _open(model, X, y, labels, len(judged.coefficients))
    plan = plan_evaluation(judged, engine.n, Privacy(epsilon, delta), asked, level)
    account = session_of("evaluate", inherited(model) if session is None else session)
    return Evaluation(run(plan, engine, make_randomness(random_state, numerics), account))


def _check_fitted(model: Any) -> None:
    """Raise scikit-learn's `NotFittedError` before anything is spent: without a fit no record has a prediction."""
    known = isinstance(model, LinearModel) or type(model).__module__.startswith("sklearn.")
    if known and hasattr(model, "predict"):
        check_is_fitted(model)


def _unwrapped(model: Any, X: Any) -> tuple[Any, Any]:
    """Return what `select` has chosen and the columns that it takes, where that is no linear model of one vector."""
    if not isinstance(model, Selection):
        return model, X
    best = model.best_estimator_
    if not (isinstance(best, Pipeline) or _has_several_classes(best)):
        return model, X
    return best, narrowed(X, model.columns_[model.best_name_])


def _has_several_classes(model: Any) -> bool:
    return hasattr(model, "predict") and np.size(getattr(model, "classes_", ())) > 2


class _Records(BaseEstimator):  # type: ignore[misc]
    """Takes note of the columns' names, as an estimator does."""


def _open(model: Any, X: Any, y: Any, labels: NDArray[Any] | None, d: int) -> Engine:
    """Return an engine for the records, whose columns must be those of the model."""
    holder = _Records()
    engine = open_records(holder, X, target(holder, y)) if labels is None else open_labelled(holder, X, y, labels)
    if engine.d != d:
        raise DataError(f"The model has {d} features, the records have {engine.d}.")
    known, given = (getattr(owner, "feature_names_in_", None) for owner in (model, holder))
    if known is not None and given is not None and list(known) != list(given):
        raise DataError("The columns of the records are not those that the model was fitted on, in their order.")
    return engine


def _judged(model: Any, X: Any, classes: Sequence[Any] | None) -> tuple[Judged, NDArray[Any] | None, Any]:
    """Return the model as a linear one, its classes, and the records that it is linear in."""
    if isinstance(model, Selection):
        linear, labels, _ = _judged(model.best_estimator_, X, classes)
        chosen = model.release_.estimate  # the same model, on all columns
        return replace(linear, coefficients=tuple(chosen.coefficients.tolist()), rows=chosen.feature_range), labels, X
    if isinstance(model, tuple) and len(model) == 2:
        kind = "numbers" if classes is None else "log-odds"
        return _linear(*model, kind), None if classes is None else _two(classes), X
    if not hasattr(model, "predict"):
        raise refuse(
            "model", "evaluate", "a fitted model or a pair of coefficients and intercept", type(model).__name__
        )
    if classes is not None:
        raise refuse("classes", "evaluate", "None for a model that knows its own", classes)
    labels = _two(model.classes_) if hasattr(model, "classes_") else None
    if _by_coefficients(model):
        kind = "numbers" if labels is None else "log-odds" if hasattr(model, "predict_proba") else "margins"
        linear = _linear(model.coef_, getattr(model, "intercept_", 0.0), kind)
        within = model.prediction_range_ if isinstance(model, LinearModel) else EVERYWHERE
        rows = model.feature_range_ if isinstance(model, LinearModel) else None
        return replace(linear, within=None if within == EVERYWHERE else within, rows=rows), labels, X
    kind, scores = _scores(model, X, labels is not None)
    return _linear([1.0], 0.0, kind), labels, scores


def _by_coefficients(model: Any) -> bool:
    """Whether a model's values are those of its coefficients; those of scikit-learn may have more to them."""
    module = type(model).__module__
    plain = module.startswith("sklearn.linear_model") or not module.startswith("sklearn")
    return hasattr(model, "coef_") and plain and not isinstance(model, _CURVED)


def _hits(model: Any, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return 1 for rows whose class is predicted, −1 for others, and a target of 1 for every class that is known."""
    labels = vector(model, y, np.asarray(model.classes_))
    predicted, answered = answers(model, X, lambda rows: np.asarray(model.predict(rows)))
    known = np.zeros(labels.shape, bool)
    right = np.zeros(labels.shape, bool)
    for label in model.classes_:
        same = equal(labels, label)
        known |= same
        right |= False if predicted is None else same & equal(predicted, label)
    known &= True if answered is None else answered
    return np.where(right, 1.0, -1.0)[:, np.newaxis], np.where(known, 1.0, np.nan)


def _scores(model: Any, X: Any, classifies: bool) -> tuple[str, NDArray[np.float64]]:
    """Return what any model says about the rows, as a single column; NaN where it says nothing."""
    if not classifies:
        kind, ask = "numbers", model.predict
    elif hasattr(model, "predict_proba"):
        kind, ask = "log-odds", lambda rows: logit(np.asarray(model.predict_proba(rows), dtype=np.float64)[:, 1])
    else:
        kind, ask = "margins", model.decision_function
    values, answered = answers(model, X, lambda rows: np.asarray(ask(rows), dtype=np.float64).reshape(-1, 1))
    if values is None:
        return kind, np.full((_num_samples(X), 1), np.nan)
    return kind, values if answered is None else np.where(answered[:, np.newaxis], values, np.nan)


def _linear(coefficients: Any, intercept: Any, kind: str) -> Judged:
    try:
        slopes, offset = np.asarray(coefficients, dtype=np.float64), np.asarray(intercept, dtype=np.float64)
    except (TypeError, ValueError):
        raise refuse("model", "evaluate", "of numbers", type(coefficients).__name__) from None
    slopes = slopes[0] if slopes.ndim == 2 and len(slopes) == 1 else slopes
    if slopes.ndim != 1 or offset.size != 1 or not (np.all(np.isfinite(slopes)) and np.all(np.isfinite(offset))):
        raise refuse("model", "evaluate", "one vector of finite coefficients and one intercept", slopes.shape)
    return Judged(tuple(slopes.tolist()), float(offset.reshape(())), kind)


def _two(classes: Any) -> NDArray[Any]:
    labels = np.asarray(classes)
    if labels.shape != (2,) or labels[0] == labels[1]:
        raise refuse("classes", "evaluate", "two different labels", classes)
    return labels
