"""Records as the objective uses them: unit rows, lengths, and gains that bound slope and curvature."""

from dataclasses import dataclass

import numpy as np

from tailguard.certified.kernels import LARGEST, FloatMatrix, FloatVector, unit_rows
from tailguard.losses.base import Loss, ResidualLoss

__all__ = ["Records", "prepare", "usable"]

ROUNDED_DOWN = 1.0 - 2.0**-48  # so that products of rounded numbers stay below the bound they must keep


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """Records whose row is x = norm·unit, entering the objective with weight gain/norm.

    Attributes
    ----------
    units : array of shape (m, d)
        x/‖x‖, of norm at most 1; zeros for a record that contributes nothing.
    norms : array of shape (m,)
        ‖x‖, or 0.
    gains : array of shape (m,)
        ρ‖x‖, so that the gradient of the record is gain·φ'·unit; gain·norm·sup φ'' is at most the curvature.
    offsets, targets : array of shape (m,)
        For a loss of residuals the offset is the target and the target 0, so that a prediction less its
        offset is the residual, rounded once. For other losses the offset is 0.
    """

    units: FloatMatrix
    norms: FloatVector
    gains: FloatVector
    offsets: FloatVector
    targets: FloatVector


def prepare(rows: FloatMatrix, targets: FloatVector, loss: Loss, curvature: float) -> Records:
    """Return the records that count, weighted so that none has a curvature above `curvature`."""
    units, norms, targets = usable(rows, targets, loss)
    zeros = np.zeros_like(targets)
    offsets, targets = (targets, zeros) if isinstance(loss, ResidualLoss) else (zeros, targets)
    return Records(units, norms, _gains(norms, curvature, loss), offsets, targets)


def usable(rows: FloatMatrix, targets: FloatVector, loss: Loss) -> tuple[FloatMatrix, FloatVector, FloatVector]:
    """Return unit rows, lengths and targets, all zero for a record that does not count.

    A record counts if its row and its target are finite and in range; a label must be 0 or 1.
    """
    residual = isinstance(loss, ResidualLoss)
    known = np.abs(targets) <= LARGEST if residual else (targets == 0.0) | (targets == 1.0)
    units, norms = unit_rows(rows)
    units[~known], norms[~known] = 0.0, 0.0
    return units, norms, np.where(norms > 0.0, targets, 0.0)


def _gains(norms: FloatVector, curvature: float, loss: Loss) -> FloatVector:
    smoothness = loss.smoothness or 0.0
    with np.errstate(all="ignore"):
        heaviest = curvature / (smoothness * norms)
    return np.where(norms > 0.0, np.minimum(norms, heaviest * ROUNDED_DOWN), 0.0)
