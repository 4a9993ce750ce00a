"""The ℓ1 ball: LASSO."""

from dataclasses import dataclass

import numpy as np

from tailguard._validate import integer
from tailguard.domains._parameters import length
from tailguard.domains.base import Domain, FloatMatrix, FloatVector
from tailguard.domains.simplex import project_onto_simplex

__all__ = ["L1Ball"]


@dataclass(frozen=True)
class L1Ball(Domain):
    """The cross-polytope {w : ‖w‖₁ ≤ r}.

    The projection solves minimise ‖w − y‖₂ subject to ‖w‖₁ ≤ r: y itself inside, else soft thresholding, w_j
    = sign(y_j) max(|y_j| − θ, 0) with the one θ that gives ‖w‖₁ = r. The linear minimiser is −r sign(g_j)·e_j
    at the first largest |g_j|.

    Parameters
    ----------
    dimension : int
        d ≥ 1.
    radius : float
        r > 0.

    Examples
    --------
    >>> L1Ball(3, radius=1.0).project([0.75, -0.75, 0.125])
    array([ 0.5, -0.5,  0. ])
    """

    dimension: int
    radius: float

    def __post_init__(self) -> None:
        self._set(
            dimension=integer("dimension", self.dimension, "L1Ball"),
            radius=length("radius", self.radius, "L1Ball"),
        )

    def vertices(self) -> FloatMatrix:
        """Return the 2d vertices as a dense matrix: r·e_j in row j, −r·e_j in row d + j."""
        positive = self.radius * np.eye(self.dimension)
        return np.concatenate([positive, -positive])

    def _project(self, point: FloatVector) -> FloatVector:
        if np.abs(point).sum() <= self.radius:
            return point
        return np.copysign(project_onto_simplex(np.abs(point), self.radius), point)

    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:
        steepest = np.argmax(np.abs(gradient))
        vertex = np.zeros(self.dimension)
        vertex[steepest] = -np.copysign(self.radius, gradient[steepest])
        return vertex

    def _l1_bound(self) -> float:
        return self.radius

    def _l2_bound(self) -> float:
        return self.radius

    def _contains(self, point: FloatVector, tolerance: float) -> bool:
        return bool(np.abs(point).sum() <= self.radius * (1.0 + tolerance))
