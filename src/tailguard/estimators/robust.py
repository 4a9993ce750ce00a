"""Private robust regression."""

from typing import Literal

from tailguard._validate import choice, real, refuse
from tailguard.domains import Domain
from tailguard.estimators.models import Regressor
from tailguard.ledger.session import SessionLike
from tailguard.losses import Biweight, Huber
from tailguard.plans import Moment, Scales

__all__ = ["RobustRegression"]

_USUAL = {"huber": 1.345, "biweight": 4.685}  # 95 % of the efficiency of least squares where noise is Gaussian


class RobustRegression(Regressor):
    """Regression whose answer does not depend on what is far away: Huber's loss or Tukey's biweight.

    Least squares fits means. Where noise is skewed or targets are spoilt, a robust loss fits the bulk instead.

    Parameters
    ----------
    loss : {"huber", "biweight"}, default="huber"
        "huber": squares near, absolute errors far. "biweight": records farther away than the threshold have no
        influence at all; not convex (Hu et al. 2022, Theorem 3).
    threshold : float or None, default=None
        The residual from which on a record counts less, or not at all; public, in units of the target. None takes 1.345
        (Huber) or 4.685 (biweight) private spreads of the target.
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record; δ = 0 needs a domain with vertices.
    method : str, default="auto"
        "newton", "centred_descent" (for many columns), "truncated_mean", "median_of_means", or on a polytope
        "frank_wolfe". "auto" as in `LinearRegression`; with δ = 0 "frank_wolfe".
    parameters : {"practical", "paper"}, default="practical"
        "paper": the numbers of a theorem for the method, which need `moment`, a `threshold` and a bounded domain.
    moment : Moment or None, default=None
        A public assumption on the gradients' tails. Only accuracy depends on it.
    scales : Scales or None, default=None
        Public centres and scales, never computed from the records; what is given is not sought and costs nothing.
    domain : Domain or None, default=None
        Where the coefficients may lie, in raw units; an `L1Ball`, a `Simplex` or a `Polytope` for "frank_wolfe".
    radius : float or None, default=None
        Short for an ℓ2 ball around 0.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    smoothness : float, default=1.0
        λ, an assumed smoothness of the risk, used by "paper" parameters alone.
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
    cost. `score` is not private.

    *Accuracy.* As for `LinearRegression`, for the minimiser of the robust loss. The biweight has other stationary
    points; the descent starts at the null model, centred at the target's median.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20_000, 3))
    >>> y = X @ [1.0, -2.0, 0.0] + rng.standard_cauchy(20_000)  # noise without a mean
    >>> model = RobustRegression(epsilon=1.0, delta=1e-6, random_state=0).fit(X, y)
    >>> bool(np.abs(model.coef_ - [1.0, -2.0, 0.0]).max() < 0.2)
    True
    """

    def __init__(
        self,
        loss: Literal["huber", "biweight"] = "huber",
        threshold: float | None = None,
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
        random_state: int | None = None,
        numerics: Literal["exact", "float"] = "exact",
        session: SessionLike | None = None,
    ) -> None:
        self.loss = loss
        self.threshold = threshold
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
        self.random_state = random_state
        self.numerics = numerics
        self.session = session

    def _loss(self) -> Huber | Biweight:
        kind = Huber if choice("loss", self.loss, "RobustRegression", _USUAL) == "huber" else Biweight
        if self.threshold is not None:
            return kind(real("threshold", self.threshold, "RobustRegression", above=0.0))
        if self.parameters == "paper":
            raise refuse("threshold", "RobustRegression with parameters='paper'", "a number greater than 0", None)
        return kind(_USUAL[self.loss], relative=True)
