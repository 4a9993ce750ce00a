"""The null model: a constant, from the exact mean of the target; what every excess is measured in."""

import numpy as np

from benchmarks.objective import Budget, Drawn, Fit, Solver

__all__ = ["Null", "constant"]


def constant(task: str, data: Drawn) -> Fit:
    """Return the best constant: the mean of the target, its log-odds, or 0 for a mean."""
    zeros = np.zeros(data.X.shape[1])
    if data.y is None:
        return Fit(zeros)
    if not task.endswith("logistic"):
        return Fit(zeros, float(np.mean(data.y)))
    share = np.clip(np.mean(data.y), 1e-9, 1.0 - 1e-9)
    return Fit(zeros, float(np.log(share) - np.log1p(-share)))


class Null(Solver):
    """The null model, without privacy."""

    name, private, relation = "null model", False, ""
    tasks = ("mean", "linear", "logistic", "sparse", "sparse-logistic")

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        return constant(task, data)
