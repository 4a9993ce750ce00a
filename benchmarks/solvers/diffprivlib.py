"""diffprivlib's mean, linear and logistic regression, in its own environment."""

import numpy as np

from benchmarks.objective import Budget, Drawn, Fit, Solver
from benchmarks.peers.accounting import functional_epsilon, objective_perturbation_epsilon
from benchmarks.solvers.peer import PeerSolver, quantile_bounds, scales

__all__ = ["Diffprivlib", "Repaired", "make"]


class Diffprivlib(PeerSolver):
    """diffprivlib as documented.

    Parameters
    ----------
    inside : float or None
        Share of the records that the bounds of each column (and of the row norm) hold. None: as a user who gives no
        bounds, and whose warning that privacy leaks scrolls by; the library then reads them off the data.
    """

    peer, cost = "diffprivlib", 0.05
    tasks = ("mean", "linear", "logistic")

    def __init__(self, inside: float | None) -> None:
        self.inside = inside
        self.name = "diffprivlib, no bounds" if inside is None else "diffprivlib"
        if inside is not None:
            self.variant = f"bounds hold {100.0 * inside:g} %"
            self.knows = "bounds of every column, of the target and of row norms, from the data; which bounds by trial"

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        request = {"task": task, "epsilon": budget.epsilon, "seed": int(seed), "fit_intercept": True, "C": 1.0}
        fitted = {"mean": self._mean, "linear": self._linear, "logistic": self._logistic}[task]
        reply, model, epsilon = fitted(request, data, budget.epsilon)
        # Bounds read off the data without a charge are no differential privacy at all.
        return self.answer(reply, model, (float("inf") if self.inside is None else epsilon, 0.0))

    def _bounds(self, data: Drawn) -> dict[str, np.ndarray]:
        if self.inside is None:
            return {}
        target = {} if data.y is None else {"target_bounds": quantile_bounds(data.y, self.inside)[:, 0]}
        return {"bounds": quantile_bounds(data.X, self.inside)} | target

    def _mean(self, request: dict, data: Drawn, epsilon: float) -> tuple:
        reply, results = self.ask(data, request, rows=data.X, **self._bounds(data))
        return reply, (results["coefficients"], 0.0), epsilon

    def _linear(self, request: dict, data: Drawn, epsilon: float) -> tuple:
        reply, results = self.ask(data, request, rows=data.X, target=data.y, **self._bounds(data))
        spent = functional_epsilon(epsilon, results["bounds"], results["target_bounds"], request["fit_intercept"])
        return reply, (results["coefficients"], reply["intercept"]), spent

    def _logistic(self, request: dict, data: Drawn, epsilon: float) -> tuple:
        norms = np.linalg.norm(data.X, axis=1)
        norm = None if self.inside is None else float(np.quantile(norms, self.inside))
        reply, results = self.ask(data, request | {"norm": norm}, rows=data.X, target=data.y)
        spent = objective_perturbation_epsilon(epsilon, reply["norm"], 1.0, True)
        return reply, (results["coefficients"], reply["intercept"]), spent


class Repaired(Diffprivlib):
    """diffprivlib used so that its guarantee holds.

    Linear: columns and target centred and clipped by us to bounds that are symmetric about zero, no intercept, so that
    the lower bound's square is the right sensitivity. Logistic: rows, with a column of ones, scaled and clipped by us
    to norm 1, no intercept, where the library's formula is that of the paper.
    """

    tasks = ("linear", "logistic")

    def __init__(self, inside: float, C: float = 1.0) -> None:
        super().__init__(inside)
        self.C = C
        self.name = "diffprivlib repaired"
        self.variant = f"bounds hold {100.0 * inside:g} % C {C:g}"
        self.knows = "centre, scale and bounds of every column and of the target; which bounds and penalty by trial"

    def _linear(self, request: dict, data: Drawn, epsilon: float) -> tuple:
        columns, target = scales(data.X), scales(data.y)
        rows, goal = columns.rows(data.X), target.rows(data.y[:, None])
        limit, height = (np.quantile(np.abs(part), self.inside, axis=0) for part in (rows, goal))
        limit = np.where(limit > 0.0, limit, 1.0)
        rows, goal = np.clip(rows, -limit, limit), np.clip(goal, -height, height)[:, 0]
        bounds = {"bounds": np.stack([-limit, limit]), "target_bounds": np.concatenate([-height, height])}
        reply, results = self.ask(data, request | {"fit_intercept": False}, rows=rows, target=goal, **bounds)
        spent = functional_epsilon(epsilon, results["bounds"], results["target_bounds"], False)
        return reply, columns.undo(results["coefficients"], 0.0, target), spent

    def _logistic(self, request: dict, data: Drawn, epsilon: float) -> tuple:
        columns = scales(data.X)
        rows = columns.rows(data.X)
        norm = float(np.quantile(np.linalg.norm(rows, axis=1), self.inside))
        rows = np.hstack([rows / np.maximum(np.linalg.norm(rows, axis=1), norm)[:, None], np.ones((len(rows), 1))])
        request = request | {"fit_intercept": False, "norm": 1.0, "C": self.C}
        # A hair below 1: the library clips once more, and rounding must not find a row above its bound.
        reply, results = self.ask(data, request, rows=rows * ((1.0 - 1e-12) / np.sqrt(2.0)), target=data.y)
        weights = results["coefficients"] / np.sqrt(2.0)
        spent = objective_perturbation_epsilon(epsilon, 1.0, 1.0 / self.C, False)
        return reply, columns.undo(weights[:-1] / norm, float(weights[-1])), spent


def make() -> list[Solver]:
    """Return the rows: as a naive user would, with an oracle's bounds, and repaired."""
    repaired = [Repaired(inside, C) for inside, C in ((0.5, 1e4), (0.9, 1.0), (0.9, 1e4))]
    return [Diffprivlib(None), *(Diffprivlib(inside) for inside in (0.9, 0.99, 1.0)), *repaired]
