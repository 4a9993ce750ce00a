"""The Euclidean ball."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tailguard._validate import integer
from tailguard.domains._parameters import length, vector
from tailguard.domains.base import Domain, FloatVector, polar

__all__ = ["L2Ball"]


@dataclass(frozen=True)
class L2Ball(Domain):
    """The Euclidean ball {w : ‖w − c‖₂ ≤ r}.

    The projection solves minimise ‖w − y‖₂ subject to ‖w − c‖₂ ≤ r: y itself inside, else c + r (y − c)/‖y −
    c‖₂. The linear minimiser is c − r g/‖g‖₂.

    Parameters
    ----------
    dimension : int
        d ≥ 1.
    radius : float
        r > 0.
    centre : sequence of float, optional
        c; the origin if None.

    Examples
    --------
    >>> L2Ball(2, radius=1.0).project([3.0, -4.0])
    array([ 0.6, -0.8])
    """

    dimension: int
    radius: float
    centre: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        dimension = integer("dimension", self.dimension, "L2Ball")
        centre = None if self.centre is None else vector("centre", self.centre, "L2Ball", dimension)
        self._set(dimension=dimension, radius=length("radius", self.radius, "L2Ball"), centre=centre)

    @cached_property
    def _centre(self) -> FloatVector:
        return np.zeros(self.dimension) if self.centre is None else np.array(self.centre)

    def _project(self, point: FloatVector) -> FloatVector:
        direction, distance = polar(point - self._centre)
        return point if distance <= self.radius else self._centre + self.radius * direction

    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:
        direction, _ = polar(gradient)
        return self._centre - self.radius * direction

    def _l1_bound(self) -> float:
        return float(np.abs(self._centre).sum()) + self.radius * math.sqrt(self.dimension)

    def _l2_bound(self) -> float:
        return polar(self._centre)[1] + self.radius

    def _contains(self, point: FloatVector, tolerance: float) -> bool:
        return polar(point - self._centre)[1] <= self.radius + tolerance * self.norm_bound("l2")
