"""Rows of features: columns of one law, neighbours correlated, with exact means and covariances."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.datasets.laws import LAWS, Law
from benchmarks.objective import Matrix, Vector

__all__ = ["Design"]


@dataclass(frozen=True)
class Design:
    """d columns whose normal scores follow an autoregression.

    Parameters
    ----------
    name : str
        A law, or "elliptical t3": normal rows divided by one random radius a row, so that columns are large together.
    d : int
        Number of columns.
    correlation : float, default=0.5
        Of neighbouring scores; corr^|i−j| in general.
    """

    name: str
    d: int
    correlation: float = 0.5

    def rows(self, rng: np.random.Generator, n: int) -> Matrix:
        """Return n rows."""
        Z = rng.standard_normal((n, self.d))
        for j in range(1, self.d):
            Z[:, j] = self.correlation * Z[:, j - 1] + np.sqrt(1.0 - self.correlation**2) * Z[:, j]
        if self._elliptical:
            return np.asarray(Z / np.sqrt(rng.chisquare(3.0, n) / 3.0)[:, None])
        return self.law.map(Z)

    @property
    def law(self) -> Law:
        """The law of a column."""
        return LAWS["t3" if self._elliptical else self.name]

    @property
    def tail(self) -> str:
        return self.law.tail + (" with common radius" if self._elliptical else "")

    @property
    def mean(self) -> Vector:
        """Population mean."""
        return np.full(self.d, self.law.mean)

    @cached_property
    def covariance(self) -> Matrix:
        """Population covariance."""
        steps = np.abs(np.subtract.outer(np.arange(self.d), np.arange(self.d)))
        scores = self.correlation**steps
        return np.asarray(3.0 * scores) if self._elliptical else self.law.covariances(scores)

    @property
    def _elliptical(self) -> bool:
        return self.name == "elliptical t3"
