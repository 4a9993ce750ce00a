"""Linear models in public units: nothing is asked but gradients, for budgets that carry nothing else."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.solvers.base import FloatVector, Query, Released, Solve, Solver
from tailguard.solvers.ending import first_offset
from tailguard.solvers.model_choice import choose
from tailguard.solvers.preparation import inside, raw_units
from tailguard.solvers.refit import scaled_loss
from tailguard.solvers.scales import Scales
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Gradient
from tailguard.statistics.slopes import Slopes
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

__all__ = ["PublicDescent"]

DOUBT = 2.0
"""A last change of the intercept is believed as far as so many times its noise does not explain it."""


@dataclass(frozen=True)
class PublicDescent(Solver):
    """Bounded steps in public units at public levels, averaged as they go, then shrunk by their noise.

    Rows are shortened and slopes limited so tightly that a record hardly counts for more than its direction and the
    sign of its residual; then levels need not be known, and noise is nearly the least there is. The first
    steps are full ones, later ones are averaged, so that their noise goes down together.

    Parameters
    ----------
    loss : Loss
        In generalised linear form, smooth.
    surrogate : Loss or None
        A loss with the same model and more curvature, for the steps.
    domain : Domain
        Where the coefficients may lie, in raw units.
    n, d, bits : int
        Number of records and features, bits of the grid.
    intercept : bool
        Whether an intercept is fitted.
    scales : Scales
        The public units: of the columns and, for a loss of residuals, of the target; centres with an intercept.
    radius, limit : float
        Largest length of a row, and largest slope in units of the target's scale (step "gradient").
    curvature : float
        Of the mean of what such records add, for rows and residuals of the size that the scales say.
    steps, pace : int, float
        T, and how large the weight pace ÷ t of step t is, at most 1: the larger, the faster and the noisier.
    trust : float
        Longest step, in public units: a released gradient that asks for more is noise, or rows are far from round.
    judged, handicap : float
        The most that a record counts in the choice between the null model and this one (step "choice"), and what this
        one must win, as in `choose`.
    width : float or None
        Largest slope in the last word on the intercept (step "intercept"); None for no such word.
    """

    loss: Loss
    surrogate: Loss | None
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    scales: Scales
    radius: float
    limit: float
    curvature: float
    steps: int
    pace: float
    trust: float
    judged: float
    handicap: float
    width: float | None

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        known = self.scales
        target = (known.target_centre or 0.0, known.target or 1.0)  # classes have neither
        view = View(self.d, known.centre, known.scale, self.intercept, *target)
        loss, point = scaled_loss(self.loss, view), np.zeros(view.dimension)
        if self.intercept and not isinstance(loss, ResidualLoss):
            point[-1] = yield from first_offset(view, loss, self.n, self.bits)
        point = yield from self._descend(view, self.surrogate or loss, inside(view, point, self.domain))
        null = inside(view, np.append(np.zeros(self.d), point[self.d :]), self.domain)
        best = yield from choose("choice", view, loss, [null, point], self.judged, self.bits, self.handicap)
        point = point if best else null
        if self.width is not None:
            reply = yield Query("intercept", Clipped(Slopes(Gradient(view, loss, point)), self.width, self.bits))
            change = -reply.value / self.n
            change = change * _believed(change, DOUBT * (reply.noise / self.n) ** 2)
            point = np.append(point[: self.d], point[self.d :] + change)
        return raw_units(view, point, self.domain)

    def _descend(self, view: View, loss: Loss, point: FloatVector) -> Generator[Query, Released, FloatVector]:
        variance, rate = 0.0, self.n * self.curvature
        for step in range(1, self.steps + 1):
            gradient = Gradient(view, loss, point)
            reply = yield Query("gradient", Weighted(gradient, self.radius, self.limit, self.bits))
            weight, change = min(1.0, self.pace / step), reply.value / rate
            part = min(1.0, self.trust / max(float(np.linalg.norm(change)), 1e-300))
            variance = (1.0 - weight) ** 2 * variance + (weight * part * reply.noise / rate) ** 2
            point = inside(view, point - weight * part * change, self.domain)
        slopes = point[: self.d] * _believed(point[: self.d], variance)
        return inside(view, np.append(slopes, point[self.d :]), self.domain)


def _believed(values: FloatVector, variance: float) -> float:
    """Return what part of values is believed that have so much noise (James–Stein)."""
    return max(0.0, 1.0 - values.size * variance / max(float(values @ values), 1e-300))
