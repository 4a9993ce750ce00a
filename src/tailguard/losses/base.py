"""What a loss is: a function of prediction and target, or of a whole record, with the constants of theory.

A loss is a frozen dataclass of public numbers. Its arguments may be private, so no value of them raises or
warns: NaN in gives NaN out, overflow gives inf, and the statistics turn either into a contribution of exactly
zero. Entry i of a result depends on record i alone, to the last bit, because sensitivities are counted record
by record.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["FloatArray", "Loss", "RecordLoss", "ResidualLoss", "where_number"]

FloatArray = NDArray[np.float64]


class Loss(ABC):
    """A loss in generalised linear form: ℓ(w, (z, t)) = φ(⟨z, w⟩, t).

    Attributes
    ----------
    name : str
        How plans and reports call it.
    convex : bool
        Whether φ is convex in the prediction.
    smoothness : float or None
        sup |φ''| over all predictions and admissible targets; None if there is no bound.
    lipschitz : float or None
        sup |φ'| over all predictions and admissible targets; None if there is no bound.
    """

    name: str
    convex: bool

    @property
    @abstractmethod
    def smoothness(self) -> float | None:
        """Supremum of |φ''|, or None if there is no bound."""

    @property
    @abstractmethod
    def lipschitz(self) -> float | None:
        """Supremum of |φ'|, or None if there is no bound."""

    @property
    def usual_curvature(self) -> float:
        """Curvature to take steps by, for targets of size 1: less than sup |φ''| where that is a kink's."""
        return self.smoothness or 1.0

    def value(self, prediction: ArrayLike, target: ArrayLike) -> FloatArray:
        """Return φ(prediction, target), entry by entry."""
        return _evaluate(self._value, prediction, target)

    def derivative(self, prediction: ArrayLike, target: ArrayLike) -> FloatArray:
        """Return φ'(prediction, target), the derivative in the prediction, entry by entry."""
        return _evaluate(self._derivative, prediction, target)

    def second_derivative(self, prediction: ArrayLike, target: ArrayLike) -> FloatArray:
        """Return φ''(prediction, target), entry by entry; at a kink of φ' the larger of its two sides."""
        return _evaluate(self._second_derivative, prediction, target)

    @abstractmethod
    def _value(self, prediction: FloatArray, target: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _second_derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray: ...


class ResidualLoss(Loss):
    """A loss of the residual alone: φ(p, t) = ψ(p − t)."""

    def rescaled(self, scale: float) -> Self:  # noqa: ARG002
        """Return the loss that has the same minimiser when predictions and targets are divided by `scale`."""
        return self

    def _value(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return self._psi(prediction - target)

    def _derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return self._slope(prediction - target)

    def _second_derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return self._curvature(prediction - target)

    @abstractmethod
    def _psi(self, residual: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _slope(self, residual: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _curvature(self, residual: FloatArray) -> FloatArray: ...


class RecordLoss(ABC):
    """A loss that needs the whole record: ℓ(w, (z, t)), with a gradient in w for each record.

    Attributes
    ----------
    name : str
        How plans and reports call it.
    convex : bool
        Whether ℓ is known to be convex in w.
    smoothness : float or None
        Lipschitz constant of w ↦ ∇ℓ(w, (z, t)) over all records; None if there is no known bound.
    lipschitz : float or None
        sup ‖∇ℓ‖ over all points and records; None if there is no known bound.
    """

    name: str
    convex: bool

    @property
    @abstractmethod
    def smoothness(self) -> float | None:
        """Lipschitz constant of the gradient, or None if there is no known bound."""

    @property
    @abstractmethod
    def lipschitz(self) -> float | None:
        """Supremum of ‖∇ℓ‖, or None if there is no known bound."""

    @abstractmethod
    def value(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatArray:
        """Return ℓ(point, record), one number per record."""

    @abstractmethod
    def gradient(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatArray:
        """Return ∇ℓ(point, record), one row per record and one column per coefficient."""


def where_number(argument: FloatArray, values: ArrayLike) -> FloatArray:
    """Return `values` where `argument` is a number, and NaN elsewhere, for formulas that forget NaN."""
    return np.where(np.isnan(argument), np.nan, np.asarray(values, dtype=np.float64))


def _evaluate(
    formula: Callable[[FloatArray, FloatArray], FloatArray], prediction: ArrayLike, target: ArrayLike
) -> FloatArray:
    with np.errstate(all="ignore"):
        result = formula(np.asarray(prediction, dtype=np.float64), np.asarray(target, dtype=np.float64))
    return np.asarray(result, dtype=np.float64)
