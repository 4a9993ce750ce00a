"""The objective around a point: what Newton's method, the gradient method and the certificate evaluate.

A point is written w = a + v with an anchor a and a short v. Predictions at a are known as if computed in twice
the working precision, so the error of those at w is proportional to ‖v‖ and not to ‖w‖ (minimise.md). Lengths
are in the units of the coefficients; gradients are in units of the clip, Hessians in units of the ridge.
"""

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tailguard.certified.kernels import FloatMatrix, FloatVector, exact_predictions

if TYPE_CHECKING:
    from tailguard.certified.objective import Objective

__all__ = ["CHUNK", "Anchor"]

CHUNK = 128  # records added by one product; the totals of chunks are added exactly


class Anchor:
    """The objective F around `point`, as functions of predictions and of v = w − point."""

    def __init__(self, objective: "Objective", point: FloatVector) -> None:
        self.objective, self.point = objective, point
        records = objective.records
        self.base = exact_predictions(records.units, records.norms, records.offsets, point)

    @cached_property
    def _steepness(self) -> FloatVector:
        return self.objective.records.gains / self.objective.clip

    @cached_property
    def pull(self) -> FloatVector:
        """Gradient of regulariser and linear term at the anchor."""
        return (self.point - self.objective.pulled_centre) / self.objective.length

    def predictions(self, shift: FloatVector) -> FloatVector:
        """Return the prediction of each record at point + shift, less its offset."""
        return self.base + self.along(shift)

    def along(self, direction: FloatVector) -> FloatVector:
        """Return how fast the predictions change along a direction."""
        records = self.objective.records
        return records.norms * (records.units @ direction)

    def slopes(self, predictions: FloatVector) -> FloatVector:
        """Return ρφ'‖x‖/clip of each record, clipped to [−1, 1]."""
        derivative = self.objective.loss.derivative(predictions, self.objective.records.targets)
        return np.clip(self._steepness * derivative, -1.0, 1.0)

    def gradient(self, slopes: FloatVector, shift: FloatVector) -> FloatVector:
        """Return ∇F/clip at point + shift, from the slopes there."""
        return self.total(slopes) + (self.pull + shift / self.objective.length)

    def total(self, slopes: FloatVector) -> FloatVector:
        """Return (1/size) Σ slope·unit, with an error of at most CHUNK + 2 roundings for any number of records."""
        units = self.objective.records.units
        whole = len(units) // CHUNK * CHUNK
        blocks = units[:whole].reshape(-1, CHUNK, units.shape[1])
        totals = np.matmul(slopes[:whole].reshape(-1, 1, CHUNK), blocks)[:, 0, :]
        columns = np.vstack([totals, slopes[whole:] @ units[whole:]]).T.tolist()
        return np.array([math.fsum(column) for column in columns]) / self.objective.size

    def hessian(self, predictions: FloatVector) -> FloatMatrix:
        """Return an element of the generalised Hessian of F/ridge at the given predictions."""
        objective, weights = self.objective, self._bends(predictions)
        (active,) = np.nonzero(weights)
        return _gram(objective.records.units, active, weights) / objective.size + np.eye(objective.dimension)

    def stiffness(self, predictions: FloatVector) -> float:
        """Return an upper bound on the largest eigenvalue of `hessian`."""
        return 1.0 + float(self._bends(predictions).sum()) / self.objective.size

    def _bends(self, predictions: FloatVector) -> FloatVector:
        """Second derivative of each record along its unit row, in units of the ridge; 0 where the slope is clipped."""
        objective, records = self.objective, self.objective.records
        derivative = objective.loss.derivative(predictions, records.targets)
        second = objective.loss.second_derivative(predictions, records.targets)
        free = np.abs(self._steepness * derivative) <= 1.0
        return np.where(free, records.gains * records.norms * second / objective.ridge, 0.0)


def _gram(units: FloatMatrix, active: NDArray[Any], weights: FloatVector) -> FloatMatrix:
    d = units.shape[1]
    total = np.zeros((d, d))
    for start in range(0, len(active), 4 * CHUNK):
        chosen = active[start : start + 4 * CHUNK]
        rows = units[chosen] * np.sqrt(weights[chosen])[:, None]
        total += rows.T @ rows
    return total
