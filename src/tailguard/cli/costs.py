"""Synthetic medical costs for the demonstration: made here from a seed, about no real person."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.special import expit, ndtri

from tailguard.run.randomness import Simulation
from tailguard.statistics.arrays import FloatMatrix, FloatVector

__all__ = ["NAMES", "TARGET", "Costs", "synthetic_costs"]

NAMES = ("age", "female", "bmi", "smoker", "conditions", "prior_cost")
TARGET = "cost"
SPREAD = 0.8
"""Standard deviation of the logarithm of a positive cost around its mean."""


@dataclass(frozen=True, eq=False)
class Costs:
    """Covariates and the cost of the following year, one person a row."""

    X: FloatMatrix
    y: FloatVector

    def split(self, n: int) -> tuple["Costs", "Costs"]:
        """Return the first n rows and the rest."""
        return Costs(self.X[:n], self.y[:n]), Costs(self.X[n:], self.y[n:])

    def write(self, path: Path) -> None:
        """Write the rows to a Parquet file."""
        columns = {**dict(zip(NAMES, self.X.T, strict=True)), TARGET: self.y}
        pq.write_table(pa.table(columns), path)


def synthetic_costs(n: int, seed: int = 0) -> Costs:
    """Return n synthetic persons: a third have no cost, the others a lognormal one whose mean is linear.

    Examples
    --------
    >>> costs = synthetic_costs(10_000).y
    >>> bool(0.2 < (costs == 0).mean() < 0.5), bool(costs.max() > 10 * costs.mean())
    (True, True)
    """
    source = Simulation(seed)

    def chance(probability: FloatVector | float) -> FloatVector:
        return (source.uniform(n) < probability).astype(np.float64)

    def normal() -> FloatVector:
        return np.asarray(ndtri(source.uniform(n)))

    age = np.floor(18.0 + 62.0 * source.uniform(n))
    female, smoker = chance(0.52), chance(0.19)
    bmi = 26.0 * np.exp(0.18 * normal())
    conditions = np.floor(-np.log(source.uniform(n)) * np.exp(-2.2 + 0.028 * age + 0.5 * smoker))
    prior = chance(0.85) * np.exp(6.8 + normal() + 0.25 * conditions)
    mean = 30.0 * age + 200.0 * female + 25.0 * bmi + 900.0 * smoker + 1500.0 * conditions + 0.45 * prior - 600.0
    ill = expit(0.4 + 0.02 * (age - 40.0) + 0.9 * (conditions > 0))
    cost = chance(ill) * mean / ill * np.exp(SPREAD * normal() - 0.5 * SPREAD**2)
    return Costs(np.column_stack([age, female, bmi, smoker, conditions, prior]), cost)
