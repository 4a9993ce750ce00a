"""Tukey's biweight: robust regression that ignores what is far away."""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tailguard._validate import real, refuse
from tailguard.losses.base import FloatArray, ResidualLoss

__all__ = ["Biweight"]


@dataclass(frozen=True)
class Biweight(ResidualLoss):
    """Tukey's biweight, ψ(r) = c²/6 · (1 − (1 − (r/c)²)³) for |r| ≤ c and c²/6 beyond.

    Not convex: a residual beyond c has no influence at all. It is the example of robust regression in Hu et
    al. 2022, Theorem 3. The slope r (1 − (r/c)²)² is largest at |r| = c/√5, the curvature (1 − (r/c)²)(1 −
    5(r/c)²) at 0.

    Parameters
    ----------
    threshold : float
        c > 0, the residual from which on a record has no influence. Public, in units of the target.
    relative : bool, default=False
        Whether c counts units of the target's spread instead: a practical recipe finds that privately, and c is the
        same in any unit of measurement. A theorem's parameters take c as it is.

    Examples
    --------
    >>> Biweight(threshold=2.0).derivative([1.0, 7.0], [0.0, 0.0])
    array([0.5625, 0.    ])
    """

    threshold: float
    relative: bool = False

    name = "biweight"
    convex = False
    smoothness = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", real("threshold", self.threshold, "Biweight", above=0.0))
        if not isinstance(self.relative, bool):
            raise refuse("relative", "Biweight", "a boolean", self.relative)

    @property
    def lipschitz(self) -> float:
        """The largest slope, 16c/(25√5)."""
        return 16.0 * (self.threshold / (25.0 * math.sqrt(5.0)))

    def rescaled(self, scale: float) -> Self:
        """Return the loss that has the same minimiser when predictions and targets are divided by `scale`."""
        return self if self.relative else replace(self, threshold=self.threshold / scale)

    def _psi(self, residual: FloatArray) -> FloatArray:
        near, square = self._near(residual), self._square(residual)
        # 1 − (1 − v)³ = v (3 − 3v + v²) has no cancellation at small v.
        return near * near * (3.0 - 3.0 * square + square * square) / 6.0

    def _slope(self, residual: FloatArray) -> FloatArray:
        return self._near(residual) * (1.0 - self._square(residual)) ** 2

    def _curvature(self, residual: FloatArray) -> FloatArray:
        square = self._square(residual)
        return (1.0 - square) * (1.0 - 5.0 * square)

    def _near(self, residual: FloatArray) -> FloatArray:
        return np.clip(residual, -self.threshold, self.threshold)

    def _square(self, residual: FloatArray) -> FloatArray:
        return np.square(self._near(residual) / self.threshold)
