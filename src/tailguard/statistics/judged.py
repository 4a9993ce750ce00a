"""How well a fixed model predicts a record: bounded errors for sums, numbers for quantiles and histograms.

Every error lies between 0 and 1, for sums capped at 1. A record without a target or a prediction contributes nothing.
"""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tailguard._validate import integer, real
from tailguard.losses.logistic import Logistic
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector, frozen
from tailguard.statistics.fields import Field, Rows
from tailguard.statistics.scalars import Norm, Scalars
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = [
    "ClassErrors",
    "ErrorSpread",
    "Misclassified",
    "Numbers",
    "Predictions",
    "Residuals",
    "ScoreCells",
    "SquaredErrors",
    "drawn_back",
]


def drawn_back(scores: FloatVector, lengths: FloatVector, radius: float, middle: float) -> FloatVector:
    """Return a linear model's values with those of rows longer than `radius` as if they were that long.

    A value that is not finite stays as it is.

    Parameters
    ----------
    scores, lengths : vectors
        The model's value of every row, and the row's distance from the centre.
    radius : float
        Where rows end.
    middle : float
        The value of the centre.
    """
    with np.errstate(all="ignore"):
        nearer = middle + radius / np.maximum(lengths, radius) * (scores - middle)
    return np.where((lengths > radius) & np.isfinite(scores), nearer, scores)


@dataclass(frozen=True, eq=False)
class Predictions(Scalars):
    """The prediction ⟨x, w⟩ + b, of a row that is drawn back where it is long, held in a range.

    Parameters
    ----------
    view : View
        Its basis has one column, the coefficients w; no intercept.
    offset : float
        b, public or released.
    within : (float, float), default=(-inf, inf)
        The range; public or released.
    rows : View or None, default=None
        Rows whose length counts, without a basis; None for none.
    radius : float, default=inf
        Where they end; public or released.
    """

    view: View
    offset: float
    within: tuple[float, float] = (-np.inf, np.inf)
    rows: View | None = None
    radius: float = np.inf

    def __post_init__(self) -> None:
        integer("dimension", self.view.dimension, "the view of Predictions", at_most=1)
        real("offset", self.offset, "Predictions")

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return max(self.view.dense_width, 0 if self.rows is None else self.rows.width)

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        scores = self.view.dense(X) + self.offset
        if self.rows is not None:
            lengths = np.asarray(Norm(Rows(self.rows)).values(X, y))
            scores = drawn_back(scores, lengths, self.radius, self._middle(self.rows))
        return frozen(np.clip(scores, *self.within))

    def _middle(self, rows: View) -> float:
        """The prediction of the centre."""
        slopes, centre = np.asarray(self.view.basis)[:, 0], 0.0 if rows.centre is None else np.asarray(rows.centre)
        return float(np.sum(slopes * centre) + self.offset)

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


class Misclassified:
    """1 where a prediction is on the wrong side of 0 for a class 0 or 1, else 0: what `Improvement` needs of a loss."""

    def value(self, prediction: FloatVector, target: FloatVector) -> FloatVector:
        """Return the number of mistakes, NaN for a target that is no class or a prediction that is no number."""
        known = np.isin(target, (0.0, 1.0)) & ~np.isnan(prediction)
        return np.where(known, (prediction > 0.0) != (target == 1.0), np.nan)


class _Errors(Field):
    """Errors between 0 and 1; NaN, which contributes nothing, where target or prediction is missing."""

    predictions: Predictions

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return self.predictions.width

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[FloatMatrix, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        prediction, target = self.predictions.pairs(X, y)
        complete = np.isfinite(prediction) & self._known(target)
        errors = np.stack(self._errors(prediction, target), axis=1)
        return frozen(np.where(complete[:, np.newaxis], errors, np.nan)), np.ones(len(X))

    def _known(self, target: FloatVector) -> NDArray[np.bool_]:
        return np.isfinite(target)

    @abstractmethod
    def _errors(self, prediction: FloatVector, target: FloatVector) -> list[FloatVector]: ...


@dataclass(frozen=True, eq=False)
class SquaredErrors(_Errors):
    """min(r², l²)/l² and min((y − m)², l²)/l² for the residual r: squared errors of a model and of a constant.

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
        distances = (target - prediction, target - self.mean)
        return [np.fmin(np.square(distance / self.level), 1.0) for distance in distances]


@dataclass(frozen=True, eq=False)
class ErrorSpread(_Errors):
    """(a − q·b)² ÷ max(1, q)² for the errors a and b of `SquaredErrors`: the spread of their ratio q.

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
        model, constant = self.errors._errors(prediction, target)
        return [np.square((model - self.ratio * constant) / max(1.0, self.ratio))]


@dataclass(frozen=True, eq=False)
class ClassErrors(_Errors):
    """1 for a complete record, 1 for a wrong prediction, and with a cap c min(φ, c)/c of its log-loss φ and the square.

    Parameters
    ----------
    predictions : Predictions
        Above 0 for the class 1; with a cap, log-odds. Targets other than 0 and 1 count as missing.
    cap : float or None
        c, beyond which a log-loss counts no more; public. None for no log-loss.
    """

    predictions: Predictions
    cap: float | None

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return 2 if self.cap is None else 4

    def _known(self, target: FloatVector) -> NDArray[np.bool_]:
        return np.isin(target, (0.0, 1.0))

    def _errors(self, prediction: FloatVector, target: FloatVector) -> list[FloatVector]:
        wrong = np.where((prediction > 0.0) != (target == 1.0), 1.0, 0.0)
        if self.cap is None:
            return [np.ones(target.size), wrong]
        loss = np.fmin(Logistic().value(prediction, target) / self.cap, 1.0)
        return [np.ones(target.size), wrong, loss, np.square(loss)]


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
