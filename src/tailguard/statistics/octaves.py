"""Histograms of magnitudes over powers of two, for several scalars at once. Proof: octaves.md."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailguard._validate import integer
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatVector, IntVector
from tailguard.statistics.base import checked_bits, register
from tailguard.statistics.counts import Counts
from tailguard.statistics.scalars import Scalars
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Octaves"]


@register
@dataclass(frozen=True, eq=False)
class Octaves(Counts):
    """For each scalar, how many records have a magnitude in each cell of a geometric grid.

    Cell k holds the magnitudes from 2**(low + k/substeps) up to, but without, 2**(low + (k+1)/substeps).
    Smaller ones, 0 among them, are counted in the first cell, larger ones and ±∞ in the last, NaN in none.

    Parameters
    ----------
    scalars : Scalars
        Gives q numbers for each record.
    low, high : int
        The cells cover 2**low to 2**high; −1022 ≤ low < high ≤ 1024.
    substeps : int
        Cells an octave, at most 64.
    bits : int
        A record counts L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other moves, for each scalar, L from one cell to another: at most
    L in every integer, 2Lq in sum and L√(2q) in Euclidean norm.
    """

    kind: ClassVar[str] = "octave counts"

    scalars: Scalars
    low: int
    high: int
    substeps: int
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, 1, "Octaves")
        integer("low", self.low, "Octaves", at_least=-1022, at_most=1023)
        integer("high", self.high, "Octaves", at_least=self.low + 1, at_most=1024)
        integer("substeps", self.substeps, "Octaves", at_most=64)

    @property
    def cells(self) -> int:
        """Number of cells of one scalar."""
        return (self.high - self.low) * self.substeps

    @property
    def edges(self) -> FloatVector:
        """The cells + 1 limits of the cells, to the nearest float."""
        return np.exp2(self.low + np.arange(self.cells + 1) / self.substeps)

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.scalars.width

    def _block(self, X: AnyRows, y: FloatVector | None) -> IntVector:
        counts = passes.octave_counts(self.scalars.values(X, y), self.low, self.cells, cuts(self.substeps))
        counts <<= self.bits  # in place: many columns have very many cells
        return counts


def cuts(substeps: int) -> IntVector:
    """Return the fraction bits of 2**(k/substeps), rounded up to a float, for k = 1 … substeps − 1."""
    powers = [_root_of_two(k, substeps) for k in range(1, substeps)]
    return np.array(powers, np.int64).reshape(-1)


def _root_of_two(k: int, substeps: int) -> int:
    """Correct the library's power, which may be off by a few units of 2**-52, in integer arithmetic."""
    fraction = int(math.ldexp(2.0 ** (k / substeps) - 1.0, 52)) - 4
    while (fraction + 2**52) ** substeps < 2 ** (52 * substeps + k):
        fraction += 1
    return fraction
