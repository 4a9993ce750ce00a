"""`select`: fit several models and choose one of them, privately, in one plan."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tailguard._validate import choice, real, refuse
from tailguard.errors import BudgetError, TailguardError
from tailguard.estimators.base import LinearModel
from tailguard.estimators.candidates import Candidates, Shown, named_candidates, narrowed, piped, shown
from tailguard.estimators.classes import ManyClasses
from tailguard.estimators.models import Regressor
from tailguard.ledger.session import SessionLike, session_of
from tailguard.losses import Hinge, Logistic, Squared
from tailguard.losses.base import Loss
from tailguard.losses.multinomial import Multinomial
from tailguard.plans import Plan, Release
from tailguard.privacy import Privacy
from tailguard.recipes.feasible import TooFewRowsError, round_up
from tailguard.recipes.selection import Contender, plan_selection
from tailguard.run import make_randomness, run
from tailguard.solvers.class_descent import ClassEstimate
from tailguard.solvers.selection import Scoring, Selected

__all__ = ["Selection", "plan_select", "select"]

MOST, CLOSE = 1e6, 1.03
"""By how much more rows or ε are tried, and how closely what will do is found."""


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen model and all others that were fitted; each of them may be published.

    Attributes
    ----------
    best_name_ : str
        Name of the chosen candidate: its key, or its number.
    best_estimator_ : estimator or Pipeline
        The chosen candidate, fitted. It predicts from its own columns.
    estimators_ : dict
        All candidates by name, fitted.
    columns_ : dict
        The numbers of the columns that a candidate sees, by name; None for all.
    score_noise_ : float
        Scale of the noise of the choice, in losses per record: a candidate that is better than another by t times as
        much is e^t times as likely to be chosen.
    release_ : Release
        What was done, one plan for all.
    """

    best_name_: str
    estimators_: dict[str, Any]
    columns_: dict[str, tuple[int, ...] | None]
    score_noise_: float
    release_: Release

    @property
    def best_estimator_(self) -> Any:
        """The chosen candidate, fitted."""
        return self.estimators_[self.best_name_]

    @property
    def plan_(self) -> Plan:
        """What was promised."""
        return self.release_.plan

    @property
    def privacy_(self) -> Privacy:
        """The recomputed guarantee, of all fits and the choice together."""
        return self.release_.guarantee

    def __str__(self) -> str:
        others = ", ".join(name for name in self.estimators_ if name != self.best_name_)
        told = "" if self.release_.private else "; a simulation from a seed, NOT PRIVATE"
        return f"{self.best_name_}, chosen among it and {others} ({self.privacy_}{told}): {self.best_estimator_}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002
        printer.text(str(self))  # what a notebook shows

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the chosen model's predictions for new rows with all columns."""
        return np.asarray(self.best_estimator_.predict(narrowed(X, self.columns_[self.best_name_])))


