"""The slope of a loss at several points on the way from one released model to another."""

from dataclasses import dataclass

import numpy as np

from tailguard._validate import refuse
from tailguard.losses.base import Loss
from tailguard.statistics.arrays import FloatMatrix, FloatVector, frozen, public_vector
from tailguard.statistics.fields import Field, point_of
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Directional"]


@dataclass(frozen=True, eq=False)
class Directional(Field):
    """φ'(p₀ + α(p₁ − p₀), t)·⟨z, w₁ − w₀⟩ for several α: what a record says on how far to go, with slope 1.

    The predictions are p_k = ⟨z, w_k⟩ + b_k. Intercepts go along, but only the slopes decide.

    Parameters
    ----------
    view : View
        Its basis holds the slopes of the two models in its columns; no intercept.
    loss : Loss
        φ.
    offsets : vector
        The two intercepts, public or released.
    lengths : vector
        The α.
    """

    view: View
    loss: Loss
    offsets: FloatVector
    lengths: FloatVector

    def __post_init__(self) -> None:
        if self.view.dimension != 2:
            raise refuse("view", "Directional", "one that gives two predictions", self.view)
        lengths = public_vector(self.lengths, np.size(self.lengths))
        if lengths is None or not np.all(np.isfinite(lengths)):
            raise refuse("lengths", "Directional", "a vector of finite numbers", self.lengths)
        object.__setattr__(self, "offsets", point_of(self.offsets, 2, "Directional"))
        object.__setattr__(self, "lengths", lengths)

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return int(self.lengths.size)

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way: a loss takes arrays."""
        return self.view.dense_width

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[FloatMatrix, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        ends = self.view.dense(X)
        way = ends[:, 1:] - ends[:, :1]
        offsets = self.offsets[0] + self.lengths * (self.offsets[1] - self.offsets[0])
        slopes = self.loss.derivative(ends[:, :1] + self.lengths * way + offsets, self.view.target(y)[:, np.newaxis])
        return frozen(slopes * way), np.ones(len(ends))
