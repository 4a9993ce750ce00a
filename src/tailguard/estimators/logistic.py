"""Private logistic regression."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from tailguard._validate import refuse
from tailguard.domains import Domain
from tailguard.engines import Engine
from tailguard.estimators.base import LinearModel
from tailguard.estimators.labels import Relabelled, zero_one
from tailguard.estimators.records import open_records, vector
from tailguard.losses import Logistic
from tailguard.plans import Moment

__all__ = ["LogisticRegression"]


class LogisticRegression(ClassifierMixin, LinearModel):  # type: ignore[misc]
    """Logistic regression with two public classes on heavy-tailed features, without a bound on them.

    Parameters
    ----------
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record.
    classes : sequence of two labels, default=(0, 1)
        The public labels, the positive one last. They are never read from the data; a record with any other label
        contributes nothing.
    method : str, default="auto"
        "clipping" (what "auto" takes), "truncated_mean", "median_of_means" or
        "iterative_updating".
    parameters : {"practical", "paper"}, default="practical"
        As in `LinearRegression`.
    moment : Moment or None, default=None
        A public assumption on the gradients' tails. Only accuracy depends on it.
    domain : Domain or None, default=None
        Where the coefficients may lie, in raw units.
    radius : float or None, default=None
        Short for an ℓ2 ball around 0.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    smoothness : float, default=1.0
        λ, an assumed smoothness of the risk, used by "paper" parameters alone.
    strong_convexity : float, default=0.0
        α, an assumed strong convexity of the loss; above 0, "median_of_means" with "paper" parameters takes the numbers
        of Tao et al. 2022, Theorem 7 instead of Theorem 6.
    random_state : int or None, default=None
        None draws from a cryptographic generator. An integer makes a *simulation* that protects nobody.
    numerics : {"exact", "float"}, default="exact"
        How private noise is sampled.

    Attributes
    ----------
    classes_ : vector of two labels
        The parameter `classes`.
    coef_, intercept_ : float64 vector, float
        The private model in raw units, for the log-odds of the last class.
    plan_, release_, privacy_ : Plan, Release, Privacy
        What was promised, what was done, and the recomputed guarantee.

    Notes
    -----
    *Guarantee.* (ε, δ)-differential privacy for replacing one record by any other, label included. `score` evaluates
    on the data that it is given and is not private.

    *Accuracy.* Clip levels grow with n·ε, so the answer tends to the unpenalised maximum-likelihood solution.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_t(3, size=(20_000, 2))
    >>> y = rng.random(20_000) < 1 / (1 + np.exp(-X @ [1.0, -1.0]))
    >>> model = LogisticRegression(epsilon=1.0, delta=1e-6, random_state=0).fit(X, y)
    >>> bool(np.abs(model.coef_ - [1.0, -1.0]).max() < 0.3)
    True
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        classes: Sequence[Any] = (0, 1),
        method: str = "auto",
        parameters: Literal["practical", "paper"] = "practical",
        moment: Moment | None = None,
        domain: Domain | None = None,
        radius: float | None = None,
        fit_intercept: bool = True,
        smoothness: float = 1.0,
        strong_convexity: float = 0.0,
        random_state: int | None = None,
        numerics: Literal["exact", "float"] = "exact",
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.method = method
        self.parameters = parameters
        self.moment = moment
        self.domain = domain
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.smoothness = smoothness
        self.strong_convexity = strong_convexity
        self.random_state = random_state
        self.numerics = numerics

    def _loss(self) -> Logistic:
        return Logistic()

    def _open(self, X: Any, y: Any = None) -> Engine:
        self.classes_ = self._public_classes()
        if isinstance(y, str):
            return Relabelled(open_records(self, X, y), self.classes_)
        return open_records(self, X, zero_one(vector(self, y), self.classes_))

    def _public_classes(self) -> NDArray[Any]:
        try:
            classes = np.asarray(self.classes)
        except ValueError:  # of unequal lengths
            classes = np.empty(0)
        if classes.shape != (2,) or classes[0] == classes[1]:
            raise refuse("classes", "LogisticRegression", "a sequence of two different labels", self.classes)
        return classes

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table, or path of a Parquet file
            Records, one a row.
        y : vector or str
            Labels, or the name of their (numeric) column where X is a table or a file.
        """
        return self._learn(self._open(X, y))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of the last class for new rows."""
        return self._scores(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of both classes for new rows."""
        positive = expit(self._scores(X))
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the more probable class for new rows."""
        positive = self._scores(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
