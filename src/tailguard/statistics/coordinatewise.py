"""Sums bounded in each coordinate: clamped to ±threshold, or set to 0 beyond it. Proof: coordinatewise.md."""

from dataclasses import dataclass
from typing import ClassVar

from tailguard.statistics import kernels, passes
from tailguard.statistics.arrays import FloatVector
from tailguard.statistics.base import Norm, Statistic, checked_bits, checked_scale, register, root_above
from tailguard.statistics.fields import Field
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Clamped", "Truncated"]


@dataclass(frozen=True, eq=False)
class _Coordinatewise(Statistic):
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

    field: Field
    threshold: float
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, 1, type(self).__name__)
        checked_scale("threshold", self.threshold, type(self).__name__)

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.field.dimension

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.threshold * 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size * {"linf": 1.0, "l2": root_above(dimension), "l1": float(dimension)}[norm]

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.field.width

    def _scaled(self, X: AnyRows, y: FloatVector | None) -> tuple[AnyRows, FloatVector]:
        rows, slopes = self.field.parts(X, y)
        return rows, kernels.scaling_factors(slopes, self.unit)


@register
@dataclass(frozen=True, eq=False)
class Clamped(_Coordinatewise):
    """Σ clamp(v_j, ±threshold) over the vectors v of a field, in each coordinate j.

    Parameters
    ----------
    field : Field
        Gives v = slope · row for each record.
    threshold : float
        Public or released, between 1e-120 and 1e120.
    bits : int
        The threshold is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L. A slope that is not
    finite contributes 0 everywhere, an entry that is not finite contributes 0 to its coordinate.
    """

    kind: ClassVar[str] = "clamped sum"

    def _block(self, X: AnyRows, y: FloatVector | None) -> FloatVector:
        return passes.add_clamped(*self._scaled(X, y), 2.0**self.bits)


@register
@dataclass(frozen=True, eq=False)
class Truncated(_Coordinatewise):
    """Σ v_j · 1{|v_j| ≤ threshold} over the vectors v of a field, in each coordinate j.

    Parameters
    ----------
    field : Field
        Gives v = slope · row for each record.
    threshold : float
        Public or released, between 1e-120 and 1e120.
    bits : int
        The threshold is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L. Whatever is not finite
    is beyond the threshold and contributes 0.
    """

    kind: ClassVar[str] = "truncated sum"

    def _block(self, X: AnyRows, y: FloatVector | None) -> FloatVector:
        return passes.add_truncated(*self._scaled(X, y), 2.0**self.bits)
