"""How well a fixed model predicts a record: bounded errors for sums, numbers for quantiles and histograms.

Every error here lies between 0 and 1 and is returned minus ½, so that a sum clamped at ½ has the sensitivity of a
number between 0 and 1, whatever a record holds. A record without a target counts as no error, and a target without a
prediction as the largest one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tailguard._validate import integer, real
from tailguard.losses.logistic import Logistic
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector, frozen
from tailguard.statistics.fields import Field
from tailguard.statistics.scalars import Scalars
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["HALF", "ClassErrors", "ErrorSpread", "Numbers", "Predictions", "Residuals", "ScoreCells", "SquaredErrors"]

HALF = 0.5
"""Where to clamp the errors of this module; the sum of errors is that of the clamped ones plus n/2."""


@dataclass(frozen=True, eq=False)
class Predictions(Scalars):
    """The prediction ⟨x, w⟩ + b.

    Parameters
    ----------
    view : View
        Its basis has one column, the coefficients w; no intercept.
    offset : float
        b, public or released.
    """

    view: View
    offset: float

    def __post_init__(self) -> None:
        integer("dimension", self.view.dimension, "the view of Predictions", at_most=1)
        real("offset", self.offset, "Predictions")

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return self.view.dense_width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:  # noqa: ARG002
        """Return the scalars of a chunk of raw records."""
        return frozen(self.view.dense(X) + self.offset)

    def pairs(self, X: AnyRows, y: FloatVector | None) -> tuple[FloatVector, FloatVector]:
        """Return the predictions and the targets of a chunk of raw records."""
        return self.values(X, y)[:, 0], self.view.target(y)


@dataclass(frozen=True, eq=False)
class Residuals(Scalars):
    """Target minus prediction."""

    predictions: Predictions

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return self.predictions.width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        prediction, target = self.predictions.pairs(X, y)
        return frozen((target - prediction)[:, np.newaxis])


@dataclass(frozen=True, eq=False)
class Numbers(Field):
    """Scalars as rows, with slope 1."""

    scalars: Scalars

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.scalars.count

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return max(self.scalars.width, 1)

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[FloatMatrix, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        return passes.dense(self.scalars.values(X, y)), np.ones(len(X))


class _Errors(Field):
    """Errors between 0 and 1, minus ½."""

    predictions: Predictions

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return self.predictions.width

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[FloatMatrix, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        prediction, target = self.predictions.pairs(X, y)
        errors = np.stack(self._errors(prediction, target), axis=1)
        errors = np.where(np.isnan(errors), 1.0, np.clip(errors, 0.0, 1.0))
        return frozen(np.where(self._known(target)[:, np.newaxis], errors, 0.0) - HALF), np.ones(len(X))

    def _known(self, target: FloatVector) -> NDArray[np.bool_]:
        return np.isfinite(target)

    def _errors(self, prediction: FloatVector, target: FloatVector) -> list[FloatVector]:
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class SquaredErrors(_Errors):
    """min(r², l²)/l² and min((y − m)², l²)/l² for the residual r, minus ½: errors of a model and of a constant.

    Parameters
    ----------
    predictions : Predictions
        The model's.
    mean : float
        m, the constant; public or released.
    level : float
        l, beyond which an error counts no more; public or released.
    """

    predictions: Predictions
    mean: float
    level: float

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return 2

    def _errors(self, prediction: FloatVector, target: FloatVector) -> list[FloatVector]:
        return [np.square((target - prediction) / self.level), np.square((target - self.mean) / self.level)]


@dataclass(frozen=True, eq=False)
class ErrorSpread(_Errors):
    """(a − q·b)² ÷ max(1, q)² for the errors a and b of `SquaredErrors`, minus ½: the spread of their ratio q.

    Parameters
    ----------
    errors : SquaredErrors
        Gives a and b.
    ratio : float
        q ≥ 0, public or released.
    """

    errors: SquaredErrors
    ratio: float

    @property
    def predictions(self) -> Predictions:  # type: ignore[override]
        """The model's."""
        return self.errors.predictions

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return 1

    def _errors(self, prediction: FloatVector, target: FloatVector) -> list[FloatVector]:
        model, constant = (np.fmin(error, 1.0) for error in self.errors._errors(prediction, target))
        return [np.square((model - self.ratio * constant) / max(1.0, self.ratio))]


@dataclass(frozen=True, eq=False)
class ClassErrors(_Errors):
    """Whether a record's class is predicted wrongly, and with a cap c min(φ, c)/c of its log-loss φ and the square.

    Parameters
    ----------
    predictions : Predictions
        Above 0 for the class 1; with a cap, log-odds. Targets other than 0 and 1 count as missing.
    cap : float or None
        c, beyond which a log-loss counts no more; public. None for the wrong predictions alone.
    """

    predictions: Predictions
    cap: float | None

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return 1 if self.cap is None else 3

    def _known(self, target: FloatVector) -> NDArray[np.bool_]:
        return np.isin(target, (0.0, 1.0))

    def _errors(self, prediction: FloatVector, target: FloatVector) -> list[FloatVector]:
        wrong = np.where(np.isnan(prediction), 1.0, (prediction > 0.0) != (target == 1.0))
        if self.cap is None:
            return [wrong]
        loss = np.minimum(Logistic().value(prediction, target) / self.cap, 1.0)
        return [wrong, loss, np.square(loss)]


@dataclass(frozen=True, eq=False)
class ScoreCells(Scalars):
    """2^(k + ½) for the cell k of a record's score: those of the class 0 first, then as many of the class 1.

    The cells are those of a logistic law with median `centre` and median deviation `scale`: if the scores have such a
    law, each holds as many of them. As magnitudes in octaves, their counts are a histogram.

    Parameters
    ----------
    predictions : Predictions
        The scores. Targets other than 0 and 1, and scores that are no numbers, are in no cell.
    centre, scale : float
        Public or released; the scale is positive.
    cells : int
        Cells of one class.
    """

    predictions: Predictions
    centre: float
    scale: float
    cells: int

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return self.predictions.width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        score, target = self.predictions.pairs(X, y)
        place = expit(np.log(3.0) * (score - self.centre) / self.scale)
        cell = np.minimum(np.floor(self.cells * place), self.cells - 1)
        cell = np.where((target == 0.0) | (target == 1.0), cell + self.cells * target, np.nan)
        return frozen(np.exp2(cell + 0.5)[:, np.newaxis])
