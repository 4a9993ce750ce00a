"""Rows with the roots of their curvatures: their outer products are the derivative of a clipped mean gradient."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from tailguard._validate import real
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatVector
from tailguard.statistics.fields import Field, Gradient
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["BoundedCurvatures", "BoundedGradient", "Curvatures"]


@dataclass(frozen=True, eq=False)
class _OfGradient(Field):
    """The rows of a gradient with other slopes."""

    gradient: Gradient

    @property
    def view(self) -> View:  # type: ignore[override]
        """The view of the gradient."""
        return self.gradient.view

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.gradient.dimension

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        rows, slopes, _ = self.measured(X, y)
        return rows, slopes

    def measured(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector, FloatVector]:
        """Return the rows, the slopes and the squared norms of the rows."""
        rows, target = self.view.rows(X), self.view.target(y)
        predictions, squares = passes.dots_and_squares(rows, self.gradient.point)
        with np.errstate(all="ignore"):
            return rows, self._slopes(predictions, target, squares), squares

    @abstractmethod
    def _slopes(self, predictions: FloatVector, target: FloatVector, squares: FloatVector) -> FloatVector:
        """Return the slopes of records by their predictions, targets and squared lengths."""


@dataclass(frozen=True, eq=False)
class Curvatures(_OfGradient):
    """Row z with slope ω√φ'', ω = min(1, radius/‖z‖), and 0 where the gradient ω²φ'z is longer than `threshold`.

    A clipped gradient moves with its own direction only, and not at all for a residual's loss: it has no part in the
    derivative. So Σ vvᵀ of these vectors v is the derivative of the sum of gradients weighted by ω² and clipped.

    Parameters
    ----------
    gradient : Gradient
        Of the loss φ, at a public or released point.
    radius, threshold : float
        Public or released.
    """

    radius: float
    threshold: float

    def __post_init__(self) -> None:
        real("radius", self.radius, "Curvatures", above=0.0)
        real("threshold", self.threshold, "Curvatures", above=0.0)

    def _slopes(self, predictions: FloatVector, target: FloatVector, squares: FloatVector) -> FloatVector:
        loss, weight = self.gradient.loss, np.minimum(1.0, self.radius**2 / squares)
        length = weight * np.abs(loss.derivative(predictions, target)) * np.sqrt(squares)
        curvature = np.maximum(loss.second_derivative(predictions, target), 0.0)
        return np.where(length <= self.threshold, np.sqrt(weight * curvature), 0.0)


@dataclass(frozen=True, eq=False)
class BoundedGradient(_OfGradient):
    """The vectors that `Weighted` adds: row z with slope ω·clamp(φ', ±limit), ω = min(1, radius/‖z‖).

    Parameters
    ----------
    gradient : Gradient
        Of the loss φ, at a public or released point.
    radius, limit : float
        Public or released.
    """

    radius: float
    limit: float

    def __post_init__(self) -> None:
        real("radius", self.radius, type(self).__name__, above=0.0)
        real("limit", self.limit, type(self).__name__, above=0.0)

    def _weight(self, squares: FloatVector) -> FloatVector:
        return np.minimum(1.0, self.radius / np.sqrt(squares))

    def _slopes(self, predictions: FloatVector, target: FloatVector, squares: FloatVector) -> FloatVector:
        slopes = np.clip(self.gradient.loss.derivative(predictions, target), -self.limit, self.limit)
        return self._weight(squares) * slopes


@dataclass(frozen=True, eq=False)
class BoundedCurvatures(BoundedGradient):
    """Row z with slope √(ωφ''), and 0 where |φ'| exceeds `limit`: outer products give the derivative of that sum."""

    def _slopes(self, predictions: FloatVector, target: FloatVector, squares: FloatVector) -> FloatVector:
        loss = self.gradient.loss
        curvature = np.maximum(loss.second_derivative(predictions, target), 0.0)
        inside = np.abs(loss.derivative(predictions, target)) <= self.limit
        return np.where(inside, np.sqrt(self._weight(squares) * curvature), 0.0)
