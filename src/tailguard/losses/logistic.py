"""Logistic loss: binary classification with probabilities."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from tailguard.losses.base import FloatArray, Loss, where_number

__all__ = ["Logistic"]


@dataclass(frozen=True)
class Logistic(Loss):
    """Logistic loss, φ(p, t) = log(1 + eᵖ) − t·p for labels t ∈ {0, 1}.

    The derivative is sigmoid(p) − t. A label that is missing or outside the public classes arrives as NaN and
    gives NaN. The constants hold for labels in {0, 1}.

    Examples
    --------
    >>> Logistic().derivative([0.0, 1e308, -1e308], [1.0, 1.0, 1.0])
    array([-0.5,  0. , -1. ])
    """

    name = "logistic"
    convex = True
    smoothness = 0.25
    lipschitz = 1.0

    def _value(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, prediction) - target * prediction

    def _derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return expit(prediction) - target

    def _second_derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return where_number(target, expit(prediction) * expit(-prediction))
