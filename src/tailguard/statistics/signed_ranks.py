"""How far each cell of a signed geometric grid is from a quantile, counted in records. Proof: ranks.md."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailguard._validate import real, refuse
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector, frozen
from tailguard.statistics.base import register
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.ranks import Ranked, rank_distances
from tailguard.statistics.scalars import Scalars
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Halves", "SignedRanks"]


@dataclass(frozen=True, eq=False)
class Halves(Scalars):
    """The positive and the negative part of one scalar, max(x, 0) and max(−x, 0).

    Parameters
    ----------
    scalars : Scalars
        One number for each record.
    """

    scalars: Scalars

    def __post_init__(self) -> None:
        if self.scalars.count != 1:
            raise refuse("scalars", "Halves", "one number for each record", self.scalars.count)

    @property
    def count(self) -> int:
        """The number q of scalars a record has."""
        return 2

    @property
    def width(self) -> int:
        """How many floats a sparse record becomes on the way."""
        return max(2, self.scalars.width)

    def values(self, X: AnyRows, y: FloatVector | None) -> FloatMatrix:
        """Return the scalars of a chunk of raw records; NaN stays NaN."""
        values = self.scalars.values(X, y)
        column = values[:, 0] if isinstance(values, np.ndarray) else values.dense(None)[:, 0]
        return frozen(np.stack([np.maximum(column, 0.0), np.maximum(-column, 0.0)], axis=1))


@register
@dataclass(frozen=True, eq=False)
class SignedRanks(Ranked):
    """Minus the distance in ranks of every cell of a signed grid from the one that holds a quantile of a scalar.

    The cells are those of magnitudes, below 0, around 0 and above 0, in the order of the numbers in them. The largest
    entry after Gumbel noise is a quantile by the exponential mechanism. The last entry is for data of which hardly a
    record is a number, as in `Ranks`.

    Parameters
    ----------
    inner : Octaves
        The histogram of the `Halves` of one scalar; at least two cells and ten bits.
    level : float
        Between 0 and 1; rounded to a multiple of 2⁻¹⁰.
    size : int
        The number of records, public.
    prior : float, default=0.0
        Every cell but the one around 0 loses so many records, a public number: where a part of the records is 0, any
        number up to the next one is near to a median, and there are many such cells.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most L = 2**bits.
    """

    kind: ClassVar[str] = "signed rank distances"

    prior: float = 0.0

    def __post_init__(self) -> None:
        real("prior", self.prior, "SignedRanks", at_least=0.0, at_most=float(self.size))
        if type(self.inner) is not Octaves or type(self.inner.scalars) is not Halves or self.inner.cells < 2:
            raise refuse("inner", "SignedRanks", "Octaves of Halves with at least two cells", type(self.inner).__name__)
        self._check()

    @property
    def dimension(self) -> int:
        """Length of the integer vector: one entry for each signed cell, and one for none of them."""
        return 2 * self.inner.cells

    @property
    def points(self) -> FloatVector:
        """The middles of the cells, to which all entries but the last belong."""
        edges = self.inner.edges[1:]
        middles = np.sqrt(edges[:-1]) * np.sqrt(edges[1:])
        return np.concatenate([-middles[::-1], [0.0], middles])

    def _of(self, counts: IntVector) -> IntVector:
        above, below = counts[: self.inner.cells], counts[self.inner.cells :]
        # Whatever is not above 0 is in the first cell of the positive part, and the other way round.
        around = above[0] - below[1:].sum()
        signed = np.concatenate([below[:0:-1], [around], above[1:]])
        distances = rank_distances(signed, self.level, self.size, self.bits)
        if self.prior:
            elsewhere = np.arange(distances.size - 1) != self.inner.cells - 1
            distances = distances - np.append(elsewhere * round(self.prior * 2.0**self.bits), 0)
        return distances
