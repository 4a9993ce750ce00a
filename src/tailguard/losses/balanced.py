"""A loss for two classes with the logistic loss's model and up to twice its curvature."""

from dataclasses import dataclass

import numpy as np

from tailguard.losses.base import FloatArray, Loss

__all__ = ["BalancedLogistic"]


@dataclass(frozen=True)
class BalancedLogistic(Loss):
    """φ(p, t) = eᵛ for v ≤ 0 and 1 + v beyond, v = p for label 0 and −p for label 1.

    Its derivative is that of the logistic loss divided by max(σ(p), 1 − σ(p)), a positive function of the prediction:
    where the log-odds are linear, both losses have the same minimiser. Slopes are bounded by 1 for both, but this one
    has twice the curvature at p = 0, so the same noise does half the harm. A label that is missing or outside the
    public classes arrives as NaN and gives NaN. The constants hold for labels in {0, 1}.

    Examples
    --------
    >>> BalancedLogistic().derivative([0.0, 1e308, -1e308], [1.0, 1.0, 1.0])
    array([-1., -0., -1.])
    """

    name = "balanced logistic"
    convex = True
    smoothness = 1.0
    lipschitz = 1.0

    def _value(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        against = (1.0 - 2.0 * target) * prediction
        return np.exp(np.minimum(against, 0.0)) + np.maximum(against, 0.0)

    def _derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        sign = 1.0 - 2.0 * target
        return sign * np.exp(np.minimum(sign * prediction, 0.0))

    def _second_derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        against = (1.0 - 2.0 * target) * prediction
        return np.where(against > 0.0, 0.0, np.exp(np.minimum(against, 0.0)))
