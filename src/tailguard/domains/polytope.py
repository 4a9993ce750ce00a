"""The convex hull of given points."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tailguard.domains._hull import nearest_in_hull
from tailguard.domains._parameters import matrix
from tailguard.domains.base import Domain, FloatMatrix, FloatVector, in_units, polar

__all__ = ["Polytope"]

FAR = 1e100  # in units of the polytope's size


@dataclass(frozen=True)
class Polytope(Domain):
    """The convex hull {Σ α_i v_i : α ≥ 0, Σ α_i = 1} of the corners v_1, …, v_N.

    The projection solves minimise ‖Σ α_i v_i − y‖₂ subject to α ≥ 0, Σ α_i = 1, by an active set of corners.
    The linear minimiser is the first corner with the smallest ⟨g, v_i⟩.

    Parameters
    ----------
    corners : sequence of points
        v_1, …, v_N, one point a row. Points inside the hull of the others are allowed.

    Examples
    --------
    >>> Polytope([(0.0, 0.0), (2.0, 0.0), (0.0, 2.0)]).project([2.0, 2.0])
    array([1., 1.])
    """

    corners: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        self._set(corners=matrix("corners", self.corners, "Polytope"))

    @cached_property
    def dimension(self) -> int:
        """Number of coefficients."""
        return len(self.corners[0])

    def vertices(self) -> FloatMatrix:
        """Return the corners as given, one a row."""
        return np.array(self.corners)

    @cached_property
    def _middle(self) -> FloatVector:
        return np.asarray(self.vertices().mean(axis=0))

    @cached_property
    def _size(self) -> float:
        return float(np.abs(self.vertices() - self._middle).max()) or 1.0

    @cached_property
    def _scaled(self) -> FloatMatrix:
        return (self.vertices() - self._middle) / self._size

    def _project(self, point: FloatVector) -> FloatVector:
        offset = in_units(point - self._middle, self._size, FAR)
        return self._middle + self._size * nearest_in_hull(self._scaled, offset)

    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:
        corners = self.vertices()
        return np.array(corners[np.argmin(corners @ gradient)])

    def _l1_bound(self) -> float:
        return float(np.abs(self.vertices()).sum(axis=1).max())

    def _l2_bound(self) -> float:
        return max(polar(corner)[1] for corner in self.vertices())

    def _contains(self, point: FloatVector, tolerance: float) -> bool:
        return polar(point - self._project(point))[1] <= tolerance * self.norm_bound("l2")