def select(
    candidates: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any,
    *,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    scoring: Scoring | None = None,
    shares: Sequence[float] | None = None,
    random_state: int | None = None,
    numerics: Literal["exact", "float"] = "exact",
    session: SessionLike | None = None,
) -> Selection:
    """Fit several models and choose the one that predicts best, privately.

    Parameters
    ----------
    candidates : mapping from str, or sequence
        Estimators of tailguard, all for numbers or all for the same classes, with any method, domain or sparsity; or
        scikit-learn pipelines of transformers that learn nothing and such an estimator; or pairs of one of these and
        public columns, by number or by name. Their `epsilon`, `delta` and `random_state` are not looked at.
    X, y
        Records, as for the estimators.
    epsilon, delta : float, default=1.0, 1e-6
        The budget of all fits and of the choice together, for replacing one record.
    scoring : {"squared", "absolute", "log_loss", "error_rate"} or None, default=None
        By what models are compared. None is squared error for numbers, log-loss for classes, and the error rate where a
        candidate has no probabilities.
    shares : sequence of float or None, default=None
        Parts of the budget of fits, one for each candidate; equal by default.
    random_state, numerics, session
        As for the estimators.

    Returns
    -------
    Selection
        The chosen model, all fitted models, and the release.

    Notes
    -----
    *Guarantee.* (ε, δ)-differential privacy for replacing one record by any other, for all fitted models and the choice
    together. The choice is the exponential mechanism on clipped differences of losses: it is charged once, however many
    candidates there are, but every fit is charged.

    *Pipelines.* Before the estimator there may be `PublicOneHotEncoder`, `FunctionTransformer` of a NumPy function of
    one number (`np.log1p`), `PolynomialFeatures`, `Normalizer`, `Binarizer`, and `ColumnTransformer` of these by public
    columns. Everything else is refused by its type: it learns from the records, or could raise or warn by one of them.
    Transformers are fitted to a row of zeros; records are transformed one by one, and one with a value that is missing
    or infinite on its way contributes nothing. What candidates see stands side by side in the plan, so that X must be a
    table in memory and y a vector.

    *Accuracy.* With k candidates each fit has about √k times the noise that it would have alone (k times for δ = 0):
    few candidates are better than many. Fits and choice use all records, because holding some back would cost more;
    what a model gains by being judged on the records it was fitted to is subtracted as in Akaike's criterion.

    Examples
    --------
    >>> import numpy as np, tailguard as tg
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_t(4, size=(20_000, 4))
    >>> y = X @ [1.0, -1.0, 0.5, 0.0] + rng.standard_t(4, size=20_000)
    >>> models = {"two columns": (tg.LinearRegression(), [0, 1]), "all": tg.LinearRegression()}
    >>> tg.select(models, X, y, epsilon=1.0, delta=1e-6, random_state=0).best_name_
    'all'
    """
    named = named_candidates(candidates)
    first = clone(next(iter(named.values())).estimator)
    records = shown(named, first, X, y)
    estimators, seen = [entrant.estimator for entrant in named.values()], list(records.places.values())
    n, d = records.engine.n, records.engine.d
    plan = plan_select(estimators, seen, n, d, Privacy(epsilon, delta), scoring, shares, records.names)
    paid = session_of("select", session)
    release = run(plan, records.engine, make_randomness(random_state, numerics), paid)
    fitted = _fitted(named, records, first, release, {"session": session, "random_state": random_state})
    chosen = release.estimate
    assert isinstance(chosen, Selected)
    return Selection(list(named)[chosen.winner], fitted, records.columns, chosen.noise, release)


def plan_select(
    estimators: Sequence[LinearModel],
    columns: Sequence[tuple[int, ...] | None],
    n_rows: int,
    n_features: int,
    privacy: Privacy,
    scoring: Scoring | None = None,
    shares: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
) -> Plan:
    """Return what `select` would do, from public facts alone; parameters as there, columns as numbers."""

    def plan(n: int, total: Privacy) -> Plan:
        contenders = [
            Contender(_planner(estimator, n, n_features, seen, names), seen, part)
            for estimator, seen, part in zip(estimators, columns, parts, strict=True)
        ]
        return plan_selection(contenders, loss, n, n_features, total, by)

    parts = [1.0] * len(estimators) if shares is None else [real("shares", s, "select", above=0.0) for s in shares]
    if len(parts) != len(estimators):
        raise refuse("shares", "select", f"{len(estimators)} numbers, one for each candidate", shares)
    loss, by = _scoring(estimators, scoring)
    try:
        return plan(n_rows, privacy)
    except _TooSmallAShareError as refusal:
        rows = _first(lambda part: _works(plan, math.ceil(n_rows * part), privacy))
        larger = _first(lambda part: _works(plan, n_rows, replace(privacy, epsilon=privacy.epsilon * part)))
        ways = [f"about {round_up(math.ceil(n_rows * rows)):.0f} rows"] if rows else []
        ways += [f"ε of about {round_up(privacy.epsilon * larger):g} for all together"] if larger else []
        raise BudgetError(f"{refusal} It needs {', '.join([*ways, 'other shares'])} or fewer candidates.") from None


