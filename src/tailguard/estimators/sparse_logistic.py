"""Private sparse logistic regression."""

from collections.abc import Sequence
from typing import Any, Literal

from tailguard.estimators.models import Classifier
from tailguard.estimators.sparsity import SparseModel
from tailguard.ledger.session import SessionLike
from tailguard.plans import Moment, Scales

__all__ = ["SparseLogisticRegression"]


class SparseLogisticRegression(Classifier, SparseModel):
    """Logistic regression on few of many columns, privately picked; d may be far larger than n.

    Parameters
    ----------
    sparsity : int or "auto", default="auto"
        How many coefficients may differ from 0; as in `SparseLinearRegression`.
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record.
    classes : sequence of two labels, default=(0, 1)
        The public labels, the positive one last. They are never read from the data; a record with any other label
        contributes nothing.
    method : str, default="auto"
        As in `SparseLinearRegression`.
    parameters : {"practical", "paper"}, default="practical"
        "paper": the numbers of Hu et al. 2022, Theorem 8, or of a theorem for the method, which need `moment` and
        `strong_convexity`, and have no intercept.
    moment : Moment or None, default=None
        A public assumption on the tails. Only accuracy depends on it.
    scales : Scales or None, default=None
        Public centres and scales, never computed from the records; what is given is not sought and costs nothing.
    radius : float or None, default=None
        A public bound on the ℓ2 norm of the coefficients, in raw units.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it does not count in the sparsity.
    smoothness, strong_convexity : float, default=1.0, 1.0
        γ and μ of the risk, assumed, used by "paper" parameters alone.
    random_state : int or None, default=None
        None draws from a cryptographic generator. An integer makes a *simulation* that protects nobody.
    numerics : {"exact", "float"}, default="exact"
        How private noise is sampled.
    session : str, path, Session or None, default=None
        A total budget across fits, which pays for this one before a record is read; see `Session`. A path survives
        cloning, pickling and worker processes.

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
    *Guarantee.* (ε, δ)-differential privacy for replacing one record by any other, label included, the choice of
    columns and of their number included. `score` is not private.

    *Accuracy.* As in `SparseLinearRegression`; labels say less than numbers, so that about a third more rows are
    needed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_t(3, size=(10_000, 300))
    >>> y = rng.random(10_000) < 1 / (1 + np.exp(-X[:, 0] + X[:, 1]))
    >>> model = SparseLogisticRegression(sparsity=2, epsilon=1.0, delta=1e-6, random_state=0).fit(X, y)
    >>> np.flatnonzero(model.coef_)
    array([0, 1])
    """

    def __init__(
        self,
        sparsity: int | Literal["auto"] = "auto",
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        classes: Sequence[Any] = (0, 1),
        method: str = "auto",
        parameters: Literal["practical", "paper"] = "practical",
        moment: Moment | None = None,
        scales: Scales | None = None,
        radius: float | None = None,
        fit_intercept: bool = True,
        smoothness: float = 1.0,
        strong_convexity: float = 1.0,
        random_state: int | None = None,
        numerics: Literal["exact", "float"] = "exact",
        session: SessionLike | None = None,
    ) -> None:
        self.sparsity = sparsity
        self.epsilon = epsilon
        self.delta = delta
        self.classes = classes
        self.method = method
        self.parameters = parameters
        self.moment = moment
        self.scales = scales
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.smoothness = smoothness
        self.strong_convexity = strong_convexity
        self.random_state = random_state
        self.numerics = numerics
        self.session = session
