"""Sums of numbers between 0 and a threshold, such as errors. Proof: capped.md."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailguard.statistics import kernels, passes
from tailguard.statistics.arrays import FloatVector, IntVector
from tailguard.statistics.base import Norm, Statistic, checked_bits, checked_scale, register, root_above
from tailguard.statistics.fields import Field
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Capped"]


@register
@dataclass(frozen=True, eq=False)
class Capped(Statistic):
    """Σ min(max(v_j, 0), threshold) over the vectors v of a field, in each coordinate j.

    Half as sensitive as a clamped sum, for what cannot be negative.

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
    *Guarantee.* Replacing one record by any other changes each integer by at most L. A slope that is not finite
    contributes 0 everywhere, an entry that is not finite contributes 0 to its coordinate.
    """

    kind: ClassVar[str] = "capped sum"
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

    field: Field
    threshold: float
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, 1, "Capped")
        checked_scale("threshold", self.threshold, "Capped")

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
        return size * {"linf": 1.0, "l2": root_above(dimension), "l1": float(dimension)}[norm]

    def _width(self, d: int) -> int:  # noqa: ARG002
        return max(self.field.width, self.dimension)

    def _block(self, X: AnyRows, y: FloatVector | None) -> IntVector:
        rows, slopes = self.field.parts(X, y)
        entries = passes.dense(rows)
        steps = kernels.scaling_factors(slopes, self.unit)[:, np.newaxis] * entries
        held = np.where(np.isfinite(entries), np.clip(steps, 0.0, 2.0**self.bits), 0.0)
        return np.asarray(np.rint(held).astype(np.int64).sum(axis=0))
