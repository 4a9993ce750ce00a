"""What one would publish without privacy: the sample mean, ordinary least squares, maximum likelihood."""

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression

from benchmarks.objective import Budget, Drawn, Fit, Solver

__all__ = ["NonPrivate"]


class NonPrivate(Solver):
    """Sample mean, ordinary least squares, maximum likelihood; on sparse tasks on all columns."""

    name, private, relation = "non-private", False, ""
    tasks = ("mean", "linear", "logistic", "sparse", "sparse-logistic")

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        if task == "mean":
            return Fit(data.X.mean(axis=0))
        # Columns in their own units make the solution of the normal equations lose digits.
        centre, scale = data.X.mean(axis=0), data.X.std(axis=0)
        scale[scale == 0.0] = 1.0
        rows = (data.X - centre) / scale
        if task in ("linear", "sparse"):
            model = LinearRegression().fit(rows, data.y)
            slopes, offset = model.coef_ / scale, float(model.intercept_)
        else:
            model = LogisticRegression(C=np.inf, max_iter=1000).fit(rows, data.y)
            slopes, offset = model.coef_[0] / scale, float(model.intercept_[0])
        return Fit(slopes, float(offset - slopes @ centre))
