"""One release that is a histogram or a weighted sum, as earlier releases ask for. Proof: either.md."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailguard._validate import integer, refuse
from tailguard.statistics.arrays import FloatVector, IntVector
from tailguard.statistics.base import Norm, Statistic, register
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.weighted import Weighted

__all__ = ["Either"]


@register
@dataclass(frozen=True, eq=False)
class Either(Statistic):
    """Octave counts of one scalar, or a weighted sum, followed by zeros.

    A plan fixes what a step costs before any record is read; what is worth asking may depend on what was released by
    then. Both have the same sensitivity here, so that neither leaves its noise unused.

    Parameters
    ----------
    content : Octaves or Weighted
        What is asked. Of octaves a single scalar, and a record counts √2·L grid steps, rounded down.
    length : int
        Length of the integer vector, at least that of the content.
    bits : int
        The content's; L = 2**bits.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes the integers by at most 2L in Euclidean norm.
    """

    kind: ClassVar[str] = "counts or weighted sum"
    norms: ClassVar[tuple[Norm, ...]] = ("l2",)

    content: Octaves | Weighted
    length: int
    bits: int

    def __post_init__(self) -> None:
        if type(self.content) not in (Octaves, Weighted) or self.content.parts != 1:
            raise refuse("content", "Either", "a weighted sum, or octave counts of a single scalar", self.content)
        if self.bits != self.content.bits:
            raise refuse("bits", "Either", f"those of its content, {self.content.bits}", self.bits)
        integer("length", self.length, "Either", at_least=self.content.dimension)

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.length

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return 1.0 / self._weight if isinstance(self.content, Octaves) else self.content.unit

    @property
    def _weight(self) -> int:
        """How many grid steps a counted record is: √2·L, rounded down."""
        return math.isqrt(2 * 4**self.bits)

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size

    def _width(self, d: int) -> int:
        return self.content._width(d)

    def _block(self, X: AnyRows, y: FloatVector | None) -> IntVector:
        found = self.content._block(X, y).astype(np.int64, copy=False)
        if isinstance(self.content, Octaves):
            found = (found >> self.bits) * self._weight
        # As many zeros as the content says: one that is longer than that is not what the plan has.
        return np.concatenate([found, np.zeros(self.length - self.content.dimension, np.int64)])
