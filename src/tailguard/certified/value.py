"""Values of the slope-clipped loss: the loss where its slope is small, its tangent beyond."""

import numpy as np

from tailguard.certified.kernels import FloatVector
from tailguard.certified.records import Records
from tailguard.losses.base import Loss

__all__ = ["clipped_loss", "clipped_values"]

HALVINGS = 2100  # from the largest float to a neighbour of any other


def clipped_values(loss: Loss, records: Records, clip: float, predictions: FloatVector) -> FloatVector:
    """Return ρφ_C of each record at the given predictions."""
    with np.errstate(all="ignore"):
        weights = np.where(records.norms > 0.0, records.gains / records.norms, 0.0)
        limits = np.where(records.gains > 0.0, clip / records.gains, np.inf)
        return np.where(weights > 0.0, weights * clipped_loss(loss, limits, predictions, records.targets), 0.0)


def clipped_loss(loss: Loss, limits: FloatVector, predictions: FloatVector, targets: FloatVector) -> FloatVector:
    """Return the largest convex function below the loss with slopes between −limit and limit, entry by entry.

    Where |φ'| exceeds the limit at a prediction p, it is φ(q) + limit·|p − q|, with q the nearest prediction at
    which |φ'| does not exceed it, found by bisection between p and the side where φ falls.
    """
    slopes = loss.derivative(predictions, targets)
    steep = np.abs(slopes) > limits
    kinks = predictions.copy()
    kinks[steep] = _kinks(loss, limits[steep], predictions[steep], targets[steep], np.sign(slopes[steep]))
    return np.asarray(loss.value(kinks, targets) + np.where(steep, limits * np.abs(predictions - kinks), 0.0))


def _kinks(
    loss: Loss, limits: FloatVector, predictions: FloatVector, targets: FloatVector, signs: FloatVector
) -> FloatVector:
    def steep(points: FloatVector) -> np.ndarray:
        return signs * loss.derivative(points, targets) > limits

    outer, inner, step = predictions, predictions - signs, np.ones_like(predictions)
    for _ in range(HALVINGS):
        if not (far := steep(inner)).any():
            break
        outer, step = np.where(far, inner, outer), np.where(far, 2.0 * step, step)
        inner = np.where(far, predictions - signs * step, inner)
    for _ in range(HALVINGS):
        middle = 0.5 * (outer + inner)
        if ((middle == outer) | (middle == inner)).all():
            break
        far = steep(middle)
        outer, inner = np.where(far, middle, outer), np.where(far, inner, middle)
    return inner
