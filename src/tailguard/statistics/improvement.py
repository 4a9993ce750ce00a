"""How much better or worse each of several released models predicts a record than the first, or the best, of them."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tailguard._validate import refuse
from tailguard.errors import ParameterError
from tailguard.statistics.arrays import FloatMatrix, FloatVector, frozen
from tailguard.statistics.fields import Field, point_of
from tailguard.statistics.scalars import Scalars
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Duel", "Improvement", "LeastLoss", "MiddleRegret", "Regret", "Valued"]


class Valued(Protocol):
    """What a loss must have to be compared by."""

    def value(self, prediction: FloatVector, target: FloatVector) -> FloatVector:
        """Return one value per record."""


@dataclass(frozen=True, eq=False)
class Improvement(Field):
    """φ(p₀, t) − φ(p_k, t) for the predictions p_k = ⟨z, w_k⟩ + b_k of K models, with slope 1.

    Parameters
    ----------
    view : View
        Its basis holds the slopes w_k in its columns; no intercept.
    loss : Loss or Misclassified
        φ.
    offsets : vector
        The K intercepts b_k, public or released.
    """

    view: View
    loss: Valued
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
        values = self._losses(X, y)
        return frozen(values[:, :1] - values), np.ones(len(X))

    def _losses(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        target, predictions = self.view.target(y), self.view.dense(X) + self.offsets
        return np.stack([self._values(prediction, target) for prediction in predictions.T], axis=1)

    def _values(self, prediction: FloatVector, target: FloatVector) -> FloatVector:
        values = self.loss.value(prediction, target)
        if values.shape != prediction.shape:
            raise ParameterError("A loss must return one value per record, and a record has one target.")
        return values


@dataclass(frozen=True, eq=False)
class Duel(Improvement):
    """(−g, g) with g = φ(p₀, t) − φ(p₁, t) + lean: what a record has for the first of two models, and for the second.

    Beside a first score that is always 0, the scores of a duel are twice as far apart, and a record moves none of them
    further than that one score: a pick has half the noise. Clamped to ±limit, a loss counts up to limit + lean and a
    gain up to limit − lean. A record that has no loss, because something of it is missing, is for neither: g = lean, as
    for one that both models predict alike.

    Parameters
    ----------
    view, loss, offsets
        As in `Improvement`, of two models.
    lean : float, default=0.0
        What every record adds for the second model, public or released.
    """

    lean: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimension != 2:
            raise refuse("offsets", "Duel", "a vector of 2 numbers", self.dimension)

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[FloatMatrix, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        values = self._losses(X, y)
        gain = values[:, :1] - values[:, 1:]
        gain = np.where(np.isnan(gain), 0.0, gain) + self.lean
        return frozen(np.concatenate([-gain, gain], axis=1)), np.ones(len(X))


@dataclass(frozen=True, eq=False)
class Regret(Improvement):
    """half − (φ(p_k, t) − min_j φ(p_j, t)): what a record has against each model, turned round and moved by a half.

    Clamped to ±half, a regret counts from 0 to 2·half, and a model that is bad everywhere disturbs no comparison of the
    others.

    Parameters
    ----------
    view, loss, offsets
        As in `Improvement`.
    half : float
        Public or released.
    """

    half: float

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[FloatMatrix, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        return frozen(np.maximum(self.half - self._regrets(X, y), -self.half)), np.ones(len(X))

    def _regrets(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        values = self._losses(X, y)
        least = values.min(axis=1, keepdims=True)  # NaN where one of the models has no value
        return np.where(np.isfinite(least), values - least, np.nan)


@dataclass(frozen=True, eq=False)
class MiddleRegret(Scalars):
    """The middle one of a record's regrets about several models, the larger one of two."""

    regret: Regret

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return self.regret.width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        regrets = np.sort(self.regret._regrets(X, y), axis=1)
        return frozen(np.ascontiguousarray(regrets[:, [self.regret.dimension // 2]]))


@dataclass(frozen=True, eq=False)
class LeastLoss(Scalars):
    """The least of a record's losses under several models."""

    regret: Regret

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return self.regret.width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        return frozen(self.regret._losses(X, y).min(axis=1, keepdims=True))
