"""Non-private references beside least squares: Huber's regression and the LASSO (scikit-learn)."""

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import HuberRegressor, LassoCV, LogisticRegressionCV

from benchmarks.objective import Budget, Drawn, Fit, Solver
from benchmarks.solvers.baseline import is_logistic, oracle_units

__all__ = ["Huber", "Lasso", "make"]


class Huber(Solver):
    """Huber's regression with scikit-learn's default cut, without privacy: robust to heavy-tailed noise."""

    name, private, relation = "non-private Huber", False, ""
    tasks = ("linear",)

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        units = oracle_units(task, data)
        rows = units.rows(data.X, data.y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = HuberRegressor(alpha=0.0, max_iter=1000).fit(rows.Z[:, :-1], rows.t)
        return units.raw(np.append(model.coef_, model.intercept_))


class Lasso(Solver):
    """LASSO, or logistic regression with an ℓ1 penalty, the penalty by cross-validation; without privacy."""

    name, private, relation = "non-private LASSO", False, ""
    tasks = ("sparse", "sparse-logistic")
    slow = True

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        units = oracle_units(task, data)
        rows = units.rows(data.X, data.y, is_logistic(task))
        with warnings.catch_warnings():
            # Warnings of convergence, and of names that scikit-learn is about to change.
            warnings.simplefilter("ignore")
            if is_logistic(task):
                options = {"Cs": 6, "cv": 3, "penalty": "l1", "solver": "liblinear", "scoring": "neg_log_loss"}
                model = LogisticRegressionCV(**options, random_state=seed).fit(rows.Z[:, :-1], rows.t)
                w = np.append(model.coef_[0], model.intercept_[0])
            else:
                model = LassoCV(cv=3, random_state=seed).fit(rows.Z[:, :-1], rows.t)
                w = np.append(model.coef_, model.intercept_)
        return units.raw(w)


def make() -> Sequence[Solver]:
    """Return the references."""
    return [Huber(), Lasso()]
