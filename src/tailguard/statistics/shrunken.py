"""The sum of limited slopes times shrunken entries. Proof of the sensitivity: shrunken.md."""

from dataclasses import dataclass
from typing import ClassVar

from tailguard.statistics import coordinate_kernels, passes
from tailguard.statistics.arrays import FloatVector
from tailguard.statistics.base import Norm, Statistic, checked_bits, checked_scale, register, root_above
from tailguard.statistics.fields import Field
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Shrunken"]


@register
@dataclass(frozen=True, eq=False)
class Shrunken(Statistic):
    """Σ clamp(slope, ±limit) · clamp(row_j, ±threshold) over the records of a field, in each coordinate j.

    Unlike clamping the product, this bounds features and residuals one by one, as Hu et al. 2022, Algorithms 2 and 3
    shrink their records.

    Parameters
    ----------
    field : Field
        Gives the slope and the row of each record.
    threshold : float
        Largest absolute entry of a row, public or released, between 1e-120 and 1e120.
    limit : float
        Largest absolute slope, likewise.
    bits : int
        threshold · limit is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L. A slope that is not finite
    contributes 0 everywhere, an entry that is not finite contributes 0 to its coordinate.
    """

    kind: ClassVar[str] = "shrunken sum"
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

    field: Field
    threshold: float
    limit: float
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, 1, "Shrunken")
        checked_scale("threshold", self.threshold, "Shrunken")
        checked_scale("limit", self.limit, "Shrunken")

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.field.dimension

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.threshold * self.limit * 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size * {"linf": 1.0, "l2": root_above(dimension), "l1": float(dimension)}[norm]

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.field.width

    def _block(self, X: AnyRows, y: FloatVector | None) -> FloatVector:
        rows, slopes = self.field.parts(X, y)
        share = coordinate_kernels.shares(slopes, self.limit)
        size = 2.0**self.bits
        return passes.add_shrunken(rows, share, size / self.threshold, size)
