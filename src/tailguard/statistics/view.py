"""How a raw record (x, y) becomes a row z and a target t: released or public numbers only."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from tailguard._validate import integer, real, refuse
from tailguard.errors import DataError
from tailguard.statistics import kernels
from tailguard.statistics.arrays import FloatMatrix, FloatVector, frozen, public_vector

__all__ = ["View"]

SMALLEST_SCALE = 1e-300


@dataclass(frozen=True, eq=False)
class View:
    """The affine change of variables z_j = (x_j − centre_j)/scale_j, t = (y − target_centre)/target_scale.

    Parameters
    ----------
    dimension_in : int
        Number of columns of a raw record.
    centre : vector or None, default=None
        Finite; None is 0.
    scale : vector or None, default=None
        At least 1e-300; None is 1. An infinite scale drops the column: z_j = 0, even where x_j is NaN.
    intercept : bool, default=False
        Whether a last entry z = 1 is appended.
    target_centre, target_scale : float, default=0.0, 1.0
        The same for the target; the scale is finite.

    Notes
    -----
    The quotients are computed as products with 1/scale: half the time, and at most one more rounding.

    Examples
    --------
    >>> view = View(2, centre=[1.0, 0.0], scale=[2.0, np.inf], intercept=True)
    >>> view.rows(np.array([[5.0, np.nan]]))
    array([[2., 0., 1.]])
    """

    dimension_in: int
    centre: ArrayLike | None = None
    scale: ArrayLike | None = None
    intercept: bool = False
    target_centre: float = 0.0
    target_scale: float = 1.0
    _centre: FloatVector = field(init=False, repr=False)
    _rate: FloatVector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        d = integer("dimension_in", self.dimension_in, "View")
        centre = public_vector(np.zeros(d) if self.centre is None else self.centre, d)
        if centre is None or not np.all(np.isfinite(centre)):
            raise refuse("centre", "View", f"a vector of {d} finite numbers", self.centre)
        scale = public_vector(np.ones(d) if self.scale is None else self.scale, d)
        if scale is None or not np.all(scale >= SMALLEST_SCALE):
            raise refuse("scale", "View", f"a vector of {d} numbers of at least 1e-300", self.scale)
        object.__setattr__(self, "_centre", centre)
        object.__setattr__(self, "_rate", frozen(1.0 / scale))
        real("target_centre", self.target_centre, "View")
        real("target_scale", self.target_scale, "View", at_least=SMALLEST_SCALE)

    @property
    def dimension(self) -> int:
        """Length of a row z."""
        return self.dimension_in + bool(self.intercept)

    def rows(self, X: FloatMatrix) -> FloatMatrix:
        """Return the rows of a chunk of raw records, read-only; no copy where they are the records."""
        if X.ndim != 2 or X.shape[1] != self.dimension_in:
            raise DataError(f"A chunk of records must have {self.dimension_in} columns.")
        if self.centre is None and self.scale is None and not self.intercept:
            return frozen(X)
        return frozen(kernels.scaled_rows(frozen(X), self._centre, self._rate, bool(self.intercept)))

    def target(self, y: FloatVector | None) -> FloatVector:
        """Return the targets of a chunk, read-only."""
        if y is None:
            raise DataError("This statistic needs records with a target.")
        if self.target_centre == 0.0 and self.target_scale == 1.0:
            return frozen(y)
        return frozen((frozen(y) - self.target_centre) / self.target_scale)
