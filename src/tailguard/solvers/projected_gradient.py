"""Projected gradient descent with a private mean oracle for the gradients.

Zhao et al. 2024, Algorithm 1; Tao et al. 2022, Algorithm 2, in its convex (whole data, average) and strongly convex
(disjoint blocks, last iterate) forms.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss, RecordLoss
from tailguard.solvers.base import Estimate, FloatVector, Query, Solve, Solver
from tailguard.solvers.clip_level import ClipLevel, clip_level
from tailguard.solvers.oracles import MeanOracle
from tailguard.statistics.base import block_size
from tailguard.statistics.fields import Field, Gradient, RecordGradient
from tailguard.statistics.view import View

__all__ = ["ProjectedGradient"]


@dataclass(frozen=True)
class ProjectedGradient(Solver):
    """w ← Π(w − η g̃(w)) from the projection of 0, `steps` times.

    Parameters
    ----------
    loss : Loss or RecordLoss
        In generalised linear form, or with a gradient of its own for each record.
    domain : Domain
        For the coefficients; an intercept stays within ± the domain's radius, so that the whole set is bounded too.
    n, d, bits : int
        Number of records and features, bits of the grid.
    intercept : bool
        Whether an intercept is fitted; a generalised linear loss only.
    oracle : MeanOracle
        How a gradient is estimated (step "gradient").
    steps : int
        T.
    step_size : float
        η.
    answer : {"average", "last"}
        The average of the T points at which gradients were taken, or the last point.
    blocks : int
        1: every step uses all records. T: each step has a block of its own.
    level : ClipLevel or None
        How the oracle's threshold is found at the start (step "clip level"); None takes the public one it has.
    """

    loss: Loss | RecordLoss
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    oracle: MeanOracle
    steps: int
    step_size: float
    answer: Literal["average", "last"] = "average"
    blocks: int = 1
    level: ClipLevel | None = None

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view, oracle = View(self.d, intercept=self.intercept), self.oracle
        point = self._project(np.zeros(self.domain.dimension + self.intercept))
        if self.level is not None:
            scalars = oracle.scalars(self._field(view, point))
            oracle = oracle.at((yield from clip_level("clip level", scalars, self.level, self.n, self.bits)))
        total = np.zeros_like(point)
        for step in range(self.steps):
            total += point
            reply = yield Query("gradient", oracle.statistic(self._field(view, point), self.bits))
            gradient = oracle.mean(reply, block_size(self.n, step % self.blocks, self.blocks))
            point = self._project(point - self.step_size * gradient)
        final = total / self.steps if self.answer == "average" else point
        slopes = final[: self.domain.dimension]
        return Estimate(slopes, float(final[-1]) if self.intercept else 0.0)

    def _field(self, view: View, point: FloatVector) -> Field:
        if isinstance(self.loss, Loss):
            return Gradient(view, self.loss, point)
        return RecordGradient(view, self.loss, point)

    def _project(self, point: FloatVector) -> FloatVector:
        size, limit = self.domain.dimension, self.domain.norm_bound("l2")
        offset = np.nan_to_num(np.clip(point[size:], -limit, limit))
        return np.concatenate([self.domain.project(np.nan_to_num(point[:size])), offset])
