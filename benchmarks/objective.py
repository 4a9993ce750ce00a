"""What is measured: the error of a mean, the excess risk of a model relative to the null model's.

A data set gives records and what is known about the population; a solver fits; the objective judges. A solver that
diverges counts as its value, never as missing.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset", "Drawn", "Fit", "Solver", "measure"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """Coefficients (for a mean: the mean) and an intercept, in raw units."""

    coefficients: Vector
    intercept: float = 0.0


@dataclass(frozen=True)
class Drawn:
    """Records of one seed."""

    X: Vector
    y: Vector | None = None


class Dataset(ABC):
    """A distribution with a known answer."""

    name: str
    task: str
    n: int
    d: int
    tail: str

    @abstractmethod
    def draw(self, seed: int) -> Drawn:
        """Return the records of a seed."""

    @abstractmethod
    def error(self, fit: Fit) -> float:
        """Return the error of a fit: ℓ2 for a mean, excess population risk ÷ the null model's for a model."""


class Solver(ABC):
    """A way to fit. `knows` says what it was told that a user would not know."""

    name: str
    tasks: tuple[str, ...]
    private: bool
    knows: str = "nothing"

    @abstractmethod
    def fit(self, task: str, data: Drawn, epsilon: float, delta: float, seed: int) -> Fit:
        """Return the fit."""


def measure(dataset: Dataset, solver: Solver, epsilon: float, delta: float, seeds: range) -> dict[str, Any]:
    """Return the quartiles of the error over the seeds."""
    errors = [dataset.error(solver.fit(dataset.task, dataset.draw(seed), epsilon, delta, seed)) for seed in seeds]
    low, median, high = np.quantile(np.nan_to_num(errors, nan=np.inf, posinf=np.inf), [0.25, 0.5, 0.75])
    return {
        "dataset": dataset.name,
        "task": dataset.task,
        "n": dataset.n,
        "d": dataset.d,
        "solver": solver.name,
        "epsilon": epsilon,
        "delta": delta,
        "seeds": f"{seeds.start}-{seeds.stop - 1}",
        "median": float(median),
        "quartiles": (float(low), float(high)),
    }
