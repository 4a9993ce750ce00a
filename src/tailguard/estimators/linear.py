"""Private linear regression."""

from typing import Literal

from tailguard.domains import Domain
from tailguard.estimators.models import Regressor
from tailguard.ledger.session import SessionLike
from tailguard.losses import Squared
from tailguard.plans import Moment, Scales

__all__ = ["LinearRegression"]


class LinearRegression(Regressor):
    """Least squares on heavy-tailed data, without a bound on features, target or noise.

    Parameters
    ----------
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record.
    method : str, default="auto"
        "newton", "centred_descent" (for many columns), "truncated_mean", "median_of_means", "iterative_updating", or
        on a polytope "frank_wolfe". "auto" takes "newton" where n and the budget carry a Gram matrix of the columns,
        else "centred_descent"; with δ = 0, or with too few rows for a δ, which then stays unspent,
        "objective_perturbation".
    parameters : {"practical", "paper"}, default="practical"
        "practical": private centring and scaling, a noisy Gram matrix that whitens, bounded steps and a calibration.
        "paper": the numbers of Zhao et al. 2024, Theorem 4, which need `moment` and a bounded domain.
    moment : Moment or None, default=None
        A public assumption on the gradients' tails. Only accuracy depends on it.
    scales : Scales or None, default=None
        Public centres and scales, never computed from the records; what is given is not sought and costs nothing.
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
    session : str, path, Session or None, default=None
        A total budget across fits, which pays for this one before a record is read; see `Session`. A path survives
        cloning, pickling and worker processes.

    Attributes
    ----------
    coef_, intercept_ : float64 vector, float
        The private model in raw units.
    coef_std_error_, intercept_std_error_ : float64 vector or None, float or None
        Their standard errors, sampling error and privacy noise together; None where the method offers none.
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
    cost. `score` evaluates on the data that it is given and is not private.

    *Accuracy.* Clip levels grow with n·ε, so the answer tends to the least-squares solution. Skewed noise whose
    spread depends on the features in another way than through the prediction leaves a bias that vanishes slowly. With
    many columns the answer is shrunk towards 0, and 0 itself where the fit does not beat it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_t(3, size=(20_000, 3))
    >>> y = X @ [1.0, -2.0, 0.0] + 10.0 + rng.standard_t(3, size=20_000)
    >>> model = LinearRegression(epsilon=1.0, delta=1e-6, random_state=0).fit(X, y)
    >>> bool(np.abs(model.coef_ - [1.0, -2.0, 0.0]).max() < 0.2)
    True
    """

    def __init__(
        self,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        method: str = "auto",
        parameters: Literal["practical", "paper"] = "practical",
        moment: Moment | None = None,
        scales: Scales | None = None,
        domain: Domain | None = None,
        radius: float | None = None,
        fit_intercept: bool = True,
        smoothness: float = 1.0,
        strong_convexity: float = 0.0,
        random_state: int | None = None,
        numerics: Literal["exact", "float"] = "exact",
        session: SessionLike | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.parameters = parameters
        self.moment = moment
        self.scales = scales
        self.domain = domain
        self.radius = radius
        self.fit_intercept = fit_intercept
        self.smoothness = smoothness
        self.strong_convexity = strong_convexity
        self.random_state = random_state
        self.numerics = numerics
        self.session = session

    def _loss(self) -> Squared:
        return Squared()
