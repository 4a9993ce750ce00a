"""Confidence intervals of fitted estimators, where the method has released what they take."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tailguard.errors import ParameterError
from tailguard.plans import Release
from tailguard.solvers.base import Uncertainty
from tailguard.solvers.tight_descent import TightDescent

__all__ = ["interval", "std_error"]


def std_error(release: Release) -> NDArray[np.float64] | None:
    """Return the standard errors that a release offers: of coefficients, then of the intercept; None if none."""
    found = release.estimate.uncertainty
    return None if found is None else found.std_error


def interval(estimator: Any, level: float) -> NDArray[np.float64]:
    """Return lower and upper ends of intervals for coefficients, then the intercept, or say that there are none."""
    check_is_fitted(estimator, "release_")
    found: Uncertainty | None = estimator.release_.estimate.uncertainty
    if found is None:
        plan = estimator.plan_
        small = " at so small a budget" if isinstance(plan.solver, TightDescent) else ""
        raise ParameterError(
            f"The {plan.recipe!r} method with {plan.parameters!r} parameters offers no intervals for "
            f"{type(estimator).__name__}{small}: nothing is released from which they could be made."
        )
    return found.interval(level)
