"""Which column of a record is the largest, and how large it is, counted over the records. Proof: leaders.md."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailguard._validate import integer, refuse
from tailguard.statistics.arrays import FloatVector, IntVector
from tailguard.statistics.base import Norm, Statistic, checked_bits, register, root_above
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Leaders"]


@register
@dataclass(frozen=True, eq=False)
class Leaders(Statistic):
    """For each column, how many records have their largest entry in it, by the size of that entry.

    A record counts in one cell whatever the number of columns, so that the noise of a count does not grow with it:
    that is how columns with a few very large numbers are found among many. Cell k of a column holds records whose
    largest magnitude |z_j| is there and between 2**(low + step·k) and 2**(low + step·(k+1)); larger ones and ±∞ are in
    the last cell. Records whose entries are all smaller, and those with a NaN, count nowhere.

    Parameters
    ----------
    view : View
        Makes rows.
    low, step, cells : int
        The cells, in octaves.
    bits : int
        A record counts L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other moves L from one cell to another: at most L in every integer, 2L in
    sum and √2·L in Euclidean norm.
    """

    kind: ClassVar[str] = "leading columns"
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

    view: View
    low: int
    step: int
    cells: int
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, 1, "Leaders")
        integer("low", self.low, "Leaders", at_least=-1000, at_most=1000)
        integer("step", self.step, "Leaders", at_most=1000)
        integer("cells", self.cells, "Leaders", at_most=1000)
        if self.view.intercept:
            raise refuse("view", "Leaders", "one without an intercept", self.view)

    @property
    def dimension(self) -> int:
        """Length of the integer vector; cell k of column j is entry j · cells + k."""
        return self.view.dimension * self.cells

    @property
    def unit(self) -> float:
        """What one grid step is worth, in records."""
        return 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return size * {"linf": 1.0, "l2": root_above(2), "l1": 2.0}[norm]

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.view.dense_width

    def _block(self, X: AnyRows, y: FloatVector | None) -> IntVector:  # noqa: ARG002
        sizes = np.abs(self.view.dense(X))
        column = np.argmax(sizes, axis=1)  # of the first of equal ones; of a NaN, if there is one
        largest = sizes[np.arange(len(column)), column]
        octave = np.where(np.isinf(largest), self.step * self.cells, np.frexp(largest)[1] - 1 - self.low)
        counted = (largest > 0.0) & (octave >= 0)
        cell = column * self.cells + np.minimum(octave // self.step, self.cells - 1)
        counts = np.bincount(cell[counted], minlength=self.dimension).astype(np.int64)
        counts <<= self.bits
        return counts
