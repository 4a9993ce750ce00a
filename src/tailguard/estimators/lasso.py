"""Private LASSO: least squares in an ℓ1 ball."""

from typing import Literal

from tailguard._validate import real
from tailguard.domains import Domain, L1Ball
from tailguard.estimators.models import Regressor
from tailguard.ledger.session import SessionLike
from tailguard.losses import Squared
from tailguard.plans import Moment, Scales

__all__ = ["Lasso"]


class Lasso(Regressor):
    """Least squares with ‖w‖₁ ≤ r on heavy-tailed data, for any number of columns.

    The radius is public. Coefficients of a linear model that is known to be short in this sense need far fewer rows
    than all of R^d; with δ = 0 it is the way to a regression at all.

    Parameters
    ----------
    radius : float, default=1.0
        r, the largest sum of the sizes of the coefficients, in raw units.
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record; δ = 0 asks for pure privacy.
    method : str, default="auto"
        "newton", "centred_descent" (for many columns), "frank_wolfe" (δ = 0 too) or "shrunken_lasso" (the same).
        "auto" takes "frank_wolfe" for δ = 0, "newton" where n and the budget carry a Gram matrix of the columns, else
        "centred_descent".
    parameters : {"practical", "paper"}, default="practical"
        "paper": the numbers of Hu et al. 2022, Theorem 5, or with δ = 0 those of Theorem 2, which need `moment` and
        have no intercept.
    moment : Moment or None, default=None
        A public assumption on the tails. Only accuracy depends on it.
    scales : Scales or None, default=None
        Public centres and scales, never computed from the records; what is given is not sought and costs nothing.
    fit_intercept : bool, default=True
        Whether to fit an intercept; it does not count in the radius.
    smoothness : float, default=1.0
        λ, an assumed largest eigenvalue of E xxᵀ, used by "paper" parameters alone.
    random_state : int or None, default=None
        None draws from a cryptographic generator. An integer makes a *simulation* that protects nobody.
    numerics : {"exact", "float"}, default="exact"
        How private noise is sampled.
    session : str, path, Session or None, default=None
        A total budget across fits, which pays for this one before a record is read; see `Session`. A path survives
        cloning, pickling and worker processes.

    Attributes
    ----------
    coef_, intercept_ : float64 vector, float
        The private model in raw units, ‖coef_‖₁ ≤ r.
    prediction_range_ : (float, float)
        Where the targets are, by what was released of them; `predict` holds its answers in it. Infinite where the
        method releases no histogram of the target, or it shows too little. X @ coef_ + intercept_ is not held.
    feature_range_ : FeatureRange or None
        Where the rows are, by what was released of them: `centres`, `rates` (1 ÷ scale) and a `radius`. Rows farther
        out are predicted as if they ended there. None where the method releases no units or lengths.
    plan_, release_, privacy_ : Plan, Release, Privacy
        What was promised, what was done, and the recomputed guarantee.

    Notes
    -----
    *Guarantee.* (ε, δ)-differential privacy for replacing one record by any other. n, d and the column names are
    taken as public. A record with a NaN or an infinity contributes nothing. Several rows of one person multiply the
    cost. A radius must not be chosen by looking at the data. `score` is not private.

    *Accuracy.* Hu et al. 2022, Theorem 5 bounds the excess risk for entries with four moments; practical parameters do
    better by orders of magnitude. The answer of "centred_descent" is a good model projected on the ball, not a
    minimiser over it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_t(3, size=(20_000, 100))
    >>> w = np.where(np.arange(100) < 4, 0.5, 0.0)
    >>> y = X @ w + rng.standard_t(3, size=20_000)
    >>> model = Lasso(radius=2.0, epsilon=1.0, delta=1e-6, random_state=0).fit(X, y)
    >>> bool(np.linalg.norm(model.coef_ - w) < 0.3 * np.linalg.norm(w))
    True
    """

    def __init__(
        self,
        radius: float = 1.0,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        method: str = "auto",
        parameters: Literal["practical", "paper"] = "practical",
        moment: Moment | None = None,
        scales: Scales | None = None,
        fit_intercept: bool = True,
        smoothness: float = 1.0,
        random_state: int | None = None,
        numerics: Literal["exact", "float"] = "exact",
        session: SessionLike | None = None,
    ) -> None:
        self.radius = radius
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.parameters = parameters
        self.moment = moment
        self.scales = scales
        self.fit_intercept = fit_intercept
        self.smoothness = smoothness
        self.random_state = random_state
        self.numerics = numerics
        self.session = session

    def _loss(self) -> Squared:
        return Squared()

    def _domain(self, n: int, d: int) -> Domain:  # noqa: ARG002
        return L1Ball(d, real("radius", self.radius, "Lasso", above=0.0))
