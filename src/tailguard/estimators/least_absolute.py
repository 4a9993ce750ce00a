"""Private least absolute deviations."""

from typing import Literal

from tailguard._validate import real, refuse
from tailguard.domains import Domain
from tailguard.estimators.models import Regressor
from tailguard.ledger.session import SessionLike
from tailguard.losses import Absolute
from tailguard.plans import Moment, Scales

__all__ = ["LeastAbsoluteDeviations"]

_USUAL = 0.1


class LeastAbsoluteDeviations(Regressor):
    """Regression of the median: the mean absolute error is least, whatever the tails of the target are.

    The kink of the absolute error is rounded over a public width; small budgets round it more.

    Parameters
    ----------
    smoothing : float or None, default=None
        Half the width of the rounded kink; public, in units of the target. None takes a tenth of the target's private
        spread.
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record; δ = 0 asks for pure privacy.
    method : str, default="auto"
        With δ = 0 "objective_perturbation" (what "auto" takes) or "output_perturbation". With δ > 0 as in
        `LinearRegression`.
    parameters : {"practical", "paper"}, default="practical"
        "paper": the numbers of a theorem for the method, which need `moment`, a `smoothing` and a bounded domain.
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

    *Accuracy.* The answer tends to the minimiser of the smoothed error. No moment of the noise is needed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20_000, 3))
    >>> y = X @ [1.0, -2.0, 0.0] + rng.standard_cauchy(20_000)  # noise without a mean
    >>> model = LeastAbsoluteDeviations(epsilon=1.0, delta=0.0, random_state=0).fit(X, y)
    >>> bool(np.abs(model.coef_ - [1.0, -2.0, 0.0]).max() < 0.3)
    True
    """

    def __init__(
        self,
        smoothing: float | None = None,
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
        self.smoothing = smoothing
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

    def _loss(self) -> Absolute:
        if self.smoothing is not None:
            return Absolute(real("smoothing", self.smoothing, "LeastAbsoluteDeviations", above=0.0))
        if self.parameters == "paper":
            rule = "a number greater than 0"
            raise refuse("smoothing", "LeastAbsoluteDeviations with parameters='paper'", rule, None)
        return Absolute(_USUAL, relative=True)
