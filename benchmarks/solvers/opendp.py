"""OpenDP's bounded mean and Theil–Sen line, in its own environment (the version is the one that it would get alone)."""

import dp_accounting
import numpy as np

from benchmarks.objective import Budget, Dataset, Drawn, Fit, Solver
from benchmarks.peers.accounting import gaussian_means_epsilon, laplace_means_epsilon, theil_sen_epsilon
from benchmarks.solvers.peer import PeerSolver, quantile_bounds

__all__ = ["OpenDP", "make"]


class OpenDP(PeerSolver):
    """OpenDP with bounds from an oracle. Its noise cannot be seeded: rows differ from run to run.

    Parameters
    ----------
    inside : float
        Share of the records that the bounds hold.
    """

    peer, cost, name, seeded = "opendp", 0.3, "OpenDP", False
    tasks = ("mean", "linear")
    knows = "bounds of every column and of the target, from the data; which bounds by trial"

    def __init__(self, inside: float) -> None:
        self.inside, self.variant = inside, f"bounds hold {100.0 * inside:g} %"

    def supports(self, dataset: Dataset, budget: Budget) -> str | None:
        reason = super().supports(dataset, budget)
        if reason is None and dataset.task == "linear" and dataset.d > 1:
            return "linear regression on one feature only"
        # Lists of numbers go into its means: some 2 µs a value.
        return reason or ("more than two million values" if dataset.n * dataset.d > 2_000_000 else None)

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        return self._mean(data, budget, seed) if task == "mean" else self._line(data, budget, seed)

    def _mean(self, data: Drawn, budget: Budget, seed: int) -> Fit:
        n, d = data.X.shape
        bounds = quantile_bounds(data.X, self.inside)
        widths = bounds[1] - bounds[0]
        if budget.pure:
            scales = widths * d / (n * budget.epsilon)
            spent = (laplace_means_epsilon(widths, n, scales), 0.0)
        else:
            scales = widths / n * np.sqrt(d) * dp_accounting.get_sigma_gaussian(budget.epsilon, budget.delta)
            spent = (gaussian_means_epsilon(widths, n, scales, budget.delta), budget.delta)
        request = {"task": "mean", "pure": budget.pure, "seed": int(seed)}
        reply, results = self.ask(data, request, rows=data.X, bounds=bounds, scales=scales)
        return self.answer(reply, (results["coefficients"], 0.0), spent)

    def _line(self, data: Drawn, budget: Budget, seed: int) -> Fit:
        scale = 4.0 / budget.epsilon
        bounds = {"bounds": quantile_bounds(data.X, self.inside)}
        bounds["target_bounds"] = quantile_bounds(data.y, self.inside)[:, 0]
        request = {"task": "linear", "scale": scale, "seed": int(seed)}
        reply, results = self.ask(data, request, rows=data.X, target=data.y, **bounds)
        return self.answer(reply, (results["coefficients"], reply["intercept"]), (theil_sen_epsilon(scale), 0.0))


def make() -> list[Solver]:
    """Return the rows: bounds that hold less or more of the data."""
    return [OpenDP(inside) for inside in (0.9, 0.99, 1.0)]
