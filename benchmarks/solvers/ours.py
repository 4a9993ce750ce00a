"""tailguard's own estimators, as a user would call them."""

from functools import partial
from typing import Any

from scipy.special import logit

import tailguard as tg
from benchmarks.objective import Budget, Drawn, Fit, Matrix, Refused, Solver, Vector

__all__ = ["Tailguard"]


def _predictions(model: Any, X: Matrix) -> Vector:
    """Return numbers, or the log-odds of the probabilities."""
    return logit(model.predict_proba(X)[:, 1]) if hasattr(model, "predict_proba") else model.predict(X)


class Tailguard(Solver):
    """The default estimators, told nothing but the budget; simulated noise, so that a seed repeats a figure."""

    tasks = ("mean", "linear", "logistic", "sparse", "sparse-logistic")

    def __init__(self, method: str = "auto") -> None:
        self.method = method
        self.name = "tailguard" if method == "auto" else f"tailguard {method}"

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        model = self._model(task, data, budget, seed)
        try:
            model.fit(data.X) if task == "mean" else model.fit(data.X, data.y)
        except tg.BudgetError as error:
            raise Refused(str(error)) from None
        spent = (model.privacy_.epsilon, model.privacy_.delta)
        if task == "mean":
            return Fit(model.mean_, spent=spent)
        return Fit(model.coef_, float(model.intercept_), spent, predict=partial(_predictions, model))

    def _model(self, task: str, data: Drawn, budget: Budget, seed: int) -> Any:
        options = {
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "method": self.method,
            "random_state": seed,
        }
        if task == "sparse":
            return tg.SparseLinearRegression(data.sparsity or "auto", **options)
        if task == "sparse-logistic":
            return tg.SparseLogisticRegression(data.sparsity or "auto", **options)
        return {"mean": tg.Mean, "linear": tg.LinearRegression, "logistic": tg.LogisticRegression}[task](**options)
