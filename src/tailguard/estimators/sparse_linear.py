"""Private sparse linear regression."""

from typing import Literal

from tailguard.estimators.models import Regressor
from tailguard.estimators.sparsity import SparseModel
from tailguard.ledger.session import SessionLike
from tailguard.losses import Squared
from tailguard.plans import Moment, Scales

__all__ = ["SparseLinearRegression"]


class SparseLinearRegression(Regressor, SparseModel):
    """Least squares on few of many columns, privately picked; d may be far larger than n.

    Parameters
    ----------
    sparsity : int or "auto", default="auto"
        How many coefficients may differ from 0: a public number, or "auto" for a private choice, paid for out of the
        same budget. It is made among models that grow round by round to the largest that n, d and the budget carry.
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record.
    method : str, default="auto"
        "sparse_rounds" (what "auto" takes), "sparse_path" (`sparsity` is the most, the number is chosen privately; what
        "auto" takes for an automatic sparsity), "shrunken_thresholding", "catoni_thresholding", or
        "truncated_thresholding" (what "auto" takes for δ = 0).
    parameters : {"practical", "paper"}, default="practical"
        "paper": the numbers of Hu et al. 2022, Theorem 7, or of a theorem for the method, which need `moment` and
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
        γ and μ, assumed largest and smallest eigenvalues of E xxᵀ, used by "paper" parameters alone.
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
        The private model in raw units; which coefficients are 0 is released with it.
    prediction_range_ : (float, float)
        Where the targets are, by what was released of them; `predict` holds its answers in it. Infinite where the
        method releases no histogram of the target, or it shows too little. X @ coef_ + intercept_ is not held.
    plan_, release_, privacy_ : Plan, Release, Privacy
        What was promised, what was done, and the recomputed guarantee.

    Notes
    -----
    *Guarantee.* (ε, δ)-differential privacy for replacing one record by any other, the choice of columns and of their
    number included. n, d and the column names are taken as public. A record with a NaN or an infinity contributes
    nothing. Several rows of one person multiply the cost. `score` is not private.

    *Accuracy.* A coefficient β is found if |β| × the column's deviation exceeds about 3.5·ln(d/s)·√(s/ρ)/n deviations
    of the residuals, with ρ ≈ 0.024 for ε = 1, δ = 1e-6. A plan is refused where not even s equal coefficients that
    explain half of the variance could be found. An automatic sparsity was within a factor of two of the truth in most
    fits; it cost nothing in the setting of Hu et al. 2022, Figure 7b, and up to 2.5 times the excess risk elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_t(3, size=(8_000, 1_000))
    >>> w = np.where(np.arange(1_000) < 5, [1.0], [0.0])
    >>> y = X @ w + rng.standard_t(3, size=8_000)
    >>> model = SparseLinearRegression(sparsity=5, epsilon=1.0, delta=1e-6, random_state=0).fit(X, y)
    >>> np.flatnonzero(model.coef_)
    array([0, 1, 2, 3, 4])
    """

    def __init__(
        self,
        sparsity: int | Literal["auto"] = "auto",
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
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

    def _loss(self) -> Squared:
        return Squared()
