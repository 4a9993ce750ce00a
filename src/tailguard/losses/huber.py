"""Huber's loss: least squares near, absolute error far."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tailguard._validate import real, refuse
from tailguard.losses.base import FloatArray, ResidualLoss, where_number

__all__ = ["Huber"]


@dataclass(frozen=True)
class Huber(ResidualLoss):
    """Huber's loss, ψ(r) = ½ r² for |r| ≤ c and c|r| − ½ c² beyond.

    Parameters
    ----------
    threshold : float
        c > 0, the residual at which the slope stops growing. Public, in units of the target.
    relative : bool, default=False
        Whether c counts units of the target's spread instead: a practical recipe finds that privately, and c is the
        same in any unit of measurement. A theorem's parameters take c as it is.

    Examples
    --------
    >>> Huber(threshold=1.0).derivative([0.5, 7.0], [0.0, 0.0])
    array([0.5, 1. ])
    """

    threshold: float
    relative: bool = False

    name = "huber"
    convex = True
    smoothness = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "threshold", real("threshold", self.threshold, "Huber", above=0.0))
        if not isinstance(self.relative, bool):
            raise refuse("relative", "Huber", "a boolean", self.relative)

    @property
    def lipschitz(self) -> float:
        """The threshold c."""
        return self.threshold

    def rescaled(self, scale: float) -> Self:
        """Return the loss that has the same minimiser when predictions and targets are divided by `scale`."""
        return self if self.relative else replace(self, threshold=self.threshold / scale)

    def _psi(self, residual: FloatArray) -> FloatArray:
        slope = self._slope(residual)
        return slope * (residual - 0.5 * slope)

    def _slope(self, residual: FloatArray) -> FloatArray:
        return np.clip(residual, -self.threshold, self.threshold)

    def _curvature(self, residual: FloatArray) -> FloatArray:
        return where_number(residual, np.abs(residual) <= self.threshold)
