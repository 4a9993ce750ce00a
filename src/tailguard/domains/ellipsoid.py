"""An ellipsoid around the origin."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.optimize import brentq

from tailguard._validate import refuse
from tailguard.domains._parameters import LARGEST_LENGTH, SMALLEST_LENGTH, matrix, vector
from tailguard.domains.base import Domain, FloatMatrix, FloatVector, in_units, polar

__all__ = ["Ellipsoid"]

LARGEST_CONDITION = 1e12
FAR = 1e30  # in units of the longest axis; from here on a projection depends on the direction alone
MOST_SIGNS = 16  # dimensions in which the ℓ1 radius is found by trying all sign patterns


@dataclass(frozen=True)
class Ellipsoid(Domain):
    """The ellipsoid {w : wᵀ A w ≤ 1}.

    The projection solves minimise ‖w − y‖₂ subject to wᵀ A w ≤ 1: y itself inside, else w = (I + t A)⁻¹ y
    with the one t > 0 that gives wᵀ A w = 1, found in the basis of eigenvectors. The linear minimiser is
    −A⁻¹g/√(gᵀA⁻¹g). The largest ℓ1 norm is exact up to d = 16 and for diagonal A, an upper bound beyond.

    Parameters
    ----------
    matrix : sequence of rows
        A, symmetric and positive definite with condition number at most 1e12. See `from_axes` for the
        axis-parallel case.

    Examples
    --------
    >>> Ellipsoid.from_axes([2.0, 0.5]).project([5.0, 0.0])
    array([2., 0.])
    """

    matrix: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        self._set(matrix=matrix("matrix", self.matrix, "Ellipsoid", LARGEST_LENGTH**2))
        if not self._valid():
            rule = "symmetric and positive definite, with condition number at most 1e12"
            raise refuse("matrix", "Ellipsoid", rule, self.matrix)

    @classmethod
    def from_axes(cls, axes: Sequence[float]) -> Self:
        """Return the axis-parallel ellipsoid {w : Σ (w_j/a_j)² ≤ 1} with the given semi-axes a_j > 0.

        Examples
        --------
        >>> Ellipsoid.from_axes([1.0, 2.0]).matrix
        ((1.0, 0.0), (0.0, 0.25))
        """
        lengths = vector("axes", axes, "Ellipsoid")
        if min(lengths) < SMALLEST_LENGTH:
            raise refuse("axes", "Ellipsoid", f"numbers of at least {SMALLEST_LENGTH:g}", axes)
        return cls(tuple(map(tuple, np.diag([a**-2.0 for a in lengths]).tolist())))

    @cached_property
    def dimension(self) -> int:
        """Number of coefficients."""
        return len(self.matrix)

    def _valid(self) -> bool:
        array = np.array(self.matrix)
        if array.shape[0] != array.shape[1] or not np.allclose(array, array.T, rtol=1e-12, atol=0.0):
            return False
        eigenvalues = self._spectrum[0]
        lowest, highest = float(eigenvalues[0]), float(eigenvalues[-1])
        return lowest >= LARGEST_LENGTH**-2 and highest <= LARGEST_CONDITION * lowest

    @cached_property
    def _spectrum(self) -> tuple[FloatVector, FloatMatrix]:
        array = np.array(self.matrix)
        eigenvalues, basis = np.linalg.eigh(0.5 * (array + array.T))
        return eigenvalues, basis

    @cached_property
    def _longest(self) -> float:
        return 1.0 / math.sqrt(self._spectrum[0][0])

    @cached_property
    def _axes(self) -> FloatVector:
        """Semi-axes in units of the longest, in the order of the basis."""
        return np.asarray(np.sqrt(self._spectrum[0][0] / self._spectrum[0]))

    def _inward(self, vector: FloatVector) -> FloatVector:
        """Coordinates of a vector in the basis of eigenvectors."""
        return self._spectrum[1].T @ vector

    def _outward(self, coordinates: FloatVector) -> FloatVector:
        return self._spectrum[1] @ coordinates

    def _project(self, point: FloatVector) -> FloatVector:
        axes = self._axes
        coordinates = self._inward(in_units(point, self._longest, FAR))

        def slack(multiplier: float) -> float:
            # 1/‖·‖ is nearly linear in the multiplier, so the root is found in a few steps.
            return float(1.0 / np.linalg.norm(axes * coordinates / (axes**2 + multiplier)) - 1.0)

        if slack(0.0) >= 0.0:
            return point
        upper = 2.0 * float(np.linalg.norm(axes * coordinates))
        multiplier, _ = brentq(slack, 0.0, upper, xtol=1e-30, maxiter=1000, full_output=True, disp=False)
        scaled = axes * coordinates / (axes**2 + multiplier)
        return self._longest * self._outward(axes * scaled / np.linalg.norm(scaled))

    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:
        direction, _ = polar(self._axes * self._inward(gradient))
        return -self._longest * self._outward(self._axes * direction)

    def _l2_bound(self) -> float:
        return self._longest

    def _l1_bound(self) -> float:
        """Return max √(sᵀA⁻¹s) over sign patterns s."""
        half = self._spectrum[1] * self._axes
        if self.dimension > MOST_SIGNS:
            return self._longest * math.sqrt(min(float(np.abs(half @ half.T).sum()), float(self.dimension)))
        patterns = np.arange(2 ** (self.dimension - 1))[:, None] >> np.arange(self.dimension) & 1
        return self._longest * float(np.linalg.norm((1.0 - 2.0 * patterns) @ half, axis=1).max())

    def _contains(self, point: FloatVector, tolerance: float) -> bool:
        coordinates = self._inward(point / self._longest) / self._axes
        return bool(np.linalg.norm(coordinates) <= 1.0 + tolerance)
