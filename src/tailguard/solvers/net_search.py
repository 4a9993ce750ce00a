"""A few coefficients without bounds: private units, then picks from nets that close in on the minimiser."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np

from tailguard._validate import real, refuse
from tailguard.domains.base import Domain
from tailguard.domains.box import Box
from tailguard.losses.base import Loss
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Solve, Solver
from tailguard.solvers.net import Net, inside, picked
from tailguard.solvers.perturbed_fit import widened
from tailguard.solvers.preparation import Preparation, prepare_features
from tailguard.solvers.quantile import quantile
from tailguard.solvers.rank_level import rank_level
from tailguard.solvers.refit import scaled_loss
from tailguard.solvers.spread import LOW
from tailguard.statistics.fields import Gradient
from tailguard.statistics.gradient_mapping import GradientMapping
from tailguard.statistics.scalars import Columns, Norm, Target
from tailguard.statistics.view import View

__all__ = ["NetSearch"]


@dataclass(frozen=True)
class NetSearch(Solver):
    """Picks by the clipped gradient mapping, each from a net around the one before (step "net"), on all records.

    The nets are fine near their centre and coarse far from it. So a pick is at most about as far from the minimiser as
    its noise or a fraction of the distance that was left, and no curvature has to be known.

    Parameters
    ----------
    loss : Loss
        In generalised linear form.
    domain : Domain
        Where the coefficients may lie, in raw units; the answer is projected.
    n, d, bits : int
        Number of records and features, bits of the grid.
    intercept : bool
        Whether an intercept is fitted.
    target : Preparation or None
        How the target's median is sought (a loss of residuals), or None to take targets as they are (classes).
    centres : Preparation or None
        How medians of columns are sought; None for a model without an intercept, which is not centred.
    net : Net
        In private units, around the last pick; its reach is also the largest coefficient.
    picks : tuple of tuple of float
        After each search for the clip level (step "clip level"), the ridges of the picks that follow, in units of it.
        They pull towards 0 by about the noise of the pick: far away, where the loss is nearly flat, scores are low too.
    width : float
        The clip level, in medians of the gradients' norms.
    rounding : float
        Kinks of the loss are rounded at least so widely, in private units: scores next to a sharp one are all noise.
    """

    loss: Loss
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    target: Preparation | None
    centres: Preparation | None
    net: Net
    picks: tuple[tuple[float, ...], ...]
    width: float
    rounding: float

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise refuse("loss", "NetSearch", "a loss of predictions", self.loss)
        for ridge in (ridge for ridges in self.picks for ridge in ridges):
            real("picks", ridge, "NetSearch", at_least=0.0)
        real("width", self.width, "NetSearch", above=0.0)
        real("rounding", self.rounding, "NetSearch", at_least=0.0)

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view = View(self.d)
        if self.target is not None:
            view = yield from self._prepare_target(view, self.target)
        view = yield from self._prepare(view)
        point = yield from self._search(replace(view, intercept=self.intercept))
        return self._raw(view, point)

    def _prepare_target(self, view: View, target: Preparation) -> Generator[Query, Released, View]:
        """Return the view with a target in units of its median deviation."""
        centre = 0.0
        if target.centred:
            found = yield from quantile("target centre", Target(view), 0.5, self.n, self.bits, target.grid)
            centre = float(found[0])
        view = replace(view, target_centre=centre)
        size = max(abs(centre), 2.0**LOW)
        scale = yield from rank_level("target scale", Target(view), 0.5, self.n, self.bits, otherwise=size)
        return replace(view, target_scale=scale)

    def _prepare(self, view: View) -> Generator[Query, Released, View]:
        """Return the view with columns in units of their median deviations; one that has none is dropped."""
        if self.centres is not None:
            view = yield from prepare_features(view, self.centres, self.n, self.bits)
        scales = []
        for column in range(self.d):
            alone = Columns(replace(view, scale=None, columns=[column]))
            scales.append((yield from rank_level("feature scale", alone, 0.5, self.n, self.bits, otherwise=np.inf)))
        return replace(view, scale=np.array(scales))

    def _search(self, view: View) -> Generator[Query, Released, FloatVector]:
        loss, k = widened(scaled_loss(self.loss, view), self.rounding), view.dimension
        box, point = Box((-self.net.reach,) * k, (self.net.reach,) * k), np.zeros(k)
        for ridges in self.picks:
            norms = Norm(Gradient(view, loss, point))
            level = self.width * (yield from rank_level("clip level", norms, 0.5, self.n, self.bits, otherwise=1.0))
            for ridge in ridges:
                points = inside(box, self.net.points(point))
                scores = GradientMapping(
                    view=view,
                    loss=loss,
                    points=points,
                    threshold=level,
                    bits=self.bits,
                    size=self.n,
                    region=box,
                    step=1.0 / (loss.smoothness or 1.0),
                    ridge=ridge * level,
                )
                point = picked((yield Query("net", scores)), points)
        return point

    def _raw(self, view: View, point: FloatVector) -> Estimate:
        centre = np.zeros(self.d) if view.centre is None else np.asarray(view.centre)
        slopes = self.domain.project(point[: self.d] * view.target_scale / np.asarray(view.scale))
        if not self.intercept:
            return Estimate(slopes)
        return Estimate(slopes, float(view.target_centre + view.target_scale * point[self.d] - slopes @ centre))
