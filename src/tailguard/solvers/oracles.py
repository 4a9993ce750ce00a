"""Ways to estimate the mean of a field from one release: clip, truncate, median of means.

An oracle turns a field into a query and a released value into a mean. Means and gradient methods take any of them, so
that each paper's estimator is one class and each paper's descent one solver.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

from tailguard.solvers.base import FloatVector, Released, Setting
from tailguard.statistics.base import Statistic
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.coordinatewise import Truncated
from tailguard.statistics.fields import Field
from tailguard.statistics.groups import TruncatedMedian
from tailguard.statistics.scalars import Largest, Norm, Scalars

__all__ = ["Clip", "MeanOracle", "MedianOfMeans", "Truncate"]


@dataclass(frozen=True)
class MeanOracle(Setting):
    """Estimates the mean of a field over a block of records.

    Parameters
    ----------
    threshold : float
        Where records are clipped or truncated; a public number, or 1 until a released level replaces it.
    """

    threshold: float

    def at(self, threshold: float) -> Self:
        """Return the same oracle with a released threshold."""
        return replace(self, threshold=threshold)

    @abstractmethod
    def statistic(self, field: Field, bits: int) -> Statistic:
        """Return what to ask for."""

    @abstractmethod
    def mean(self, reply: Released, size: int) -> FloatVector:
        """Return the mean over a block of `size` records."""

    def scalars(self, field: Field) -> Scalars:
        """Return the per-record number that the threshold bounds."""
        return Norm(field)


@dataclass(frozen=True)
class Clip(MeanOracle):
    """ℓ2 clipping (Zhao et al. 2024, Algorithm 2)."""

    def statistic(self, field: Field, bits: int) -> Statistic:
        """Return what to ask for."""
        return Clipped(field, self.threshold, bits)

    def mean(self, reply: Released, size: int) -> FloatVector:
        """Return the mean over a block of `size` records."""
        return reply.value / size


@dataclass(frozen=True)
class Truncate(MeanOracle):
    """Coordinates beyond the threshold count as 0 (Tao et al. 2022, Algorithm 1)."""

    def statistic(self, field: Field, bits: int) -> Statistic:
        """Return what to ask for."""
        return Truncated(field, self.threshold, bits)

    def mean(self, reply: Released, size: int) -> FloatVector:
        """Return the mean over a block of `size` records."""
        return reply.value / size

    def scalars(self, field: Field) -> Scalars:
        """Return the per-record number that the threshold bounds."""
        return Largest(field)


@dataclass(frozen=True)
class MedianOfMeans(MeanOracle):
    """Coordinatewise median of truncated group means (Tao et al. 2022, Algorithm 3)."""

    groups: int

    def statistic(self, field: Field, bits: int) -> Statistic:
        """Return what to ask for."""
        return TruncatedMedian(field, self.threshold, self.groups, bits)

    def mean(self, reply: Released, size: int) -> FloatVector:
        """Return the mean over a block of `size` records: the median counts sums of the smallest group's size."""
        return reply.value / (size // self.groups)

    def scalars(self, field: Field) -> Scalars:
        """Return the per-record number that the threshold bounds."""
        return Largest(field)
