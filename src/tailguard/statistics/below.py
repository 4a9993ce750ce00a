"""How many records lie at or below an edge, for several scalars at once. Proof: below.md."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailguard._validate import refuse
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatVector, IntVector, public_vector
from tailguard.statistics.base import Norm, Statistic, checked_bits, register, root_above
from tailguard.statistics.scalars import Scalars
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Below"]


@register
@dataclass(frozen=True, eq=False)
class Below(Statistic):
    """For each scalar, the number of records at which it is at most its edge. NaN is not.

    Parameters
    ----------
    scalars : Scalars
        Gives q numbers for each record.
    edges : vector
        q public or released numbers, not NaN.
    bits : int
        A record counts L = 2**bits grid steps, so that noise on the integers is as fine as on any statistic.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each of the q integers by at most L.
    """

    kind: ClassVar[str] = "counts below"
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

    scalars: Scalars
    edges: FloatVector
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, 1, "Below")
        edges = public_vector(self.edges, self.scalars.count)
        if edges is None or np.any(np.isnan(edges)):
            raise refuse("edges", "Below", f"a vector of {self.scalars.count} numbers", self.edges)
        object.__setattr__(self, "edges", edges)

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.scalars.count

    @property
    def unit(self) -> float:
        """What one grid step is worth, in records."""
        return 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return size * {"linf": 1.0, "l2": root_above(dimension), "l1": float(dimension)}[norm]

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.scalars.width

    def _block(self, X: AnyRows, y: FloatVector | None) -> IntVector:
        counts = passes.count_below(self.scalars.values(X, y), self.edges)
        return counts.astype(np.int64) << self.bits
