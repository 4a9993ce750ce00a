"""The sum of vectors clipped to a Euclidean ball. Proof of the sensitivity: clipped.md."""

import math
from dataclasses import dataclass
from typing import ClassVar

from tailguard.statistics import kernels, passes
from tailguard.statistics.arrays import FloatVector
from tailguard.statistics.base import Norm, Statistic, checked_bits, checked_scale, register
from tailguard.statistics.fields import Field
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Clipped", "inner_bound"]


def inner_bound(dimension: int, bits: int) -> float:
    """Return the norm, in grid units, to which a vector is shortened so that rounding keeps it in 2**bits."""
    return (2.0**bits - math.sqrt(dimension) / 2) * (1 - (dimension + 16) * 2.0**-50)


@register
@dataclass(frozen=True, eq=False)
class Clipped(Statistic):
    """Σ v · min(1, threshold/‖v‖₂) over the vectors v of a field.

    Parameters
    ----------
    field : Field
        Gives v = slope · row for each record.
    threshold : float
        Radius of the ball, public or released, between 1e-120 and 1e120.
    bits : int
        The threshold is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes the integers by at most 2L in Euclidean norm. A
    record whose slope is not finite, or whose row has a norm below 1e-140, above 1e150 or not finite,
    contributes exactly 0. A finite slope is clipped in the right direction even where slope · row overflows.

    *Accuracy.* Rounding moves a contribution by at most √d/2 grid steps. Nothing is assumed about the data.
    """

    kind: ClassVar[str] = "clipped sum"
    norms: ClassVar[tuple[Norm, ...]] = ("l2",)

    field: Field
    threshold: float
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, self.field.dimension, "Clipped")
        checked_scale("threshold", self.threshold, "Clipped")

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
        return 2.0 * size

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.field.width

    def _block(self, X: AnyRows, y: FloatVector | None) -> FloatVector:
        rows, slopes, squares = self.field.measured(X, y)
        bound = inner_bound(self.dimension, self.bits)
        return passes.add_rows(rows, kernels.clip_factors(slopes, squares, self.unit, bound))