class _TooSmallAShareError(BudgetError):
    """A candidate cannot be carried by its part of the budget."""


def _works(plan: Callable[[int, Privacy], Plan], n: int, privacy: Privacy) -> bool:
    try:
        plan(n, privacy)
    except TailguardError:
        return False
    return True


def _first(works: Callable[[float], bool]) -> float:
    """Return about the least factor from which on something works, 0 if none up to a million does."""
    high = 2.0
    while not works(high):
        high *= 2.0
        if high > MOST:
            return 0.0
    low = high / 2.0
    while high > CLOSE * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def _planner(estimator: LinearModel, n: int, d: int, seen: tuple[int, ...] | None, names: Sequence[str] | None) -> Any:
    if seen is not None:
        d, names = len(seen), names and [names[column] for column in seen]

    def plan(privacy: Privacy) -> Plan:
        sized = clone(estimator).set_params(epsilon=privacy.epsilon, delta=privacy.delta)
        try:
            return sized._plan(n, d, names, automatic=False)  # type: ignore[no-any-return]  # parts of one budget
        except TooFewRowsError as error:
            share = f"cannot be carried by n = {n} rows and d = {d} features at its share of the budget, {privacy}."
            name = type(estimator).__name__
            raise _TooSmallAShareError(f"{name}, one of several candidates: {error.what} {share}") from None
        except BudgetError as error:
            raise BudgetError(f"{type(estimator).__name__}, one of several candidates: {error}") from None

    return plan


def _scoring(estimators: Sequence[LinearModel], scoring: Scoring | None) -> tuple[Loss | Multinomial, Scoring]:
    """Return the loss that stands in the plan's problem, and by what models are compared."""
    if isinstance(estimators[0], Regressor):
        by = choice("scoring", scoring or "squared", "select of numbers", ("squared", "absolute"))
        return Squared(), by  # type: ignore[return-value]
    likely = all(hasattr(estimator, "predict_proba") for estimator in estimators)
    known = ("log_loss", "error_rate") if likely else ("error_rate",)
    by = choice("scoring", scoring or known[0], "select of classes", known)
    first = estimators[0]
    if isinstance(first, ManyClasses) and first._several:
        return Multinomial(first._public_classes().size), by  # type: ignore[return-value]
    return Logistic() if likely else Hinge(0.1), by  # type: ignore[return-value]


def _fitted(
    named: Candidates, records: Shown, first: LinearModel, release: Release, common: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the candidates as estimators that were fitted; inside a session they have no scores, and a seed shows."""
    assert isinstance(release.estimate, Selected)
    fitted = {}
    for (name, entrant), model in zip(named.items(), release.estimate.models, strict=True):
        copy = clone(entrant.estimator).set_params(**common)
        copy.coef_ = model.coefficients
        copy.intercept_ = model.offsets if isinstance(model, ClassEstimate) else model.intercept
        copy.coef_std_error_ = copy.intercept_std_error_ = None
        copy.n_features_in_ = model.coefficients.shape[-1]
        copy.plan_, copy.release_, copy.privacy_ = release.plan, replace(release, estimate=model), release.guarantee
        if hasattr(first, "classes_"):
            copy.classes_ = first.classes_
        names = _names(records, name, first)
        if names is not None:
            copy.feature_names_in_ = names
        fitted[name] = piped(entrant, copy, records.prefixes.get(name))
    return fitted


def _names(records: Shown, name: str, first: LinearModel) -> NDArray[Any] | None:
    """Return the names of the columns that a candidate's linear model sees, if they have any."""
    if records.prefixes:
        found = records.prefixes[name].names
        return None if found is None else np.array(found, dtype=object)
    known, seen = getattr(first, "feature_names_in_", None), records.places[name]
    return known if known is None or seen is None else known[list(seen)]
