"""What all histograms of scalars have in common: where a record is counted, and how far it can move counts."""

from abc import abstractmethod
from typing import ClassVar

from tailguard.statistics.base import Norm, Statistic, root_above
from tailguard.statistics.scalars import Scalars

__all__ = ["Counts"]


class Counts(Statistic):
    """For each of h histograms, how many records lie in each of its cells: a record in one of them, or in none.

    Notes
    -----
    *Guarantee.* Replacing one record by any other moves, in each histogram, L = 2**bits from one cell to another: at
    most L in every integer, 2Lh in sum and L√(2h) in Euclidean norm. Proofs: octaves.md, cells.md.
    """

    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

    scalars: Scalars
    bits: int

    @property
    @abstractmethod
    def cells(self) -> int:
        """Number of cells of one histogram."""

    @property
    def parts(self) -> int:
        """The number h of histograms, one for each scalar unless there are more."""
        return self.scalars.count

    @property
    def dimension(self) -> int:
        """Length of the integer vector; cell k of histogram j is entry j · cells + k."""
        return self.parts * self.cells

    @property
    def unit(self) -> float:
        """What one grid step is worth, in records."""
        return 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return size * {"linf": 1.0, "l2": root_above(2 * parts), "l1": 2.0 * parts}[norm]
