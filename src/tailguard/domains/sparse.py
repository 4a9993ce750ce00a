"""Vectors with few non-zero entries, optionally inside a ball."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailguard._validate import integer, refuse
from tailguard.domains._parameters import length
from tailguard.domains.base import Domain, FloatVector, polar

__all__ = ["Sparse"]


@dataclass(frozen=True)
class Sparse(Domain):
    """The sparse vectors {w : ‖w‖₀ ≤ s}, or {w : ‖w‖₀ ≤ s, ‖w‖₂ ≤ r}. Not convex.

    The projection solves minimise ‖w − y‖₂ over the set: hard thresholding keeps the s entries of largest
    size, the first ones among equals, and the ball then shrinks them to norm r if they exceed it. It is a
    nearest point, but need not be the only one, and it is not nonexpansive. The linear minimiser needs the
    ball; it is −r times the direction of the s largest entries of g.

    Parameters
    ----------
    dimension : int
        d ≥ 1.
    sparsity : int
        1 ≤ s ≤ d, the largest number of non-zero entries.
    radius : float, optional
        r > 0, the largest ℓ2 norm; unbounded if None.

    Examples
    --------
    >>> Sparse(3, sparsity=2, radius=10.0).project([3.0, 1.0, -4.0])
    array([ 3.,  0., -4.])
    """

    dimension: int
    sparsity: int
    radius: float | None = None

    convex: ClassVar[bool] = False

    def __post_init__(self) -> None:
        dimension = integer("dimension", self.dimension, "Sparse")
        sparsity = integer("sparsity", self.sparsity, "Sparse", at_most=dimension)
        radius = None if self.radius is None else length("radius", self.radius, "Sparse")
        self._set(dimension=dimension, sparsity=sparsity, radius=radius)

    def _project(self, point: FloatVector) -> FloatVector:
        kept = self._threshold(point)
        direction, norm = polar(kept)
        return kept if self.radius is None or norm <= self.radius else self.radius * direction

    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:
        if self.radius is None:
            raise refuse("domain", "linear_minimiser", "bounded", self)
        return -self.radius * polar(self._threshold(gradient))[0]

    def _threshold(self, point: FloatVector) -> FloatVector:
        largest = np.argsort(-np.abs(point), kind="stable")[: self.sparsity]
        kept = np.zeros_like(point)
        kept[largest] = point[largest]
        return kept

    def _l1_bound(self) -> float:
        return self._l2_bound() * math.sqrt(self.sparsity)

    def _l2_bound(self) -> float:
        return math.inf if self.radius is None else self.radius

    def _contains(self, point: FloatVector, tolerance: float) -> bool:
        inside = self.radius is None or polar(point)[1] <= self.radius * (1.0 + tolerance)
        return inside and int(np.count_nonzero(point)) <= self.sparsity
