"""What all estimators share: public parameters, a plan before any data, and one way to carry it out."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from tailguard._validate import integer, refuse
from tailguard.domains import Domain, L2Ball, WholeSpace
from tailguard.engines import Engine
from tailguard.errors import BudgetError, ParameterError
from tailguard.estimators.guard import refuse_resampling, warn_of_resampling
from tailguard.estimators.intervals import interval, std_error
from tailguard.estimators.records import matrix, products
from tailguard.ledger.session import SessionLike, session_of
from tailguard.losses.base import Loss, RecordLoss
from tailguard.plans import Moment, Plan, Problem, Release, Scales
from tailguard.privacy import Privacy
from tailguard.recipes import plan_by
from tailguard.recipes.automatic import choose_recipe
from tailguard.recipes.base import Task
from tailguard.run import make_randomness, run
from tailguard.solvers.feature_range import FeatureRange

__all__ = ["LinearModel", "PrivateEstimator"]


class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators. Every parameter is public; nothing learned from data is a parameter."""

    epsilon: float
    delta: float
    method: str
    parameters: Literal["practical", "paper"]
    moment: Moment | None
    scales: Scales | None
    domain: Domain | None
    radius: float | None
    random_state: int | None
    numerics: Literal["exact", "float"]
    session: SessionLike | None

    plan_: Plan
    release_: Release
    privacy_: Privacy

    _task: Task

    def plan(self, n_rows: int, n_features: int, *, names: Sequence[str] | None = None) -> Plan:
        """Return what `fit` would do on that many rows and features; needs no data.

        Parameters
        ----------
        n_rows, n_features : int
            Public sizes of the data.
        names : sequence of str or None, default=None
            Names of the columns, where scales are given by name; without any, they are taken in their own order.

        Returns
        -------
        Plan
            Printable, with every noise multiplier and step; `tailguard.verify` recomputes its cost. Where "auto" has
            too few rows for any recipe with a δ, and one without has enough, its `privacy` is (ε, 0).
        """
        return self._plan(n_rows, n_features, names, automatic=self.method == "auto")

    def _plan(self, n_rows: int, n_features: int, names: Sequence[str] | None, *, automatic: bool) -> Plan:
        """Return the plan; where `automatic`, δ may stay unspent."""
        problem, privacy = self.problem(n_rows, n_features, names=names), Privacy(self.epsilon, self.delta)
        return plan_by(
            self._chosen, self._task, problem, privacy, self.parameters, type(self).__name__, automatic=automatic
        )

    def _chosen(self, problem: Problem, privacy: Privacy) -> str:
        return choose_recipe(self._task, problem, privacy, self.parameters) if self.method == "auto" else self.method

    def problem(self, n_rows: int, n_features: int, *, names: Sequence[str] | None = None) -> Problem:
        """Return what `fit` minimises, with the public facts that a plan is made from; parameters as for `plan`."""
        n, d = integer("n_rows", n_rows, "plan"), integer("n_features", n_features, "plan")
        if self.moment is not None and not isinstance(self.moment, Moment):
            raise refuse("moment", type(self).__name__, "a Moment or None", self.moment)
        if self.scales is not None and not isinstance(self.scales, Scales):
            raise refuse("scales", type(self).__name__, "Scales or None", self.scales)
        intercept = getattr(self, "fit_intercept", False)
        if not isinstance(intercept, bool | np.bool_):
            raise refuse("fit_intercept", type(self).__name__, "a boolean", intercept)
        return Problem(
            loss=self._loss(),
            domain=self._domain(n, d),
            n=n,
            d=d,
            intercept=bool(intercept),
            moment=self.moment,
            smoothness=getattr(self, "smoothness", 1.0),
            strong_convexity=getattr(self, "strong_convexity", 0.0),
            scales=None if self.scales is None else self.scales.of(d, names),
        )

    @abstractmethod
    def _loss(self) -> Loss | RecordLoss:
        """Return the loss that is minimised."""

    @abstractmethod
    def _open(self, X: Any, y: Any = None) -> Engine:
        """Return an engine for the records that `fit` is given."""

    def _domain(self, n: int, d: int) -> Domain:  # noqa: ARG002
        if self.domain is not None and self.radius is not None:
            raise refuse("radius", type(self).__name__, "None where a domain is given", self.radius)
        if self.domain is not None:
            if not isinstance(self.domain, Domain):
                raise refuse("domain", type(self).__name__, "a Domain or None", self.domain)
            return self.domain
        return WholeSpace(d) if self.radius is None else L2Ball(d, self.radius)

    def _carry_out(self, engine: Engine) -> Release:
        """Plan, verify, pay and run on the engine's records, and keep what was promised and done."""
        refuse_resampling(self)
        warn_of_resampling(self)
        try:
            plan = self.plan(engine.n, engine.d, names=engine.names or ())
        except BudgetError as error:
            raise BudgetError(f"{type(self).__name__} (n_samples = {engine.n}): {error}") from None
        session = session_of(type(self).__name__, self.session)
        release = run(plan, engine, make_randomness(self.random_state, self.numerics), session)
        self.plan_, self.release_, self.privacy_ = plan, release, release.guarantee
        self.n_iter_ = sum(step.count for step in plan.steps)
        return release

    def __sklearn_tags__(self) -> Tags:
        refuse_resampling(self)  # what every search asks for first, before it fits anything
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


