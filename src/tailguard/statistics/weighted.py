"""The sum of shortened rows times limited slopes. Proof of the sensitivity: weighted.md."""

from dataclasses import dataclass
from typing import ClassVar

from tailguard.statistics import kernels, passes
from tailguard.statistics.arrays import FloatVector
from tailguard.statistics.base import Norm, Statistic, checked_bits, checked_scale, register
from tailguard.statistics.clipped import inner_bound
from tailguard.statistics.fields import Field
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Weighted"]


@register
@dataclass(frozen=True, eq=False)
class Weighted(Statistic):
    """Σ clamp(slope, ±limit) · row · min(1, radius/‖row‖₂) over the records of a field.

    Unlike clipping the gradient as a whole, the weight of a row depends on x alone, so that the zero of the
    expected sum stays where it was for a well-specified generalised linear model.

    Parameters
    ----------
    field : Field
        Gives the slope and the row of each record.
    radius : float
        Largest norm of a row, public or released, between 1e-120 and 1e120.
    limit : float
        Largest absolute slope, likewise.
    bits : int
        radius · limit is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes the integers by at most 2L in Euclidean norm. A
    record whose slope is not finite, or whose row has a norm below 1e-140, above 1e150 or not finite,
    contributes exactly 0.
    """

    kind: ClassVar[str] = "weighted sum"
    norms: ClassVar[tuple[Norm, ...]] = ("l2",)

    field: Field
    radius: float
    limit: float
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, self.field.dimension, "Weighted")
        checked_scale("radius", self.radius, "Weighted")
        checked_scale("limit", self.limit, "Weighted")

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.field.dimension

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.radius * self.limit * 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.field.width

    def _block(self, X: AnyRows, y: FloatVector | None) -> FloatVector:
        rows, slopes, squares = self.field.measured(X, y)
        bound = inner_bound(self.dimension, self.bits)
        scale = 2.0**self.bits / self.radius
        return passes.add_rows(rows, kernels.weight_factors(slopes, squares, self.limit, scale, bound))
