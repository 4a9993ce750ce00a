"""Confidence intervals of fitted estimators, where the method has released what they take."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tailguard.errors import ParameterError
from tailguard.plans import Plan, Release
from tailguard.recipes.sandwich import sandwich_for
from tailguard.recipes.small_budgets import ample
from tailguard.solvers.base import Uncertainty
from tailguard.solvers.oracles import Clip
from tailguard.solvers.selection import ModelSelection
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
        raise ParameterError(f"{type(estimator).__name__} has no intervals here: {_reason(estimator)}")
    return found.interval(level)


def _reason(estimator: Any) -> str:
    """Return why there are none, and what would have them."""
    plan: Plan = estimator.plan_
    if isinstance(plan.solver, TightDescent) and sandwich_for(plan.problem, Clip(), 1)[0] is not None:
        rows, epsilon = ample(plan.problem, plan.privacy)
        return (
            f"with n = {plan.problem.n} and {plan.privacy}, noise would hide the matrices they are made of, so that "
            f"the whole budget goes to the model. About {rows} rows at this budget, or ε of about {epsilon:g}, "
            "would have them."
        )
    if isinstance(plan.solver, ModelSelection):
        return (
            "it was chosen among several models, and intervals that do not know of a choice are too narrow. "
            "A fit to other records has them."
        )
    if np.ndim(getattr(estimator, "coef_", 0.0)) == 2:
        return "models of more than two classes release nothing from which they could be made."
    made = f"the {plan.recipe!r} method with {plan.parameters!r} parameters"
    return f"{made} releases nothing from which they could be made."
