import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression

from benchmarks.objective import Drawn, Fit, Solver


class NonPrivate(Solver):
    """Sample mean, ordinary least squares, maximum likelihood: what one would publish without privacy."""

    name, private = "non-private", False
    tasks = ("mean", "linear", "logistic")

    def fit(self, task: str, data: Drawn, epsilon: float, delta: float, seed: int) -> Fit:
        if task == "mean":
            return Fit(data.X.mean(axis=0))
        if task == "linear":
            model = LinearRegression().fit(data.X, data.y)
            return Fit(model.coef_, float(model.intercept_))
        centre, scale = data.X.mean(axis=0), data.X.std(axis=0)
        fitted = LogisticRegression(C=np.inf, max_iter=1000).fit((data.X - centre) / scale, data.y)
        slopes = fitted.coef_[0] / scale
        return Fit(slopes, float(fitted.intercept_[0] - slopes @ centre))
