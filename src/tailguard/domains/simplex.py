"""The scaled probability simplex."""

from dataclasses import dataclass

import numpy as np

from tailguard._validate import integer
from tailguard.domains._parameters import length
from tailguard.domains.base import Domain, FloatMatrix, FloatVector

__all__ = ["Simplex", "project_onto_simplex"]


@dataclass(frozen=True)
class Simplex(Domain):
    """The simplex {w : w ≥ 0, Σ w_j = r}.

    The projection solves minimise ‖w − y‖₂ subject to w ≥ 0, Σ w_j = r: w_j = max(y_j − θ, 0) with the one θ
    that gives the sum. The linear minimiser is r·e_j at the first smallest entry of g.

    Parameters
    ----------
    dimension : int
        d ≥ 1.
    radius : float, default=1.0
        r > 0, the sum of the coefficients; 1 is the set of probability vectors.

    Examples
    --------
    >>> Simplex(3).project([0.75, 0.75, -2.0])
    array([0.5, 0.5, 0. ])
    """

    dimension: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        self._set(
            dimension=integer("dimension", self.dimension, "Simplex"),
            radius=length("radius", self.radius, "Simplex"),
        )

    def vertices(self) -> FloatMatrix:
        """Return the d vertices r·e_j, in the order of j, as a dense d × d matrix."""
        return self.radius * np.eye(self.dimension)

    def _project(self, point: FloatVector) -> FloatVector:
        return project_onto_simplex(point, self.radius)

    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:
        vertex = np.zeros(self.dimension)
        vertex[np.argmin(gradient)] = self.radius
        return vertex

    def _l1_bound(self) -> float:
        return self.radius

    def _l2_bound(self) -> float:
        return self.radius

    def _contains(self, point: FloatVector, tolerance: float) -> bool:
        slack = tolerance * self.radius
        return bool(point.min() >= -slack and abs(point.sum() - self.radius) <= slack)


def project_onto_simplex(point: FloatVector, radius: float) -> FloatVector:
    """Return argmin ‖w − point‖₂ subject to w ≥ 0, Σ w_j = radius.

    Heights are measured from the largest entry, and entries more than `radius` below it are zero in the
    solution, so all arithmetic happens at the scale of the radius, whatever the scale of the point.
    """
    heights = point - point.max()
    near = np.sort(heights[heights > -radius])[::-1]
    levels = (radius - np.cumsum(near)) / np.arange(1, near.size + 1)
    level = levels[near + levels > 0.0][-1]
    solution: FloatVector = np.maximum(heights + level, 0.0)
    return solution * float(radius / solution.sum())
