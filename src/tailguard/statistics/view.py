"""How a raw record (x, y) becomes a row z and a target t: released or public numbers only."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from tailguard._validate import integer, real, refuse
from tailguard.errors import DataError
from tailguard.statistics import kernels
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector, frozen, public_vector
from tailguard.statistics.sparse_rows import AnyRows, SparseRows

__all__ = ["View"]

SMALLEST_SCALE = 1e-300


@dataclass(frozen=True, eq=False)
class View:
    """The change of variables z_j = (x_j − centre_j)/scale_j, t = (y − target_centre)/target_scale.

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
    limit, target_limit : float, default=inf, inf
        Every z_j, and t, is shrunk to at most that size: sign(z)·min(|z|, limit) (Hu et al. 2022, Algorithms 2 and 3).
    columns : vector of int or None, default=None
        A row consists of these columns only, in this order.
    basis : (dimension_in, k) matrix or None, default=None
        A row consists of the k products z·basis. Not together with `columns`. A column whose products are all 0 is
        dropped.

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
    limit: float = math.inf
    target_limit: float = math.inf
    columns: ArrayLike | None = None
    basis: ArrayLike | None = None
    _centre: FloatVector = field(init=False, repr=False)
    _rate: FloatVector = field(init=False, repr=False)
    _columns: IntVector | None = field(init=False, repr=False)
    _basis: FloatMatrix | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        d = integer("dimension_in", self.dimension_in, "View")
        centre = public_vector(np.zeros(d) if self.centre is None else self.centre, d)
        if centre is None or not np.all(np.isfinite(centre)):
            raise refuse("centre", "View", f"a vector of {d} finite numbers", self.centre)
        scale = public_vector(np.ones(d) if self.scale is None else self.scale, d)
        if scale is None or not np.all(scale >= SMALLEST_SCALE):
            raise refuse("scale", "View", f"a vector of {d} numbers of at least 1e-300", self.scale)
        real("target_centre", self.target_centre, "View")
        real("target_scale", self.target_scale, "View", at_least=SMALLEST_SCALE)
        for name in ("limit", "target_limit"):
            if not getattr(self, name) >= SMALLEST_SCALE:
                raise refuse(name, "View", "at least 1e-300", getattr(self, name))
        columns, basis = self._checked_columns(d), self._checked_basis(d)
        # What nothing depends on may be missing.
        rate = frozen(1.0 / scale if basis is None else basis.any(axis=1) / scale)
        part = slice(None) if columns is None else columns
        object.__setattr__(self, "_centre", frozen(centre[part]))
        object.__setattr__(self, "_rate", frozen(rate[part]))
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_basis", basis)

    def _checked_columns(self, d: int) -> IntVector | None:
        if self.columns is None:
            return None
        columns = np.array(self.columns)
        if columns.ndim != 1 or columns.dtype.kind not in "iu" or not np.all((columns >= 0) & (columns < d)):
            raise refuse("columns", "View", f"a vector of integers from 0 to {d - 1}", self.columns)
        return columns.astype(np.int64)

    def _checked_basis(self, d: int) -> FloatMatrix | None:
        if self.basis is None:
            return None
        basis = np.array(self.basis, dtype=np.float64)
        if self.columns is not None or basis.ndim != 2 or len(basis) != d or not np.all(np.isfinite(basis)):
            raise refuse("basis", "View", f"a matrix of {d} rows of finite numbers, without columns", self.basis)
        return frozen(basis)

    @property
    def dimension(self) -> int:
        """Length of a row z."""
        length = self._centre.size if self._basis is None else self._basis.shape[1]
        return length + bool(self.intercept)

    @property
    def plain(self) -> bool:
        """Whether the rows are the records as they are."""
        shrunk = self.limit < math.inf or self.columns is not None or self.basis is not None
        return self.centre is None and self.scale is None and not self.intercept and not shrunk

    @cached_property
    def _keeps_zeros(self) -> bool:
        """Whether every x_j = 0 becomes z_j = 0, as the kernels compute it."""
        return not np.any((0.0 - self._centre) * self._rate)

    @property
    def _stays_sparse(self) -> bool:
        return self._columns is None and self._basis is None and self._keeps_zeros

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes in `rows`; 0 where its row is sparse too."""
        return 0 if self._stays_sparse else self.dense_width

    @property
    def dense_width(self) -> int:
        """How many floats a sparse record becomes in `dense`."""
        selected = self._columns is not None or (self._basis is not None and self._keeps_zeros)
        return self.dimension if selected else self.dimension_in

    def rows(self, X: AnyRows) -> AnyRows:
        """Return the rows of a chunk of raw records, read-only; no copy where they are the records.

        Rows of sparse records are sparse unless columns are selected or combined, or some 0 becomes another number.
        """
        if not (isinstance(X, SparseRows) and self._stays_sparse):
            return self.dense(X)
        self._check(X)
        return X if self.plain else X.scaled(self._centre, self._rate, self.limit, bool(self.intercept))

    def dense(self, X: AnyRows) -> FloatMatrix:
        """Return the same rows as an array, whatever the records are."""
        self._check(X)
        numbers = (self._centre, self._rate, self.limit)
        if isinstance(X, SparseRows):
            if self._basis is not None and self._keeps_zeros:
                return X.combined(*numbers, self._basis, bool(self.intercept))
            X = X.dense(self._columns)
        elif self._columns is not None:
            X = X[:, self._columns]
        if self.plain:
            return frozen(X)
        if self._basis is None:
            return frozen(kernels.scaled_rows(frozen(X), *numbers, bool(self.intercept)))
        return frozen(kernels.combined_rows(frozen(X), *numbers, self._basis, bool(self.intercept)))

    def _check(self, X: AnyRows) -> None:
        if X.shape[1:] != (self.dimension_in,):
            raise DataError(f"A chunk of records must have {self.dimension_in} columns.")

    def target(self, y: FloatVector | None) -> FloatVector:
        """Return the targets of a chunk, read-only."""
        if y is None:
            raise DataError("This statistic needs records with a target.")
        if self.target_centre == 0.0 and self.target_scale == 1.0:
            scaled = frozen(y)
        else:
            scaled = frozen((frozen(y) - self.target_centre) / self.target_scale)
        # A missing target stays missing: np.clip keeps NaN.
        bound = self.target_limit
        return scaled if bound == math.inf else frozen(np.clip(scaled, -bound, bound))
