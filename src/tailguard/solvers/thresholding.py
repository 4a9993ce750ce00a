"""Iterative hard thresholding with peeled gradient steps.

Hu et al. 2022, Algorithms 3 and 5; Tao et al. 2022, Algorithm 5. A step of descent, w − (η/m)·Σ g, is −η/m times the
sum Σ g − (m/η)·w, so that a released sum with a public shift is all that is asked for; peeling sees the magnitudes of
w − η·g.
"""

from dataclasses import dataclass

import numpy as np

from tailguard._validate import integer, real, refuse
from tailguard.domains.sparse import Sparse
from tailguard.losses.base import Loss, RecordLoss
from tailguard.solvers.base import Estimate, FloatVector, Query, Solve, Solver
from tailguard.solvers.entries import Entries
from tailguard.statistics.base import block_size
from tailguard.statistics.fields import Field, Gradient, RecordGradient
from tailguard.statistics.scores import Shifted
from tailguard.statistics.view import View

__all__ = ["HardThresholding"]


@dataclass(frozen=True)
class HardThresholding(Solver):
    """w ← Π(peel(w − η·g̃(w))), `steps` times; the answer is the last point, projected on the domain.

    Parameters
    ----------
    loss : Loss or RecordLoss
        In generalised linear form, or squared distance for means.
    domain : Sparse
        Where the answer lies. If it has a radius, every iterate is brought into that ball.
    n, bits : int
        Number of records, bits of the grid.
    entries : Entries
        How coordinates of the gradients are bounded.
    sparsity : int
        s, the number of coordinates that are kept in each step (step "peeling"); at least the domain's.
    steps : int
        T.
    step_size : float
        η.
    blocks : int
        1: every step uses all records. T: each step has a block of its own.
    start : tuple of (int, float), default=()
        The non-zero entries of w¹, by increasing index; public. At most s of them, inside the domain's ball: the
        papers' sensitivity holds only then.
    ridge : float, default=0.0
        ρ of a regulariser ρ‖w‖²/2, whose gradient needs no records.
    """

    loss: Loss | RecordLoss
    domain: Sparse
    n: int
    bits: int
    entries: Entries
    sparsity: int
    steps: int
    step_size: float
    blocks: int = 1
    start: tuple[tuple[int, float], ...] = ()
    ridge: float = 0.0

    def __post_init__(self) -> None:
        integer("sparsity", self.sparsity, "HardThresholding", at_least=self.domain.sparsity, at_most=self._d)
        real("step_size", self.step_size, "HardThresholding", above=0.0)
        real("ridge", self.ridge, "HardThresholding", at_least=0.0)
        point, rule = np.zeros(self._d), f"at most {self.sparsity} pairs of an index and a number"
        for index, value in self.start:
            point[integer("start", index, "HardThresholding", at_least=0, at_most=self._d - 1)] = value
        if self.domain.radius is not None:
            rule += f", of Euclidean norm at most {self.domain.radius:g}"
        indices = [index for index, _ in self.start]
        if indices != sorted(set(indices)) or not self.inner_domain.contains(point, 1e-12):
            raise refuse("start", "HardThresholding", rule, f"{len(self.start)} of norm {np.linalg.norm(point):g}")

    @property
    def _d(self) -> int:
        return self.domain.dimension

    @property
    def inner_domain(self) -> Sparse:
        """Where the iterates lie: s-sparse vectors of the domain's ball."""
        return Sparse(self._d, self.sparsity, self.domain.radius)

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        point = np.zeros(self._d)
        for index, value in self.start:
            point[index] = value
        for step in range(self.steps):
            rate = block_size(self.n, step % self.blocks, self.blocks) / self.step_size
            shift = -rate * (1.0 - self.step_size * self.ridge) * point
            reply = yield Query("peeling", Shifted(self.entries.statistic(self._field(point), self.bits), shift))
            point = self.inner_domain.project(-reply.value / rate)
        return Estimate(self.domain.project(point))

    def _field(self, point: FloatVector) -> Field:
        view = self.entries.seen(View(self._d))
        if isinstance(self.loss, Loss):
            return Gradient(view, self.loss, point)
        return RecordGradient(view, self.loss, point)
