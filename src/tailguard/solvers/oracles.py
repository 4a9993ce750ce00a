"""Ways to estimate the mean of a field from one release: clip, truncate, median of means.

An oracle turns a field into a query and a released value into a mean. Means and gradient methods take any of them, so
that each paper's estimator is one class and each paper's descent one solver.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from tailguard.solvers.base import FloatVector, Released, Setting
from tailguard.statistics.base import Statistic, checked_scale
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.coordinatewise import Truncated
from tailguard.statistics.fields import Field
from tailguard.statistics.groups import ClippedMedian, TruncatedMedian
from tailguard.statistics.scalars import Largest, Norm, Scalars

__all__ = ["Clip", "MeanOracle", "MedianOfClippedMeans", "MedianOfMeans", "Truncate"]


@dataclass(frozen=True)
class MeanOracle(Setting):
    """Estimates the mean of a field over a block of records.

    Parameters
    ----------
    threshold : float
        Where records are clipped or truncated; a public number, or 1 until a released level replaces it.
    """

    kind: ClassVar[type[Statistic]]
    threshold: float = 1.0

    def __post_init__(self) -> None:
        checked_scale("threshold", self.threshold, type(self).__name__)

    @property
    def fewest(self) -> int:
        """How many records it takes at least: one a group."""
        return 1

    def dimension(self, k: int) -> int:
        """Return the length of what is released for a field of dimension k."""
        return k

    def noise(self, k: int) -> float:
        """Return the noise of a mean in k dimensions, relative to one number clipped at the same threshold.

        Times 1/√k per coordinate, and times √k because the bias of k independent coordinates adds up to 1/√k of its
        worst case: the tail mass beyond the best threshold is proportional to it.
        """
        return float(k)

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

    kind: ClassVar[type[Statistic]] = Clipped

    def statistic(self, field: Field, bits: int) -> Statistic:
        """Return what to ask for."""
        return Clipped(field, self.threshold, bits)

    def mean(self, reply: Released, size: int) -> FloatVector:
        """Return the mean over a block of `size` records."""
        return reply.value / size


@dataclass(frozen=True)
class Truncate(MeanOracle):
    """Coordinates beyond the threshold count as 0 (Tao et al. 2022, Algorithm 1)."""

    kind: ClassVar[type[Statistic]] = Truncated

    def noise(self, k: int) -> float:
        """Return the noise of a mean in k dimensions: a box of half-width τ has the radius τ√k."""
        return float(k**1.5)

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

    kind: ClassVar[type[Statistic]] = TruncatedMedian
    groups: int = 3

    @property
    def fewest(self) -> int:
        """How many records it takes at least: one a group."""
        return self.groups

    def noise(self, k: int) -> float:
        """Return the noise of a mean in k dimensions: a record weighs `groups` times as much in its group."""
        return float(self.groups * k**1.5)

    def statistic(self, field: Field, bits: int) -> Statistic:
        """Return what to ask for."""
        return TruncatedMedian(field, self.threshold, self.groups, bits)

    def mean(self, reply: Released, size: int) -> FloatVector:
        """Return the mean over a block of `size` records: the median counts sums of the smallest group's size."""
        return reply.value / (size // self.groups)

    def scalars(self, field: Field) -> Scalars:
        """Return the per-record number that the threshold bounds."""
        return Largest(field)


@dataclass(frozen=True)
class MedianOfClippedMeans(MeanOracle):
    """Coordinatewise median of ℓ2-clipped group means: the ball has less noise than Tao's box in many dimensions."""

    kind: ClassVar[type[Statistic]] = ClippedMedian
    groups: int = 3

    @property
    def fewest(self) -> int:
        """How many records it takes at least: one a group."""
        return self.groups

    def noise(self, k: int) -> float:
        """Return the noise of a mean in k dimensions: a record weighs `groups` times as much in its group."""
        return float(self.groups * k)

    def statistic(self, field: Field, bits: int) -> Statistic:
        """Return what to ask for."""
        return ClippedMedian(field, self.threshold, self.groups, bits)

    def mean(self, reply: Released, size: int) -> FloatVector:
        """Return the mean over a block of `size` records: the median counts sums of the smallest group's size."""
        return reply.value / (size // self.groups)
