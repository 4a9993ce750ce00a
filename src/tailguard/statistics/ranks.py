"""How far each cell of a geometric grid is from a quantile, counted in records. Proof: ranks.md."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import integer, real, refuse
from tailguard.errors import ParameterError
from tailguard.statistics.arrays import FloatVector, IntVector
from tailguard.statistics.base import Kernel, Norm, Source, Statistic, register
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["LEVEL_BITS", "Ranked", "Ranks", "rank_distances"]

LEVEL_BITS = 10
"""Quantiles are multiples of 2⁻¹⁰, so that all products are exact."""


@dataclass(frozen=True, eq=False)
class Ranked(Statistic):
    """Distances in ranks from the `level`-quantile, a function of a histogram's exact counts; see `Ranks`."""

    norms: ClassVar[tuple[Norm, ...]] = ("linf",)

    inner: Octaves
    level: float
    size: int

    @property
    def bits(self) -> int:  # type: ignore[override]
        """No integer moves by more than L = 2**bits."""
        return self.inner.bits

    @property
    def unit(self) -> float:
        """What one grid step is worth, in records."""
        return self.inner.unit

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return float(size)

    def evaluate(self, source: Source) -> IntVector:
        """Return the exact integers over these records: a function of the histogram."""
        if max(source.size, self.size) * 2**self.bits > 2**62:
            raise ParameterError(f"{self.bits} bits could overflow a sum over {source.size} records.")
        return self._of(source.total(self.kernel()))

    def kernel(self) -> Kernel:
        """Return the kernel of the histogram."""
        return self.inner.kernel()

    def _block(self, X: AnyRows, y: FloatVector | None) -> NDArray[np.float64 | np.int64]:
        return self.inner._block(X, y)

    @abstractmethod
    def _of(self, counts: IntVector) -> IntVector:
        """Return the distances that follow from the counts."""

    def _check(self) -> None:
        owner = type(self).__name__
        integer("bits", self.inner.bits, owner, at_least=LEVEL_BITS)
        real("level", self.level, owner, at_least=0.0, at_most=1.0)
        integer("size", self.size, owner)


@register
@dataclass(frozen=True, eq=False)
class Ranks(Ranked):
    """Minus the distance in ranks of every cell from the one that holds the `level`-quantile of a scalar's magnitude.

    The largest entry after Gumbel noise is a quantile by the exponential mechanism: one pick, whose error is a rank and
    does not depend on how wide the grid is but by a logarithm. Records in the first and last cell of the histogram
    (zeros and infinities) count for nothing. The last entry is for data in which most records do so, less than about
    3·2^−(rare+2) being left, a tenth by default: there is no quantile then.

    Parameters
    ----------
    inner : Octaves
        The histogram of one scalar; at least three cells and ten bits.
    level : float
        Between 0 and 1; rounded to a multiple of 2⁻¹⁰.
    size : int
        The number of records, public.
    rare : int, default=3
        How little is left then: from 2^−(rare+1) to 2^−rare of the records.
    near, pull : float, default=1.0, 0.0
        Every cell loses so many records for each octave between it and a public or released magnitude: where hardly any
        record counts, a pick is nearly blind, and should not fall far from what is likely.
    missing : bool, default=False
        Whether there is one more entry at the end, the best one where more than half of the records have no number, or
        an infinite one.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most L = 2**bits.
    """

    kind: ClassVar[str] = "rank distances"

    rare: int = 3
    near: float = 1.0
    pull: float = 0.0
    missing: bool = False

    def __post_init__(self) -> None:
        integer("rare", self.rare, "Ranks", at_least=1, at_most=8)
        if type(self.inner) is not Octaves or self.inner.parts != 1 or self.inner.cells < 3:
            raise refuse("inner", "Ranks", "Octaves of one scalar with at least three cells", type(self.inner).__name__)
        self._check()
        real("near", self.near, "Ranks", at_least=1e-120, at_most=1e120)
        real("pull", self.pull, "Ranks", at_least=0.0, at_most=float(self.size))

    @property
    def dimension(self) -> int:
        """Length of the integer vector: one entry for each inner cell, one for none of them, and perhaps another."""
        return self.inner.cells - 1 + bool(self.missing)

    @property
    def magnitudes(self) -> FloatVector:
        """The geometric middles of the inner cells, to which all entries but the last belong."""
        edges = self.inner.edges
        return np.asarray(np.sqrt(edges[1:-2]) * np.sqrt(edges[2:-1]))

    def _of(self, counts: IntVector) -> IntVector:
        distances = rank_distances(counts[1:-1], self.level, self.size, self.bits, self.rare)
        distances = distances - np.append(self._losses, 0) if self.pull else distances
        whole = self.size << self.bits
        return np.append(distances, whole // 2 - int(counts[:-1].sum())) if self.missing else distances

    @property
    def _losses(self) -> IntVector:
        """What each cell loses by its distance from what is likely, in grid steps; no more than all records."""
        octaves = np.abs(np.log2(self.magnitudes / self.near))
        return np.minimum(np.rint(self.pull * octaves * 2.0**self.bits), self.size * 2.0**self.bits).astype(np.int64)


def rank_distances(counts: IntVector, level: float, size: int, bits: int, rare: int = 3) -> IntVector:
    """Return the entries of a histogram of at least 10 bits: one for each cell, and one for none of them."""
    upto = np.cumsum(counts)
    total, whole = int(upto[-1]), size << bits
    # L is a multiple of 2**LEVEL_BITS, and so is every count.
    wanted = (total >> LEVEL_BITS) * round(level * 2**LEVEL_BITS)
    distances = np.maximum(upto - counts - wanted, wanted - upto)
    floor = max(0, (whole >> rare) - total)
    return np.append(-np.maximum(distances, floor), min(0, (whole >> rare + 1) - total))
