"""The distributions of section 6: how they are drawn, and what is known about them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tailguard.run.randomness import DataGenerator
from tailguard.statistics.arrays import FloatVector

__all__ = ["Law", "Single"]

Single = NDArray[np.float32]
"""Designs are drawn in single precision: half the memory, and the engine widens a chunk at a time."""


@dataclass(frozen=True)
class Law:
    """A distribution of one feature or of the noise.

    Parameters
    ----------
    family : str
        "normal" (standard deviation), "lognormal" (σ), "student" (degrees of freedom), "laplace" (scale), "logistic"
        (scale), "loglogistic" (c), "loggamma" (c) or "none".
    parameter : float
        What stands in brackets.

    Examples
    --------
    >>> Law("laplace", 5.0).variance
    50.0
    """

    family: str
    parameter: float = 1.0

    @cached_property
    def _law(self) -> Any:
        """The same law in SciPy."""
        law, name = _LAWS[self.family]
        return law(**{name: self.parameter})

    @property
    def symmetric(self) -> bool:
        """Whether it is symmetric around 0."""
        return self.family in ("normal", "student", "laplace", "logistic", "none")

    @property
    def mean(self) -> float:
        """The mean of one feature."""
        return 0.0 if self.symmetric else float(self._law.mean())

    @property
    def variance(self) -> float:
        """The variance of one feature."""
        return 0.0 if self.family == "none" else float(self._law.var())

    def exceeds(self, level: FloatVector) -> FloatVector:
        """Return P(law > level), level by level."""
        return (level < 0.0).astype(np.float64) if self.family == "none" else np.asarray(self._law.sf(level))

    def noise(self, generator: DataGenerator, n: int) -> FloatVector:
        """Return n independent values in double precision: some laws have no moments at all."""
        return np.zeros(n) if self.family == "none" else np.asarray(self._law.rvs(size=n, random_state=generator))

    def design(self, generator: DataGenerator, n: int, d: int) -> Single:
        """Return n rows of d independent features."""
        return _DESIGNS[self.family](generator, n, d, np.float32(self.parameter))


def _normal(generator: DataGenerator, n: int, d: int, scale: np.float32) -> Single:
    X = generator.standard_normal((n, d), dtype=np.float32)
    X *= scale
    return X


def _lognormal(generator: DataGenerator, n: int, d: int, scale: np.float32) -> Single:
    X = _normal(generator, n, d, scale)
    return np.exp(X, out=X)


def _student(generator: DataGenerator, n: int, d: int, freedom: np.float32) -> Single:
    X = generator.standard_normal((n, d), dtype=np.float32)
    half = freedom / np.float32(2.0)
    X /= np.sqrt(generator.standard_gamma(half, (n, d), dtype=np.float32) / half)
    return X


def _laplace(generator: DataGenerator, n: int, d: int, scale: np.float32) -> Single:
    X = generator.standard_exponential((n, d), dtype=np.float32)
    X -= generator.standard_exponential((n, d), dtype=np.float32)
    X *= scale
    return X


_LAWS: dict[str, tuple[Any, str]] = {
    "normal": (stats.norm, "scale"),
    "lognormal": (stats.lognorm, "s"),
    "student": (stats.t, "df"),
    "laplace": (stats.laplace, "scale"),
    "logistic": (stats.logistic, "scale"),
    "loglogistic": (stats.fisk, "c"),
    "loggamma": (stats.loggamma, "c"),
}

_DESIGNS: dict[str, Callable[[DataGenerator, int, int, np.float32], Single]] = {
    "normal": _normal,
    "lognormal": _lognormal,
    "student": _student,
    "laplace": _laplace,
}
