"""Multinomial logistic loss: several classes with probabilities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailguard._validate import integer
from tailguard.losses.base import FloatArray, RecordLoss

__all__ = ["Multinomial", "memberships", "softmax"]


def softmax(scores: FloatArray) -> FloatArray:
    """Return the probabilities of classes from their scores, one row a record."""
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def memberships(target: ArrayLike | None, classes: int) -> NDArray[np.float64]:
    """Return 1 for a record's own class and 0 for the others; NaN where it has none of 0 … classes − 1."""
    labels = np.asarray(target, dtype=np.float64)
    own = (labels[:, None] == np.arange(classes)).astype(np.float64)
    return np.where(own.any(axis=1, keepdims=True), own, np.nan)


@dataclass(frozen=True)
class Multinomial(RecordLoss):
    """Multinomial logistic loss, ℓ(W, (z, t)) = log Σ_c exp⟨w_c, z⟩ − ⟨w_t, z⟩ for labels t ∈ {0 … K − 1}.

    The point holds one vector for each class, one after the other. A label outside the public classes arrives as NaN
    and gives NaN.

    Parameters
    ----------
    classes : int
        K, at least 2.

    Examples
    --------
    >>> Multinomial(2).gradient([0.0, 0.0], [[2.0]], [1.0])
    array([[ 1., -1.]])
    """

    classes: int

    name = "multinomial"
    convex = True
    smoothness = None
    lipschitz = None

    def __post_init__(self) -> None:
        integer("classes", self.classes, "Multinomial", at_least=2)

    def value(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatArray:
        """Return the loss, one number per record."""
        with np.errstate(all="ignore"):
            scores = self._scores(point, rows)
            own = memberships(target, self.classes)
            chosen = np.where(own == 0.0, 0.0, own * scores).sum(axis=1)
            return np.asarray(np.logaddexp.reduce(scores, axis=1) - chosen)

    def gradient(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatArray:
        """Return (probabilities − membership) ⊗ row, one row per record."""
        with np.errstate(all="ignore"):
            slopes = softmax(self._scores(point, rows)) - memberships(target, self.classes)
            products = slopes[:, :, None] * np.asarray(rows, dtype=np.float64)[:, None, :]
            return np.asarray(products.reshape(len(slopes), -1))

    def _scores(self, point: ArrayLike, rows: ArrayLike) -> FloatArray:
        """Return ⟨w_c, z⟩; each record's by itself, because a product of matrices may round by its neighbours."""
        weights, matrix = np.reshape(np.asarray(point, dtype=np.float64), (self.classes, -1)), np.asarray(rows)
        return np.stack([np.sum(matrix * one, axis=1) for one in weights], axis=1)
