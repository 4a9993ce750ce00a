"""Fields made from other fields: residuals as vectors of length one, and records weighted by their leverage."""

from dataclasses import dataclass

import numpy as np

from tailguard._validate import integer, real
from tailguard.statistics.arrays import FloatVector
from tailguard.statistics.fields import Field
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Leveraged", "Slopes", "SquaredLengths", "Tilts"]


@dataclass(frozen=True, eq=False)
class _Derived(Field):
    """A field that looks at the records through another one."""

    field: Field

    @property
    def view(self) -> View:  # type: ignore[override]
        """The view of the inner field."""
        return self.field.view

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way; 0 where it stays sparse."""
        return self.field.width


@dataclass(frozen=True, eq=False)
class Slopes(_Derived):
    """Row (0, …, 0, 1) with the slope of another field: for a squared loss, the residual.

    A record whose row in the inner field is not finite has a slope that is not finite, so it contributes nothing here
    either.

    Parameters
    ----------
    field : Field
        Whose slopes are taken.
    length : int, default=1
        Of the row.
    """

    length: int = 1

    def __post_init__(self) -> None:
        integer("length", self.length, "Slopes")

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.length

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        _, slopes = self.field.parts(X, y)
        rows = np.zeros((len(X), self.length))
        rows[:, -1] = 1.0
        return rows, slopes


@dataclass(frozen=True, eq=False)
class SquaredLengths(Slopes):
    """Row (0, …, 0, 1) with the squared length of another field's vectors: their sum is the trace of `Outer`."""

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        _, slopes, squares = self.field.measured(X, y)
        rows = np.zeros((len(X), self.length))
        rows[:, -1] = 1.0
        with np.errstate(all="ignore"):  # what is not finite contributes nothing
            return rows, np.square(slopes) * squares


@dataclass(frozen=True, eq=False)
class Tilts(_Derived):
    """Row 1 with clamp(s, ±wide) − ratio · clamp(s, ±tight), where s is the slope of another field.

    If s is symmetric about a small b, the means of the two are b times the shares of records within the levels. With
    the ratio of these shares they cancel, whatever b is: the mean tells whether s is skewed.

    Parameters
    ----------
    field : Field
        Whose slopes are looked at.
    tight, wide, ratio : float
        Public or released; tight ≤ wide.
    """

    tight: float
    wide: float
    ratio: float

    def __post_init__(self) -> None:
        for name in ("tight", "wide", "ratio"):
            real(name, getattr(self, name), "Tilts", above=0.0)

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return 1

    @property
    def largest(self) -> float:
        """Largest magnitude that a slope can have here, but for rounding."""
        return max(abs(self.wide - self.ratio * self.tight), abs(1.0 - self.ratio) * self.tight)

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        _, slopes = self.field.parts(X, y)
        tilts = np.clip(slopes, -self.wide, self.wide) - self.ratio * np.clip(slopes, -self.tight, self.tight)
        return np.ones((len(X), 1)), tilts


@dataclass(frozen=True, eq=False)
class Leveraged(_Derived):
    """Another field with each record weighted by ω² = min(1, radius²/‖row‖²).

    The gradient of Σ ω²φ has the curvature Σ φ''·(ωz)(ωz)ᵀ, which is what the Gram matrix of rows shortened to
    `radius` estimates: weights and preconditioner fit. They depend on the features alone, so a well-specified model
    stays consistent.

    Parameters
    ----------
    field : Field
        Whose slopes are weighted.
    radius : float
        Public or released.
    """

    radius: float

    def __post_init__(self) -> None:
        real("radius", self.radius, "Leveraged", above=0.0)

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.field.dimension

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        rows, slopes, _ = self.measured(X, y)
        return rows, slopes

    def measured(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector, FloatVector]:
        """Return the rows, the weighted slopes and the squared norms of the rows."""
        rows, slopes, squares = self.field.measured(X, y)
        # A record without a finite norm keeps a slope that is not finite or is dropped by the statistic on top.
        return rows, slopes * np.minimum(1.0, self.radius**2 / squares), squares
