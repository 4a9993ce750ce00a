"""The squares of a row's entries, as a field: for the variances of many columns at once."""

from dataclasses import dataclass

import numpy as np

from tailguard.statistics.arrays import FloatMatrix, FloatVector, frozen
from tailguard.statistics.fields import Field
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Squares"]


@dataclass(frozen=True, eq=False)
class Squares(Field):
    """Row z_j² with slope 1."""

    view: View

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return self.view.dimension

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes."""
        return self.view.dense_width

    def parts(self, X: AnyRows, y: FloatVector | None) -> tuple[FloatMatrix, FloatVector]:  # noqa: ARG002
        """Return the rows and slopes of a chunk of raw records."""
        return frozen(np.square(self.view.dense(X))), np.ones(len(X))
