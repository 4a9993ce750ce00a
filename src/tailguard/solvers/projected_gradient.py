"""Projected gradient descent with clipped, noisy gradients (Zhao et al. 2024, Algorithm 1)."""

from dataclasses import dataclass

import numpy as np

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss
from tailguard.solvers.base import Estimate, FloatVector, Query, Solve, Solver
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Gradient
from tailguard.statistics.view import View

__all__ = ["ProjectedGradient"]


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """w ← Π(w − η g̃(w)) from w = 0, `steps` times; the answer is the average of the iterates, equation (8).

    Parameters
    ----------
    loss : Loss
        In generalised linear form.
    domain : Domain
        Bounded, for the coefficients; an intercept stays within ± its radius, so that the whole set is bounded too.
    n, d, bits : int
        Number of records and features, bits of the grid.
    intercept : bool
        Whether an intercept is fitted.
    radius : float
        Clip radius R of a record's gradient.
    steps : int
        T.
    step_size : float
        η.
    """

    loss: Loss
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    radius: float
    steps: int
    step_size: float

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view = View(self.d, intercept=self.intercept)
        point = self._project(np.zeros(view.dimension))
        total = np.zeros(view.dimension)
        for _ in range(self.steps):
            total += point
            gradient = Gradient(view, self.loss, point)
            reply = yield Query("gradient", Clipped(gradient, self.radius, self.bits))
            point = self._project(point - self.step_size * reply.value / self.n)
        average = total / self.steps
        return Estimate(average[: self.d], float(average[self.d]) if self.intercept else 0.0)

    def _project(self, point: FloatVector) -> FloatVector:
        slopes = self.domain.project(point[: self.d])
        limit = self.domain.norm_bound("l2")
        return np.concatenate([slopes, np.clip(point[self.d :], -limit, limit)])
