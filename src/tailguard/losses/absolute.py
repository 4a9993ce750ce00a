"""Absolute error with a publicly smoothed kink: least absolute deviations."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tailguard._validate import real, refuse
from tailguard.losses.base import FloatArray, ResidualLoss, where_number

__all__ = ["Absolute"]


@dataclass(frozen=True)
class Absolute(ResidualLoss):
    """Smoothed absolute error: ψ(r) = r²/(2μ) for |r| ≤ μ and |r| − μ/2 beyond.

    It is the Moreau envelope of |r|, never above it and never more than μ/2 below; its minimiser tends to the
    conditional median as μ → 0.

    Parameters
    ----------
    smoothing : float
        μ > 0, half the width of the rounded kink. Public, in units of the target.
    relative : bool, default=False
        Whether μ counts units of the target's spread instead: a practical recipe finds that privately. A theorem's
        parameters take μ as it is.

    Examples
    --------
    >>> Absolute(smoothing=0.1).derivative([0.05, -3.0], [0.0, 0.0])
    array([ 0.5, -1. ])
    """

    smoothing: float
    relative: bool = False

    name = "absolute"
    convex = True
    lipschitz = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "smoothing", real("smoothing", self.smoothing, "Absolute", above=0.0))
        if not isinstance(self.relative, bool):
            raise refuse("relative", "Absolute", "a boolean", self.relative)

    def rescaled(self, scale: float) -> Self:
        """Return the loss that has the same minimiser when predictions and targets are divided by `scale`."""
        return self if self.relative else replace(self, smoothing=self.smoothing / scale)

    @property
    def smoothness(self) -> float:
        """1/μ."""
        return 1.0 / self.smoothing

    @property
    def usual_curvature(self) -> float:
        """Twice the density of usual residuals at 0, or 1/μ."""
        return min(1.5, self.smoothness)

    def _psi(self, residual: FloatArray) -> FloatArray:
        slope = self._slope(residual)
        return slope * (residual - 0.5 * self.smoothing * slope)

    def _slope(self, residual: FloatArray) -> FloatArray:
        return np.clip(residual / self.smoothing, -1.0, 1.0)

    def _curvature(self, residual: FloatArray) -> FloatArray:
        return where_number(residual, np.where(np.abs(residual) <= self.smoothing, self.smoothness, 0.0))
