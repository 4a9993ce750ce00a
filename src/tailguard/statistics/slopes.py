"""The slope of a field as a vector of length one, for sums of residuals."""

from dataclasses import dataclass

import numpy as np

from tailguard.statistics.arrays import FloatMatrix, FloatVector, frozen
from tailguard.statistics.fields import Field
from tailguard.statistics.view import View

__all__ = ["Slopes"]


@dataclass(frozen=True, eq=False)
class Slopes(Field):
    """Row 1 with the slope of another field: for a squared loss, the residual."""

    field: Field

    @property
    def view(self) -> View:  # type: ignore[override]
        """The view of the inner field."""
        return self.field.view

    @property
    def dimension(self) -> int:
        """Length of a row."""
        return 1

    def parts(self, X: FloatMatrix, y: FloatVector | None) -> tuple[FloatMatrix, FloatVector]:
        """Return the rows and slopes of a chunk of raw records."""
        _, slopes = self.field.parts(X, y)
        return frozen(np.ones((len(X), 1))), slopes
