"""What a record has against each of several models of more than two classes."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tailguard._validate import refuse
from tailguard.losses.multinomial import memberships
from tailguard.statistics.arrays import FloatMatrix, FloatVector
from tailguard.statistics.improvement import Regret
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["ClassLogLoss", "ClassMistakes", "ClassRegret", "ClassValued"]


class ClassValued(Protocol):
    """What a loss of the scores of all classes must have to be compared by."""

    def value(self, prediction: FloatMatrix, target: FloatVector) -> FloatVector:
        """Return one value per record."""


class ClassLogLoss:
    """log Σ_c exp s_c − s_t for the scores s of all classes and the number t of the record's own."""

    def value(self, prediction: FloatMatrix, target: FloatVector) -> FloatVector:
        """Return the losses, NaN for a target that is no class or a score that is no number."""
        with np.errstate(all="ignore"):
            own = memberships(target, prediction.shape[1])
            chosen = np.where(own == 0.0, 0.0, own * prediction).sum(axis=1)
            return np.asarray(np.logaddexp.reduce(prediction, axis=1) - chosen)


class ClassMistakes:
    """1 where another class than the record's own has the largest score, else 0; of equal ones the first counts."""

    def value(self, prediction: FloatMatrix, target: FloatVector) -> FloatVector:
        """Return the number of mistakes, NaN for a target that is no class or a score that is no number."""
        classes = np.arange(prediction.shape[1], dtype=np.float64)
        known = np.isin(target, classes) & ~np.isnan(prediction).any(axis=1)
        return np.where(known, prediction.argmax(axis=1) != target, np.nan)


@dataclass(frozen=True, eq=False)
class ClassRegret(Regret):
    """As `Regret`, for models that give every class a score.

    Nothing here bounds a record, and nothing needs to: labels and scores are a record's own, models are public or
    released, and what a record adds for each model is clamped after all of this, by `Clamped`, to which a number that
    is not finite is 0. So its guarantee holds whatever the losses are.

    Parameters
    ----------
    view : View
        Its basis holds the slopes of the first model's classes in its first columns, then those of the second.
    loss : ClassLogLoss or ClassMistakes
        φ.
    offsets : vector
        The intercepts in the same order, public or released.
    half : float
        As in `Regret`.
    classes : int
        How many classes there are.
    """

    classes: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.view.dimension % self.classes:
            raise refuse("offsets", "ClassRegret", f"{self.classes} numbers for each model", self.view.dimension)

    @property
    def dimension(self) -> int:
        """Length of a row, the number of models."""
        return self.view.dimension // self.classes

    def _losses(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        target, scores = self.view.target(y), self.view.dense(X) + self.offsets
        models = np.split(scores, self.dimension, axis=1)
        return np.stack([self.loss.value(model, target) for model in models], axis=1)
