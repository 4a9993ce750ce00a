"""The sum of outer products of shortened rows. Proof of the sensitivity: gram.md."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailguard.statistics import kernels
from tailguard.statistics.arrays import FloatMatrix, FloatVector
from tailguard.statistics.base import Norm, Statistic, checked_bits, checked_scale, register, root_above
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Gram", "inner_product_bound", "symmetric"]


def inner_product_bound(length: int, bits: int) -> float:
    """Return the largest norm of the triangle of one outer product before rounding, in grid steps."""
    dimension = length * (length + 1) // 2
    slack = 1 - (length + 32) * 2.0**-50
    return (2.0**bits - math.sqrt(dimension / 2)) * slack


def symmetric(triangle: FloatVector, length: int) -> FloatMatrix:
    """Return the symmetric matrix whose upper triangle, with off-diagonal entries times √2, is given."""
    above, right = np.triu_indices(length)
    matrix = np.empty((length, length))
    matrix[above, right] = np.where(above == right, triangle, triangle / math.sqrt(2.0))
    matrix[right, above] = matrix[above, right]
    return matrix


@register
@dataclass(frozen=True, eq=False)
class Gram(Statistic):
    """Σ (ωz)(ωz)ᵀ, ω = min(1, radius/‖z‖₂), as the upper triangle with off-diagonal entries times √2.

    The Euclidean norm of that vector is the Frobenius norm of the matrix.

    Parameters
    ----------
    view : View
        Makes the row z of each record.
    radius : float
        Largest norm of a row, public or released, between 1e-120 and 1e120.
    bits : int
        radius² is L = 2**bits grid steps.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes the integers by at most √2·L in Euclidean norm,
    because two positive semidefinite matrices never point in opposite directions. A row whose norm is below
    1e-140, above 1e150 or not finite contributes exactly 0.
    """

    kind: ClassVar[str] = "Gram matrix"
    norms: ClassVar[tuple[Norm, ...]] = ("l2",)

    view: View
    radius: float
    bits: int

    def __post_init__(self) -> None:
        checked_bits(self.bits, self.dimension, "Gram")
        checked_scale("radius", self.radius, "Gram")

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.view.dimension * (self.view.dimension + 1) // 2

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.radius * self.radius * 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return size * root_above(2)

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.view.dense_width

    def _block(self, X: AnyRows, y: FloatVector | None) -> FloatVector:  # noqa: ARG002
        rows = self.view.dense(X)
        scale = 2.0 ** (self.bits / 2) / self.radius
        ones = np.ones(len(rows))
        factors = kernels.weight_factors(
            ones, kernels.squares(rows), 1.0, scale, math.sqrt(inner_product_bound(self.view.dimension, self.bits))
        )
        return kernels.add_gram(rows, factors)

    def matrix(self, triangle: FloatVector) -> FloatMatrix:
        """Return the symmetric matrix whose upper triangle, in this statistic's coordinates, is given."""
        return symmetric(triangle, self.view.dimension)
