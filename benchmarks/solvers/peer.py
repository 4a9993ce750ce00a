"""What solvers of other libraries share: their process, and what an oracle may tell them about the data."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.objective import Budget, Dataset, Drawn, Fit, Matrix, Solver, Vector
from benchmarks.peers import call, environment

__all__ = ["Oracle", "PeerSolver", "quantile_bounds", "scales"]


@dataclass(frozen=True, eq=False)
class Oracle:
    """Centres and scales of columns, read off the exact data: nothing that a user could know."""

    centre: Vector
    scale: Vector

    def rows(self, X: Matrix) -> Matrix:
        return (X - self.centre) / self.scale

    def undo(self, coefficients: Vector, intercept: float, target: "Oracle | None" = None) -> tuple[Vector, float]:
        """Return a model of scaled rows (and of a scaled target) in raw units."""
        size = 1.0 if target is None else float(target.scale[0])
        slopes = size * coefficients / self.scale
        offset = 0.0 if target is None else float(target.centre[0])
        return slopes, float(offset + size * intercept - slopes @ self.centre)


def scales(X: Matrix) -> Oracle:
    """Return mean and deviation of each column, its extreme hundredths winsorised."""
    X = X.reshape(len(X), -1)
    inner = np.clip(X, *np.quantile(X, [0.01, 0.99], axis=0))
    deviation = inner.std(axis=0)
    deviation = np.where(deviation > 0.0, deviation, X.std(axis=0))
    return Oracle(inner.mean(axis=0), np.where(deviation > 0.0, deviation, 1.0))


def quantile_bounds(X: Matrix, inside: float) -> Matrix:
    """Return bounds that hold this share of each column; 1 is the range. A column that never varies gets width 1."""
    X = X.reshape(len(X), -1)
    bounds = np.quantile(X, [(1.0 - inside) / 2.0, (1.0 + inside) / 2.0], axis=0)
    bounds[1] = np.where(bounds[1] > bounds[0], bounds[1], bounds[0] + 1.0)
    return bounds


class PeerSolver(Solver):
    """A solver that runs in the peer's own environment.

    Attributes
    ----------
    peer : str
        Name of the environment.
    cost : float
        Seconds of a fit of 1e4 records with 20 columns on one core, to plan a run with.
    timeout : float
        Seconds after which the peer's process is ended.
    seeded : bool
        Whether a seed repeats a figure.
    """

    peer: ClassVar[str]
    cost: float = 0.1
    timeout: float = 120.0
    seeded: bool = True

    def available(self) -> str | None:
        return environment(self.peer).missing()

    def supports(self, dataset: Dataset, budget: Budget) -> str | None:
        # An oracle's scales of a thousand columns and a dense fit of them are no peer of a sparse one.
        return super().supports(dataset, budget) or ("more than 500 columns" if dataset.d > 500 else None)

    def ask(self, data: Drawn, header: dict[str, Any], **arrays: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the worker's answer."""
        return call(self.peer, header, arrays, self.timeout)

    @staticmethod
    def answer(reply: dict[str, Any], model: tuple[Vector, float], spent: tuple[float, float]) -> Fit:
        """Return the fit, with the worker's own time and memory."""
        return Fit(model[0], model[1], spent, reply["seconds"], reply["peak_mb"])
