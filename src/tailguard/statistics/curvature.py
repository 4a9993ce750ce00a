"""Rows with the roots of their curvatures: their outer products are the derivative of a clipped mean gradient."""

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
class Curvatures(Field):
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

    gradient: Gradient
    radius: float
    threshold: float

    def __post_init__(self) -> None:
        real("radius", self.radius, "Curvatures", above=0.0)
        real("threshold", self.threshold, "Curvatures", above=0.0)

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
        gradient = self.gradient
        rows = gradient.view.rows(X)
        predictions, squares = passes.dots_and_squares(rows, gradient.point)
        target = gradient.view.target(y)
        with np.errstate(all="ignore"):
            weight = np.minimum(1.0, self.radius**2 / squares)
            length = weight * np.abs(gradient.loss.derivative(predictions, target)) * np.sqrt(squares)
            curvature = np.maximum(gradient.loss.second_derivative(predictions, target), 0.0)
            slopes = np.where(length <= self.threshold, np.sqrt(weight * curvature), 0.0)
        return rows, slopes, squares


@dataclass(frozen=True, eq=False)
class BoundedGradient(Field):
    """The vectors that `Weighted` adds: row z with slope ω·clamp(φ', ±limit), ω = min(1, radius/‖z‖).

    Parameters
    ----------
    gradient : Gradient
        Of the loss φ, at a public or released point.
    radius, limit : float
        Public or released.
    """

    gradient: Gradient
    radius: float
    limit: float

    def __post_init__(self) -> None:
        real("radius", self.radius, type(self).__name__, above=0.0)
        real("limit", self.limit, type(self).__name__, above=0.0)

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
        gradient = self.gradient
        rows = gradient.view.rows(X)
        predictions, squares = passes.dots_and_squares(rows, gradient.point)
        with np.errstate(all="ignore"):
            weight = np.minimum(1.0, self.radius / np.sqrt(squares))
            return rows, self._slopes(weight, predictions, gradient.view.target(y)), squares

    def _slopes(self, weight: FloatVector, predictions: FloatVector, target: FloatVector) -> FloatVector:
        return weight * np.clip(self.gradient.loss.derivative(predictions, target), -self.limit, self.limit)


@dataclass(frozen=True, eq=False)
class BoundedCurvatures(BoundedGradient):
    """Row z with slope √(ωφ''), and 0 where |φ'| exceeds `limit`: outer products give the derivative of that sum."""

    def _slopes(self, weight: FloatVector, predictions: FloatVector, target: FloatVector) -> FloatVector:
        loss = self.gradient.loss
        curvature = np.maximum(loss.second_derivative(predictions, target), 0.0)
        inside = np.abs(loss.derivative(predictions, target)) <= self.limit
        return np.where(inside, np.sqrt(weight * curvature), 0.0)
