"""Per-record numbers, as an (m, q) matrix: what counts and histograms look at."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector, frozen
from tailguard.statistics.fields import Field
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Columns", "Largest", "Norm", "Occurring", "Reciprocal", "Scalars", "Slope", "Target"]


class Scalars(ABC):
    """q numbers for each record. Subclasses are frozen dataclasses of public or released numbers."""

    @property
    def count(self) -> int:
        """The number q of scalars a record has."""
        return 1

    @property
    @abstractmethod
    def width(self) -> int:
        """How many floats a sparse record becomes on the way; 0 where it stays sparse."""

    @abstractmethod
    def values(self, X: AnyRows, y: FloatVector | None) -> AnyRows:
        """Return the scalars of a chunk of raw records; they need not be finite."""


@dataclass(frozen=True, eq=False)
class Columns(Scalars):
    """The entries of the row z."""

    view: View

    @property
    def count(self) -> int:
        """The number q of scalars a record has."""
        return self.view.dimension

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way; 0 where it stays sparse."""
        return self.view.width

    def values(self, X: AnyRows, y: FloatVector | None) -> AnyRows:  # noqa: ARG002
        """Return the scalars of a chunk of raw records."""
        return self.view.rows(X)


@dataclass(frozen=True, eq=False)
class Target(Scalars):
    """The target t."""

    view: View

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way: none is looked at."""
        return 0

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:  # noqa: ARG002
        """Return the scalars of a chunk of raw records."""
        return self.view.target(y)[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Slope(Scalars):
    """The slope of a field; for a gradient φ', such as the residual of a squared loss."""

    field: Field

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way; 0 where it stays sparse."""
        return self.field.width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        return self.field.parts(X, y)[1][:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Occurring(Scalars):
    """Scalars of records whose raw target is not 0, and 0 for the others: where nothing happened, nothing has a size.

    Parameters
    ----------
    scalars : Target or Slope
        Of all records.
    """

    scalars: Target | Slope

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return self.scalars.width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        found = self.scalars.values(X, y)
        return found if y is None else np.where(y[:, np.newaxis] == 0.0, 0.0, found)


@dataclass(frozen=True, eq=False)
class Norm(Scalars):
    """The Euclidean norm |slope| · ‖row‖ of a field."""

    field: Field

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way; 0 where it stays sparse."""
        return self.field.width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        _, slopes, squares = self.field.measured(X, y)
        return frozen(np.abs(slopes) * np.sqrt(squares))[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Largest(Scalars):
    """The supremum norm |slope| · max_j |row_j| of a field."""

    field: Field

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way; 0 where it stays sparse."""
        return self.field.width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        rows, slopes = self.field.parts(X, y)
        return frozen(np.abs(slopes) * passes.largest(rows))[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class Reciprocal(Scalars):
    """1/|v| of other scalars v: counts of it below an edge are counts of large numbers, without zeros and NaN."""

    scalars: Scalars

    @property
    def count(self) -> int:
        """The number q of scalars a record has."""
        return self.scalars.count

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way; 0 where it stays sparse."""
        return self.scalars.width

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records."""
        return frozen(1.0 / np.abs(passes.dense(self.scalars.values(X, y))))
