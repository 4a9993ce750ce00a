"""Private sparse means."""

from typing import Literal

from tailguard.domains import Domain
from tailguard.estimators.mean import Mean
from tailguard.estimators.sparsity import sparse_vectors
from tailguard.ledger.session import SessionLike
from tailguard.plans import Moment, Scales

__all__ = ["SparseMean"]


class SparseMean(Mean):
    """The mean of many heavy-tailed columns of which few have a mean other than 0, without a bound on them.

    Parameters
    ----------
    sparsity : int, default=1
        s, how many columns may have a mean other than 0; public.
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record; δ = 0 asks for pure privacy.
    method : str, default="auto"
        "sparse_mean" (what "auto" takes), "catoni_thresholding" or "truncated_thresholding".
    parameters : {"practical", "paper"}, default="practical"
        "paper": the numbers of Hu et al. 2022, Theorem 8, or of a theorem for the method, which need `moment`.
    moment : Moment or None, default=None
        A public assumption on the tails. Only accuracy depends on it.
    scales : Scales or None, default=None
        Public centres and scales, never computed from the records; what is given is not sought and costs nothing.
    radius : float or None, default=None
        A public bound on the ℓ2 norm of the mean.
    random_state : int or None, default=None
        None draws from a cryptographic generator. An integer makes a *simulation* that protects nobody.
    numerics : {"exact", "float"}, default="exact"
        How private noise is sampled.
    session : str, path, Session or None, default=None
        A total budget across fits, which pays for this one before a record is read; see `Session`. A path survives
        cloning, pickling and worker processes.

    Attributes
    ----------
    mean_ : float64 vector
        The private mean, with at most s entries that are not 0; which ones is released with it.
    plan_, release_, privacy_ : Plan, Release, Privacy
        What was promised, what was done, and the recomputed guarantee.

    Notes
    -----
    *Guarantee.* (ε, δ)-differential privacy for replacing one record by any other, the choice of columns included. n, d
    and the column names are taken as public. Several rows of one person multiply the cost.

    *Accuracy.* As that of `Mean` for s columns, where their means are large enough to be picked; a column's mean is
    found from about ln(d/s)·√s × noise multiplier ÷ n of its scales on.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_t(3, size=(10_000, 1_000))
    >>> X[:, [3, 70]] += [1.0, -2.0]
    >>> model = SparseMean(sparsity=2, epsilon=1.0, delta=1e-6, random_state=0).fit(X)
    >>> np.flatnonzero(model.mean_)
    array([ 3, 70])
    """

    def __init__(
        self,
        sparsity: int = 1,
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        method: str = "auto",
        parameters: Literal["practical", "paper"] = "practical",
        moment: Moment | None = None,
        scales: Scales | None = None,
        radius: float | None = None,
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
        self.random_state = random_state
        self.numerics = numerics
        self.session = session

    def _domain(self, n: int, d: int) -> Domain:  # noqa: ARG002
        return sparse_vectors("SparseMean", self.sparsity, self.radius, d)
