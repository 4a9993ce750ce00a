"""Private linear support vector machine."""

from collections.abc import Sequence
from typing import Any, Literal

from tailguard._validate import real
from tailguard.domains import Domain
from tailguard.estimators.models import TwoClasses
from tailguard.ledger.session import SessionLike
from tailguard.losses import Hinge
from tailguard.plans import Moment, Scales

__all__ = ["LinearSVC"]


class LinearSVC(TwoClasses):
    """Linear support vector machine with two public classes on heavy-tailed features, without a bound on them.

    The kink of the hinge loss is rounded over a public width; small budgets round it more.

    Parameters
    ----------
    smoothing : float, default=0.1
        Width of the rounded kink; public, in units of the margin.
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record; δ = 0 asks for pure privacy.
    classes : sequence of two labels, default=(0, 1)
        The public labels, the positive one last. They are never read from the data; a record with any other label
        contributes nothing.
    method : str, default="auto"
        As in `LeastAbsoluteDeviations`.
    parameters : {"practical", "paper"}, default="practical"
        "paper": the numbers of a theorem for the method, which need `moment` and a bounded domain.
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
    classes_ : vector of two labels
        The parameter `classes`.
    coef_, intercept_ : float64 vector, float
        The private model in raw units: above 0 the last class, and beyond ±1 without a doubt.
    feature_range_ : FeatureRange or None
        Where the rows are, by what was released of them: `centres`, `rates` (1 ÷ scale) and a `radius`. Rows farther
        out are predicted as if they ended there. None where the method releases no units or lengths.
    plan_, release_, privacy_ : Plan, Release, Privacy
        What was promised, what was done, and the recomputed guarantee.

    Notes
    -----
    *Guarantee.* (ε, δ)-differential privacy for replacing one record by any other, label included. `score` is not
    private.

    *Accuracy.* The answer tends to the minimiser of the smoothed hinge loss without a penalty: what the budget cannot
    carry is regularised, and nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_t(3, size=(20_000, 2))
    >>> y = (X @ [1.0, -1.0] + rng.logistic(size=20_000) > 0).astype(int)
    >>> model = LinearSVC(epsilon=1.0, delta=0.0, random_state=0).fit(X, y)
    >>> bool(np.mean(model.predict(X) == (X @ [1.0, -1.0] > 0)) > 0.95)
    True
    """

    def __init__(
        self,
        smoothing: float = 0.1,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        classes: Sequence[Any] = (0, 1),
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
        self.classes = classes
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

    def _loss(self) -> Hinge:
        return Hinge(real("smoothing", self.smoothing, "LinearSVC", above=0.0))
