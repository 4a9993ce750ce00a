"""Anything convex: `minimize` runs a recipe on a loss and a domain of the user's."""

from typing import Any, Literal

from tailguard import engines
from tailguard._validate import refuse
from tailguard.domains import Domain
from tailguard.estimators.records import numbers
from tailguard.ledger.session import SessionLike, session_of
from tailguard.losses.base import Loss, RecordLoss
from tailguard.plans import Moment, Problem, Release, Scales
from tailguard.privacy import Privacy
from tailguard.recipes import plan_by
from tailguard.recipes.automatic import choose_recipe
from tailguard.run import make_randomness, run

__all__ = ["minimize"]


def minimize(
    loss: Loss | RecordLoss,
    domain: Domain,
    records: Any,
    privacy: Privacy,
    *,
    method: str = "auto",
    parameters: Literal["practical", "paper"] = "practical",
    intercept: bool = False,
    moment: Moment | None = None,
    scales: Scales | None = None,
    smoothness: float = 1.0,
    strong_convexity: float = 0.0,
    random_state: int | None = None,
    numerics: Literal["exact", "float"] = "exact",
    session: SessionLike | None = None,
) -> Release:
    """Minimise the mean of a loss over a domain, privately.

    Parameters
    ----------
    loss : Loss or RecordLoss
        One of `tailguard.losses`, or a `CustomLoss` with a gradient for each record. Logistic and hinge losses expect
        targets 0 and 1.
    domain : Domain
        One of `tailguard.domains`; for a custom loss its dimension is the number of coefficients.
    records : X, or tuple (X, y)
        As for the estimators; y may name a column of X.
    privacy : Privacy
        The budget.
    method : str, default="auto"
        A recipe that descends: "newton" (not for a custom loss), "clipping", "truncated_mean", "median_of_means",
        "iterative_updating". "auto" takes the one that an estimator with this loss and domain would.
    parameters : {"practical", "paper"}, default="practical"
        As for the estimators.
    intercept : bool, default=False
        Whether predictions have an intercept; only for losses of predictions.
    moment : Moment or None, default=None
        A public assumption on the gradients' tails; only accuracy depends on it.
    scales : Scales or None, default=None
        Public centres and scales, never computed from the records; not for a loss of whole records.
    smoothness, strong_convexity : float, default=1.0, 0.0
        Assumed constants of the population risk, from which step sizes are taken where nothing better is known: for a
        custom loss, and by "paper" parameters.
    random_state, numerics, session
        As for the estimators.

    Returns
    -------
    Release
        `release.estimate.coefficients`, and everything that was released on the way.

    Notes
    -----
    *Guarantee.* (ε, δ)-differential privacy for replacing one record, for any loss whose gradient at a record depends
    on that record alone. Nothing else is assumed: gradients are clipped whatever they are.

    Examples
    --------
    >>> import numpy as np, tailguard as tg
    >>> X = np.random.default_rng(0).standard_t(3, size=(20_000, 3)) + [0.5, 0.0, 0.2]
    >>> loss, domain = tg.losses.SquaredDistance(), tg.domains.L2Ball(3, 1.0)
    >>> release = minimize(loss, domain, X, tg.Privacy(1.0, 1e-6), random_state=0)
    >>> bool(np.abs(release.estimate.coefficients - [0.5, 0.0, 0.2]).max() < 0.1)
    True
    """
    if not isinstance(loss, Loss | RecordLoss):
        raise refuse("loss", "minimize", "a loss of tailguard.losses", type(loss).__name__)
    if not isinstance(privacy, Privacy):
        raise refuse("privacy", "minimize", "a Privacy", type(privacy).__name__)
    X, y = records if isinstance(records, tuple) else (records, None)
    X = numbers(X, "X")  # an integer too large for NumPy, or a None, must not change the type of a whole list
    engine = engines.open(X, target=y) if isinstance(y, str) else engines.open(X, numbers(y, "y"))
    if scales is not None and not isinstance(scales, Scales):
        raise refuse("scales", "minimize", "Scales or None", scales)
    units = None if scales is None else scales.of(engine.d, engine.names or ())
    problem = Problem(loss, domain, engine.n, engine.d, intercept, moment, smoothness, strong_convexity, units)

    def choose(problem: Problem, privacy: Privacy) -> str:
        return choose_recipe("regression", problem, privacy, parameters) if method == "auto" else method

    plan = plan_by(choose, "regression", problem, privacy, parameters, "minimize", automatic=method == "auto")
    return run(plan, engine, make_randomness(random_state, numerics), session_of("minimize", session))
