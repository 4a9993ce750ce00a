"""Frank–Wolfe with privately picked vertices: Hu et al. 2022, Algorithms 1 and 2."""

from dataclasses import dataclass

import numpy as np

from tailguard._validate import integer, real, refuse
from tailguard.domains.l1_ball import L1Ball
from tailguard.losses.base import Loss, RecordLoss
from tailguard.solvers.base import Estimate, FloatVector, Query, Solve, Solver
from tailguard.solvers.entries import Entries
from tailguard.solvers.vertices import Hull, first_point, hull, scores, sum_bits, vertex
from tailguard.statistics.fields import Field, Gradient, RecordGradient
from tailguard.statistics.view import View

__all__ = ["FrankWolfe", "rate"]


def rate(step: int, step_size: float | None) -> float:
    """Return η of step t = 1, 2, …: 2/(t + 2), the η_(t−1) of Theorems 2 and 5, or a constant."""
    return 2.0 / (step + 2.0) if step_size is None else step_size


@dataclass(frozen=True)
class FrankWolfe(Solver):
    """w ← (1 − η)w + ηv with a vertex v picked by its score −⟨v, g̃(w)⟩ (step "vertex"), `steps` times.

    Parameters
    ----------
    loss : Loss or RecordLoss
        In generalised linear form, or with a gradient of its own for each record.
    domain : L1Ball, Simplex or Polytope
        W; the vertices of the first two are never listed.
    d, bits : int
        Number of features, bits of the grid of scores.
    entries : Entries
        How coordinates of the gradients are bounded.
    steps : int
        T.
    step_size : float or None, default=None
        A constant η; None is 2/(t + 2) in step t = 1 … T, which leaves 2/((T+1)(T+2)) of the start.
    start : tuple of float or None, default=None
        w⁰, public and in the domain: the sensitivity that Theorem 4 states holds only then. None is 0 where 0 lies in
        the domain, else the mean of the vertices.
    stretch : float, default=1.0
        Features are looked at times this number, and coefficients divided by it. With the radius r of an ℓ1 ball the
        iteration is that of the unit ball.
    """

    loss: Loss | RecordLoss
    domain: Hull
    d: int
    bits: int
    entries: Entries
    steps: int
    step_size: float | None = None
    start: tuple[float, ...] | None = None
    stretch: float = 1.0

    def __post_init__(self) -> None:
        hull(self.domain, "FrankWolfe")
        integer("steps", self.steps, "FrankWolfe")
        real("stretch", self.stretch, "FrankWolfe", above=0.0)
        if self.step_size is not None:
            real("step_size", self.step_size, "FrankWolfe", above=0.0, at_most=1.0)
        if self.start is not None:
            point = np.array(self.start, dtype=np.float64)
            if not self.domain.contains(point):
                raise refuse("start", "FrankWolfe", _place(self.domain), _described(point))
            object.__setattr__(self, "start", tuple(point.tolist()))

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        point = first_point(self.domain) if self.start is None else np.array(self.start)
        view = View(self.d) if self.stretch == 1.0 else View(self.d, scale=np.full(self.d, 1.0 / self.stretch))
        view, bits = self.entries.seen(view), sum_bits(self.domain, self.bits)
        for step in range(1, self.steps + 1):
            gradient = self.entries.statistic(self._field(view, point / self.stretch), bits)
            reply = yield Query("vertex", scores(self.domain, gradient))
            share = rate(step, self.step_size)
            point = (1.0 - share) * point + share * vertex(self.domain, reply.value[0])
        return Estimate(point)

    def _field(self, view: View, point: FloatVector) -> Field:
        if isinstance(self.loss, Loss):
            return Gradient(view, self.loss, point)
        return RecordGradient(view, self.loss, point)


def _place(domain: Hull) -> str:
    if isinstance(domain, L1Ball):
        return f"a vector of {domain.dimension} numbers of ℓ1 norm at most {domain.radius:g}"
    return f"a point of the {type(domain).__name__}"


def _described(point: FloatVector) -> str:
    if point.ndim != 1 or not np.all(np.isfinite(point)):
        return f"an array of shape {point.shape}"
    return f"{point.size} numbers of ℓ1 norm {np.abs(point).sum():g}"
