"""Statistics of disjoint groups of records: clipped sums of each, and the coordinatewise median of truncated sums.

Proof: groups.md.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import integer
from tailguard.errors import ParameterError
from tailguard.statistics.arrays import FloatVector, IntVector
from tailguard.statistics.base import Kernel, Norm, Source, Statistic, checked_bits, checked_scale, register, root_above
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.coordinatewise import Truncated
from tailguard.statistics.fields import Field
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["ClippedGroups", "ClippedMedian", "TruncatedMedian"]


@dataclass(frozen=True, eq=False)
class _Grouped(Statistic):
    field: Field
    threshold: float
    groups: int
    bits: int

    def __post_init__(self) -> None:
        integer("groups", self.groups, type(self).__name__)
        checked_bits(self.bits, self.field.dimension, type(self).__name__)
        checked_scale("threshold", self.threshold, type(self).__name__)

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.threshold * 2.0**-self.bits

    def kernel(self) -> Kernel:
        """Return the function that sums the contributions of a chunk of one group."""
        return self._inner.kernel()

    @property
    @abstractmethod
    def _inner(self) -> Statistic:
        """The statistic of one group."""

    def _sums(self, source: Source) -> tuple[Sequence[Source], NDArray[np.int64]]:
        if source.size < self.groups:
            raise ParameterError(f"{self.groups} groups need at least as many records, not {source.size}.")
        parts, kernel = source.split(self.groups), self.kernel()
        return parts, np.stack([part.total(kernel) for part in parts])

    def _block(self, X: AnyRows, y: FloatVector | None) -> NDArray[np.float64 | np.int64]:
        return self._inner._block(X, y)


@register
@dataclass(frozen=True, eq=False)
class ClippedGroups(_Grouped):
    """The sums of ℓ2-clipped vectors over each of `groups` disjoint groups, one after the other.

    Parameters
    ----------
    field : Field
        Gives v = slope · row for each record.
    threshold : float
        Radius of the ball, public or released.
    groups : int
        Number of groups; records are dealt to them by row number alone.
    bits : int
        The threshold is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* A record belongs to one group, so replacing it changes one sum, by at most 2L in Euclidean norm.
    """

    kind: ClassVar[str] = "clipped group sums"
    norms: ClassVar[tuple[Norm, ...]] = ("l2",)

    @property
    def dimension(self) -> int:
        """Length of the integer vector; entry j of group g is at g · field.dimension + j."""
        return self.groups * self.field.dimension

    @property
    def _inner(self) -> Clipped:
        return Clipped(self.field, self.threshold, self.bits)

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size

    def evaluate(self, source: Source) -> IntVector:
        """Return the group sums, concatenated."""
        return self._sums(source)[1].ravel()


@register
@dataclass(frozen=True, eq=False)
class TruncatedMedian(_Grouped):
    """The coordinatewise median over groups of truncated sums (Tao et al. 2022, Algorithm 3).

    Group sizes may differ by one; each sum is brought to the smaller size s before the median is taken, so the value
    is s times the median of means. With an even number of groups, the lower of the two middle ones counts.

    Parameters
    ----------
    field : Field
        Gives v = slope · row for each record.
    threshold : float
        Entries beyond it count as 0; public or released.
    groups : int
        Number of groups; records are dealt to them by row number alone.
    bits : int
        The threshold is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record changes one group's sum by at most 2L in each coordinate; an order statistic moves
    by no more than the largest move among its arguments.
    """

    kind: ClassVar[str] = "median of truncated group sums"
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.field.dimension

    @property
    def _inner(self) -> Truncated:
        return Truncated(self.field, self.threshold, self.bits)

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size * {"linf": 1.0, "l2": root_above(dimension), "l1": float(dimension)}[norm]

    def evaluate(self, source: Source) -> IntVector:
        """Return the median of the sums at equal sizes."""
        return _median(*self._sums(source))


@register
@dataclass(frozen=True, eq=False)
class ClippedMedian(_Grouped):
    """The coordinatewise median over groups of ℓ2-clipped sums: as `TruncatedMedian`, with a ball instead of a box.

    Parameters
    ----------
    field : Field
        Gives v = slope · row for each record.
    threshold : float
        Radius of the ball, public or released.
    groups : int
        Number of groups; records are dealt to them by row number alone.
    bits : int
        The threshold is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record changes one group's sum by at most 2L in Euclidean norm, and each coordinate's
    median by no more than that coordinate of the sum: 2L in all, and √d for the integer division.
    """

    kind: ClassVar[str] = "median of clipped group sums"
    norms: ClassVar[tuple[Norm, ...]] = ("l2",)

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.field.dimension

    @property
    def _inner(self) -> Clipped:
        return Clipped(self.field, self.threshold, self.bits)

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size + root_above(dimension)

    def evaluate(self, source: Source) -> IntVector:
        """Return the median of the sums at equal sizes."""
        return _median(*self._sums(source))


def _median(parts: Sequence[Source], sums: NDArray[np.int64]) -> IntVector:
    """Return the lower median, coordinate by coordinate, of sums that are brought to the smallest size."""
    least = min(part.size for part in parts)
    equal = np.stack([_shrunk(total, least, part.size) for part, total in zip(parts, sums, strict=True)])
    return np.asarray(np.sort(equal, axis=0)[(len(parts) - 1) // 2])


def _shrunk(total: IntVector, least: int, size: int) -> IntVector:
    """Return ⌊total · least/size⌋ exactly: floats would round, and int64 products overflow."""
    if size == least:
        return total
    return np.array([int(entry) * least // size for entry in total], np.int64)
