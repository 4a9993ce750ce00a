"""How much better each of several released models predicts a record than the first of them."""

from dataclasses import dataclass

import numpy as np

from tailguard.errors import ParameterError
from tailguard.losses.base import Loss
from tailguard.statistics.arrays import FloatMatrix, FloatVector, frozen
from tailguard.statistics.fields import Field, point_of
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Improvement"]


@dataclass(frozen=True, eq=False)
class Improvement(Field):
    """φ(p₀, t) − φ(p_k, t) for the predictions p_k = ⟨z, w_k⟩ + b_k of K models, with slope 1.

    Parameters
    ----------
    view : View
        Its basis holds the slopes w_k in its columns; no intercept.
    loss : Loss
        φ.
    offsets : vector
        The K intercepts b_k, public or released.
    """

    view: View
    loss: Loss
    offsets: FloatVector

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", point_of(self.offsets, self.view.dimension, "Improvement"))

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.view.dimension

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way: a loss takes arrays."""
        return self.view.dense_width

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[FloatMatrix, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        target, predictions = self.view.target(y), self.view.dense(X) + self.offsets
        values = np.stack([self._values(prediction, target) for prediction in predictions.T], axis=1)
        return frozen(values[:, :1] - values), np.ones(len(X))

    def _values(self, prediction: FloatVector, target: FloatVector) -> FloatVector:
        values = self.loss.value(prediction, target)
        if values.shape != prediction.shape:
            raise ParameterError("A loss must return one value per record, and a record has one target.")
        return values
