"""The sum of outer products of clipped vectors of a field. Proof of the sensitivity: outer.md."""

import math
from dataclasses import dataclass
from typing import ClassVar

from tailguard.statistics import kernels, passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector
from tailguard.statistics.base import Norm, Statistic, checked_bits, checked_scale, register, root_above
from tailguard.statistics.fields import Field
from tailguard.statistics.gram import inner_product_bound, symmetric
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Outer"]


@register
@dataclass(frozen=True, eq=False)
class Outer(Statistic):
    """Σ v vᵀ, v = slope·row shortened to `threshold`, as the upper triangle with off-diagonal entries times √2.

    Of gradients it is the meat of a sandwich, of `Curvatures` its bread.

    Parameters
    ----------
    field : Field
        Gives the slope and the row of each record.
    threshold : float
        Largest norm of a vector, public or released, between 1e-120 and 1e120.
    bits : int
        threshold² is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes the integers by at most √2·L in Euclidean norm. A record
    whose slope is not finite, or whose row has a norm below 1e-140, above 1e150 or not finite, contributes exactly 0.
    """

    kind: ClassVar[str] = "outer products"
    norms: ClassVar[tuple[Norm, ...]] = ("l2",)

    field: Field
    threshold: float
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, self.dimension, "Outer")
        checked_scale("threshold", self.threshold, "Outer")

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.field.dimension * (self.field.dimension + 1) // 2

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.threshold * self.threshold * 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return size * root_above(2)

    def _width(self, d: int) -> int:  # noqa: ARG002
        return max(self.field.width, self.field.view.dense_width)

    def _block(self, X: AnyRows, y: FloatVector | None) -> FloatVector:
        rows, slopes, squares = self.field.measured(X, y)
        step = self.threshold * 2.0 ** (-self.bits / 2)
        bound = math.sqrt(inner_product_bound(self.field.dimension, self.bits))
        return kernels.add_gram(passes.dense(rows), kernels.clip_factors(slopes, squares, step, bound))

    def matrix(self, triangle: FloatVector) -> FloatMatrix:
        """Return the symmetric matrix whose upper triangle, in this statistic's coordinates, is given."""
        return symmetric(triangle, self.field.dimension)
