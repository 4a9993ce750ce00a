"""Per-record vectors slope_i · row_i: what most statistics bound and add.

A field computes each record's row and slope from that record and from public or released numbers alone. It
need not be bounded, nor even finite: the statistic on top of it bounds whatever comes.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from tailguard._validate import refuse
from tailguard.errors import ParameterError
from tailguard.losses.base import Loss, RecordLoss
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatVector, frozen, public_vector
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Field", "Gradient", "RecordGradient", "Rows", "point_of"]


class Field(ABC):
    """A vector slope · row for each record. Subclasses are frozen dataclasses of public numbers."""

    view: View

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length of a row."""

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way; 0 where it stays sparse."""
        return self.view.width

    @abstractmethod
    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""

    def measured(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector, FloatVector]:
        """Return the rows, the slopes and the squared norms of the rows."""
        rows, slopes = self.parts(X, y)
        return rows, slopes, passes.squares(rows)


@dataclass(frozen=True, eq=False)
class Rows(Field):
    """The rows of a view themselves, with slope 1."""

    view: View

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.view.dimension

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:  # noqa: ARG002
        """Return the rows and slopes of a chunk of raw records."""
        return self.view.rows(X), np.ones(len(X))


@dataclass(frozen=True, eq=False)
class Gradient(Field):
    """The gradient φ'(⟨z, point⟩, t) · z of a loss of predictions.

    Parameters
    ----------
    view : View
        Makes z and t.
    loss : Loss
        Gives φ'.
    point : vector
        Public or released, of length `view.dimension`.
    """

    view: View
    loss: Loss
    point: FloatVector

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", point_of(self.point, self.view.dimension, "Gradient"))

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.view.dimension

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        rows = self.view.rows(X)
        return rows, self._slopes(passes.dots(rows, self.point), y)

    def measured(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector, FloatVector]:
        """Return the rows, the slopes and the squared norms of the rows, in one pass over the rows."""
        rows = self.view.rows(X)
        predictions, squares = passes.dots_and_squares(rows, self.point)
        return rows, self._slopes(predictions, y), squares

    def _slopes(self, predictions: FloatVector, y: FloatVector | None) -> FloatVector:
        slopes = self.loss.derivative(predictions, self.view.target(y))
        if slopes.shape != predictions.shape:
            raise ParameterError("A loss must return one derivative per record, and a record has one target.")
        return slopes


@dataclass(frozen=True, eq=False)
class RecordGradient(Field):
    """The gradient of a loss that is no function of a prediction, with slope 1.

    Parameters
    ----------
    view : View
        Makes z and, where the records have one, t.
    loss : RecordLoss
        Gives the gradients, one row per record, as long as the point.
    point : vector
        Public or released.

    Notes
    -----
    A loss that lets one record enter another's gradient breaks the guarantee of every statistic built on it.
    """

    view: View
    loss: RecordLoss
    point: FloatVector

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", point_of(self.point, np.size(self.point), "RecordGradient"))

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return int(self.point.size)

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way: a loss takes arrays."""
        return self.view.dense_width

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        target = None if y is None else self.view.target(y)
        rows = np.asarray(self.loss.gradient(self.point, self.view.dense(X), target))
        if rows.shape != (len(X), self.dimension):
            raise ParameterError("A loss must return one gradient per record, as long as the point.")
        return frozen(rows), np.ones(len(X))


def point_of(point: FloatVector, length: int, owner: str) -> FloatVector:
    """Return public or released numbers as a read-only vector of this length, or refuse them."""
    vector = public_vector(point, length)
    if vector is None or not np.all(np.isfinite(vector)):
        raise refuse("point", owner, f"a vector of {length} finite numbers", point)
    return vector
