"""No constraint at all."""

import math
from dataclasses import dataclass

from tailguard._validate import integer, refuse
from tailguard.domains.base import Domain, FloatVector

__all__ = ["WholeSpace"]


@dataclass(frozen=True)
class WholeSpace(Domain):
    """All of R^d: the projection is the point itself, a linear function has no minimum.

    Parameters
    ----------
    dimension : int
        d ≥ 1.

    Examples
    --------
    >>> WholeSpace(2).project([3.0, -4.0])
    array([ 3., -4.])
    """

    dimension: int

    def __post_init__(self) -> None:
        self._set(dimension=integer("dimension", self.dimension, "WholeSpace"))

    def _project(self, point: FloatVector) -> FloatVector:
        return point

    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:  # noqa: ARG002
        raise refuse("domain", "linear_minimiser", "bounded", self)

    def _l1_bound(self) -> float:
        return math.inf

    def _l2_bound(self) -> float:
        return math.inf

    def _contains(self, point: FloatVector, tolerance: float) -> bool:  # noqa: ARG002
        return True
