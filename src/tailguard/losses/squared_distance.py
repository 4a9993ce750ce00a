"""Squared distance to the record: means."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailguard.losses.base import FloatArray, RecordLoss

__all__ = ["SquaredDistance"]


@dataclass(frozen=True)
class SquaredDistance(RecordLoss):
    """Half squared distance, ℓ(w, z) = ½ ‖w − z‖², whose minimiser is the mean. A target is ignored.

    Examples
    --------
    >>> SquaredDistance().gradient([1.0, 1.0], [[0.0, 3.0], [1.0, 1.0]])
    array([[ 1., -2.],
           [ 0.,  0.]])
    """

    name = "squared distance"
    convex = True
    smoothness = 1.0
    lipschitz = None

    def value(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatArray:  # noqa: ARG002
        """Return ½ ‖point − row‖², one number per record."""
        with np.errstate(all="ignore"):
            return np.asarray(0.5 * np.square(self.gradient(point, rows)).sum(axis=1))

    def gradient(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatArray:  # noqa: ARG002
        """Return point − row, one row per record."""
        with np.errstate(all="ignore"):
            return np.asarray(point, dtype=np.float64) - np.asarray(rows, dtype=np.float64)
