"""Private means."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from tailguard.domains import Domain
from tailguard.engines import Engine
from tailguard.estimators.base import PrivateEstimator
from tailguard.estimators.intervals import interval, std_error
from tailguard.estimators.records import open_records
from tailguard.ledger.session import SessionLike
from tailguard.losses import SquaredDistance
from tailguard.plans import Moment, Scales

__all__ = ["Mean"]


class Mean(PrivateEstimator):
    """The mean of heavy-tailed columns, without a bound on them.

    Parameters
    ----------
    epsilon, delta : float, default=1.0, 1e-6
        The budget, for replacing one record; δ = 0 asks for pure privacy.
    method : str, default="auto"
        "centred_clipping" (what "auto" takes), "clipping", "truncated_mean",
        "median_of_means" or "iterative_updating".
    parameters : {"practical", "paper"}, default="practical"
        Tight accounting and good constants, or the theorem's numbers.
    moment : Moment or None, default=None
        A public assumption on the tails. Only accuracy depends on it.
    scales : Scales or None, default=None
        Public centres and scales, never computed from the records; what is given is not sought and costs nothing.
    domain : Domain or None, default=None
        Where the mean is known to lie; the answer is projected on it.
    radius : float or None, default=None
        Short for an ℓ2 ball around 0.
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
        The private mean.
    mean_std_error_ : float64 vector or None
        Its standard errors, sampling error and privacy noise together; None where the method offers none.
    plan_, release_, privacy_ : Plan, Release, Privacy
        What was promised, what was done, and the recomputed guarantee.

    Notes
    -----
    *Guarantee.* (ε, δ)-differential privacy for replacing one record by any other. n, d and the column names are
    taken as public. A record with a NaN or an infinity counts as the median record. Several rows of one person
    multiply the cost.

    *Accuracy.* Zhao et al. 2024, Theorem 2, for records centred and scaled by private medians and scales.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_t(3, size=(20_000, 2)) + [5.0, -1.0]
    >>> model = Mean(epsilon=1.0, delta=1e-6, random_state=0).fit(X)
    >>> bool(np.abs(model.mean_ - [5.0, -1.0]).max() < 0.1)
    True
    """

    _task = "mean"

    mean_: NDArray[np.float64]
    mean_std_error_: NDArray[np.float64] | None

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
        self.random_state = random_state
        self.numerics = numerics
        self.session = session

    def _loss(self) -> SquaredDistance:
        return SquaredDistance()

    def _open(self, X: Any, y: Any = None) -> Engine:  # noqa: ARG002
        return open_records(self, X)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Fit the mean.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table, or path of a Parquet file
            Records, one a row.
        y : None
            Ignored, for scikit-learn's conventions.
        """
        self.mean_ = self._carry_out(self._open(X)).estimate.coefficients
        self.mean_std_error_ = std_error(self.release_)
        return self

    def mean_interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return confidence intervals of the means, made from released numbers alone.

        They hold for one mean at a time and count the sampling error, the noise of privacy, and an allowance for what
        clipping may have moved.

        Parameters
        ----------
        level : float, default=0.95
            Wanted probability that an interval covers the mean.

        Returns
        -------
        (n_features, 2) matrix
            Lower and upper ends; infinite for a column in which nothing but its median is known.

        Raises
        ------
        ParameterError
            If the method releases nothing from which intervals could be made.
        """
        return interval(self, level)