class LinearModel(PrivateEstimator):
    """A private estimator whose answer is coefficients and an intercept."""

    coef_: NDArray[np.float64]
    coef_std_error_: NDArray[np.float64] | None
    intercept_: float
    intercept_std_error_: float | None
    fit_intercept: bool
    smoothness: float
    strong_convexity: float

    _task: Task = "regression"

    @property
    def feature_range_(self) -> FeatureRange | None:
        """Where the rows are, by what was released of them: longer ones are predicted as if they ended there."""
        return self.release_.estimate.feature_range

    @property
    def prediction_range_(self) -> tuple[float, float]:
        """The range in which predictions are held, by what was released; all numbers where nothing says.

        Of numbers it is where the targets are. Of two classes it is a range of log-odds: a class that is rarer among
        some rows than the budget can tell is not predicted to be.
        """
        return self.release_.estimate.prediction_range

    def _scores(self, X: Any) -> NDArray[np.float64]:
        rows = matrix(self, X)
        scores = products(rows, self.coef_) + self.intercept_
        ends = self.feature_range_
        return scores if ends is None else ends.held(rows, scores, self.coef_, self.intercept_)

    def _held_scores(self, X: Any) -> NDArray[np.float64]:
        return np.clip(self._scores(X), *self.prediction_range_)

    def _learn(self, engine: Engine) -> Self:
        estimate = self._carry_out(engine).estimate
        self.coef_, self.intercept_ = estimate.coefficients, estimate.intercept
        errors = std_error(self.release_)
        self.coef_std_error_ = None if errors is None else errors[: self.coef_.size]
        self.intercept_std_error_ = None if errors is None or not self.fit_intercept else float(errors[-1])
        return self

    def coef_interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return confidence intervals of the coefficients, made from released numbers alone.

        They hold for one coefficient at a time. They count the sampling error and the noise of privacy, not the bias
        that clipping may leave, and they are centred where the fit was before it was shrunk towards anything, which
        need not be `coef_`.

        Parameters
        ----------
        level : float, default=0.95
            Wanted probability that an interval covers the coefficient.

        Returns
        -------
        (n_features, 2) matrix
            Lower and upper ends; infinite for a column that was dropped because it hardly varies.

        Raises
        ------
        ParameterError
            If the method releases nothing from which intervals could be made.
        """
        return interval(self, level)[: self.coef_.size]

    def intercept_interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return a confidence interval of the intercept, its lower and upper end; see `coef_interval`."""
        ends = interval(self, level)
        if not self.fit_intercept:
            raise ParameterError(f"{type(self).__name__} was fitted without an intercept.")
        return np.asarray(ends[-1])
