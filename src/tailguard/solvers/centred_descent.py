"""Dense regression in many dimensions: clipped descent, then a refit on the span of what was released."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np

from tailguard.domains.base import Domain
from tailguard.domains.whole_space import WholeSpace
from tailguard.losses.base import Loss
from tailguard.solvers.base import FloatVector, Query, Released, Setting, Solve, Solver
from tailguard.solvers.clip_level import histogram
from tailguard.solvers.intercept import Settling, settle
from tailguard.solvers.model_choice import choose
from tailguard.solvers.preparation import Preparation, inside, prepare_target, raw_units, without_faint_centre
from tailguard.solvers.refit import Refit, refit, scaled_loss
from tailguard.solvers.spread import LOW
from tailguard.solvers.tamed import WILD, tamed
from tailguard.solvers.target_range import with_range
from tailguard.solvers.wide import WidePreparation, prepare_wide
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Gradient, Rows
from tailguard.statistics.scalars import Norm, Slope
from tailguard.statistics.view import View

__all__ = ["CentredDescent", "Descent"]

NORMAL = 0.6745
"""Median of |N(0, 1)|."""

TYPICAL = 0.75
"""Mean square of a gradient clipped at the 30 % quantile, in its square."""

HALVINGS = 30
"""Steps of the search for the longest slopes in the domain."""

FURTHEST = 3.0
"""Largest norm of the slopes, in deviations of the target; classes: of the log odds."""


@dataclass(frozen=True)
class Descent(Setting):
    """A descent on all columns.

    Parameters
    ----------
    steps : int
        T.
    quantile : float
        Gradients are clipped at this quantile of their norms.
    """

    steps: int
    quantile: float


@dataclass(frozen=True)
class CentredDescent(Solver):
    """Clipped Gaussian descent with running averages and James–Stein shrinkage, then a refit on the released span.

    Parameters
    ----------
    loss : Loss
        In generalised linear form, smooth.
    domain : Domain
        Where the coefficients may lie, in raw units; the answer is projected on it.
    n, d, bits : int
        Number of records and features, bits of the grid.
    intercept : bool
        Whether an intercept is fitted.
    target : Preparation or None
        How the target is centred and scaled (a loss of residuals), or None to take it as it is (classes).
    features : WidePreparation
        How the columns are.
    descent : Descent
        The descent on all columns.
    refit : Refit
        The refit on the span of the last point and the released gradients.
    handicap : float
        Of the fitted models against the null model, as in `choose`.
    settling : Settling or None
        How the intercept is settled in the end, if there is one.
    """

    loss: Loss
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    target: Preparation | None
    features: WidePreparation
    descent: Descent
    refit: Refit
    handicap: float
    settling: Settling | None

    @with_range
    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view = View(self.d, intercept=self.intercept)
        if self.target is not None:
            view = without_faint_centre((yield from prepare_target(view, self.target, self.n, self.bits)))
        view = yield from prepare_wide(view, self.features, self.n, self.bits)
        view = yield from self._unit(view)
        loss, usual, floor = scaled_loss(self.loss, view), 0.5, 2.0**LOW
        if self.target is not None:
            floor = max(self.target.blur(view), floor)
            slopes = Slope(Gradient(view, loss, np.zeros(view.dimension)))
            residuals = yield from histogram("residual scale", slopes, self.n, self.bits)
            near, usual = residuals.quantile(0.3, floor), residuals.quantile(0.5, floor)
            loss = tamed(loss, near, *residuals.far(WILD * near))
        walk = yield from self._descend(view, loss, floor)
        model = yield from self._refit(view, loss, walk)
        models = self._inside(view, walk, model)
        best = yield from choose("choice", view, loss, models, _most(usual, model), self.bits, self.handicap)
        model = models[best]
        if self.settling is not None:
            model = yield from settle(self.settling, Gradient(view, loss, model))
        return raw_units(view, model, self.domain)

    def _inside(self, view: View, walk: "_Walk", model: FloatVector) -> list[FloatVector]:
        """Return the candidates of the choice: the null model, the fitted one and, in a domain, two ways into it."""
        null = inside(view, np.zeros(view.dimension), self.domain)
        if isinstance(self.domain, WholeSpace):
            return [null, model]
        return [null, inside(view, model, self.domain), self._shorten(view, model), walk.point]

    def _shorten(self, view: View, model: FloatVector) -> FloatVector:
        """Return the model with its slopes shortened until they lie in the domain: far outside, directions last."""
        factors, low, high = view.target_scale / np.asarray(view.scale), 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            contained = self.domain.contains(middle * model[: self.d] * factors)
            low, high = (middle, high) if contained else (low, middle)
        return inside(view, np.append(low * model[: self.d], model[self.d :]), self.domain)

    def _unit(self, view: View) -> Generator[Query, Released, View]:
        """Ask for the rows' lengths and scale them so that a column is as large as the intercept's."""
        lengths = yield from histogram("row level", Norm(Rows(replace(view, intercept=False))), self.n, self.bits)
        used = max(int(np.isfinite(np.asarray(view.scale)).sum()), 1)
        return replace(view, scale=np.asarray(view.scale) * lengths.quantile(0.5) / np.sqrt(used))

    def _descend(self, view: View, loss: Loss, floor: float) -> Generator[Query, Released, "_Walk"]:
        """Take the steps; at the start, residuals below `floor` count as 0: many targets may equal their median."""
        walk = _Walk(np.zeros(view.dimension))
        longest = 2.0 * np.sqrt(view.dimension)
        for step in range(1, self.descent.steps + 1):
            gradient = Gradient(view, loss, walk.point)
            norms = yield from histogram("gradient level", Norm(gradient), self.n, self.bits)
            level = norms.quantile(self.descent.quantile, 2.0**LOW if walk.point.any() else longest * floor)
            reply = yield Query("gradient", Clipped(gradient, level, self.bits))
            direction = reply.value / max(float(np.linalg.norm(reply.value)), 1e-300)
            along = Norm(Rows(replace(view, intercept=False, basis=direction[: self.d, np.newaxis])))
            spread = yield from histogram("direction scale", along, self.n, self.bits)
            walk.move(reply, level, self.n, step, spread.quantile(0.5) / NORMAL, self._curvature(loss))
            walk.point = inside(view, walk.point, self.domain)
        return walk

    def _curvature(self, loss: Loss) -> float:
        """Only gradients that are not clipped follow the point."""
        return (loss.smoothness or 1.0) * self.descent.quantile

    def _refit(self, view: View, loss: Loss, walk: "_Walk") -> Generator[Query, Released, FloatVector]:
        directions = np.stack([walk.point, *walk.gradients[:-1]], axis=1)[: self.d]
        basis, _ = np.linalg.qr(directions / np.maximum(np.linalg.norm(directions, axis=0), 1e-300))
        few = replace(view, basis=basis)
        point = yield from refit(self.refit, loss, few)
        slopes = walk.without_sampling_noise(basis @ point[: basis.shape[1]], self.n)
        return np.append(slopes, point[-1]) if self.intercept else slopes


@dataclass
class _Walk:
    """The points of the descent; everything in it is released or computed from releases."""

    point: FloatVector
    average: FloatVector = field(init=False)
    noise: float = 0.0
    reach: float = 0.0
    gradients: list[FloatVector] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.average = np.zeros_like(self.point)

    def move(self, reply: Released, level: float, n: int, step: int, spread: float, curvature: float) -> None:
        """Take a full step, average it with weight 2/(step + 1), and shrink by the noise that is known to be in it.

        The step is as long as the rows' spread along the gradient allows, so that correlated columns do not overshoot.
        """
        gradient, weight = reply.value / n, 2.0 / (step + 1.0)
        self.gradients.append(gradient)
        rate = curvature * max(1.0, spread**2)
        self.reach = level / rate
        self.average = (1.0 - weight) * self.average + weight * (self.point - gradient / rate)
        self.noise = (1.0 - weight) ** 2 * self.noise + weight**2 * (reply.noise / n / rate) ** 2
        size = float(self.average @ self.average)
        kept = max(0.0, 1.0 - self.average.size * self.noise / max(size, 1e-300))
        length = np.sqrt(size) * kept
        self.point = self.average * kept * min(1.0, FURTHEST / max(length, 1e-300))

    def without_sampling_noise(self, slopes: FloatVector, n: int) -> FloatVector:
        """Return slopes shrunk by what the records' own noise put into them, which no averaging of steps removes.

        A gradient clipped at `level` has at most that length, most have three quarters of its square; the last step
        turned the mean of n of them into slopes.
        """
        sampling = TYPICAL * self.reach**2 / n
        size = float(np.linalg.norm(slopes) * np.linalg.norm(self.average))
        return slopes * max(0.0, 1.0 - sampling / max(size, 1e-300))


def _most(usual: float, model: FloatVector) -> float:
    """Return the most that a record may count in the final choice: a usual slope times what the model says.

    φ(0, t) − φ(p, t) is about −φ'·p, so a faint model must not be judged on the scale of the noise.
    """
    return max(2.0 * usual * min(float(np.linalg.norm(model)), 2.0 * usual), 1e-100)
