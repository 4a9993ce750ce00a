"""Hinge loss with a publicly smoothed kink: support vector machines."""

from dataclasses import dataclass

import numpy as np

from tailguard._validate import real
from tailguard.losses.base import FloatArray, Loss, where_number

__all__ = ["Hinge"]


@dataclass(frozen=True)
class Hinge(Loss):
    """Smoothed hinge loss of the shortfall v = 1 − (2t − 1)·p for labels t ∈ {0, 1}.

    φ = 0 for v ≤ 0, v²/(2μ) for 0 ≤ v ≤ μ and v − μ/2 beyond: the Moreau envelope of max(0, v), never above
    it and never more than μ/2 below. Labels are {0, 1}, as for the logistic loss, and become ±1 inside. A
    label that is missing or outside the public classes arrives as NaN and gives NaN. The constants hold for
    labels in {0, 1}.

    Parameters
    ----------
    smoothing : float
        μ > 0, the width of the rounded kink. Public, in units of the margin.

    Examples
    --------
    >>> Hinge(smoothing=0.5).derivative([0.0, 0.75, 2.0], [1.0, 1.0, 0.0])
    array([-1. , -0.5,  1. ])
    """

    smoothing: float

    name = "hinge"
    convex = True
    lipschitz = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "smoothing", real("smoothing", self.smoothing, "Hinge", above=0.0))

    @property
    def smoothness(self) -> float:
        """1/μ."""
        return 1.0 / self.smoothing

    @property
    def usual_curvature(self) -> float:
        """The density of usual margins at 1, or 1/μ."""
        return min(0.35, self.smoothness)

    def _value(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        shortfall = _shortfall(prediction, target)
        share = self._share(shortfall)
        return share * (np.maximum(shortfall, 0.0) - 0.5 * self.smoothing * share)

    def _derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return -_sign(target) * self._share(_shortfall(prediction, target))

    def _second_derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        shortfall = _shortfall(prediction, target)
        rounded = (shortfall >= 0.0) & (shortfall <= self.smoothing)
        return where_number(shortfall, np.where(rounded, self.smoothness, 0.0))

    def _share(self, shortfall: FloatArray) -> FloatArray:
        """Slope of the loss in the shortfall, in [0, 1]."""
        return np.clip(shortfall / self.smoothing, 0.0, 1.0)


def _sign(target: FloatArray) -> FloatArray:
    return 2.0 * target - 1.0


def _shortfall(prediction: FloatArray, target: FloatArray) -> FloatArray:
    return 1.0 - _sign(target) * prediction
