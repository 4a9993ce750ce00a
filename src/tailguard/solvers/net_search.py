"""A few coefficients without bounds, under pure ε: private units, then picks from nets around the one before."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from tailguard._validate import real, refuse
from tailguard.domains.base import Domain
from tailguard.domains.box import Box
from tailguard.losses.base import Loss
from tailguard.solvers.base import FloatVector, Query, Released, Solve, Solver
from tailguard.solvers.ending import Ending
from tailguard.solvers.net import Net, inside, picked
from tailguard.solvers.perturbed_fit import Start, started
from tailguard.solvers.pure_units import PureUnits
from tailguard.statistics.gradient_mapping import GradientMapping

__all__ = ["NetSearch"]


@dataclass(frozen=True)
class NetSearch(Solver):
    """Picks by the clipped gradient mapping, each from a net around the one before (step "net"), on all records.

    The nets are fine near their centre and coarse far from it. So a pick is at most about as far from the minimiser as
    its noise or a fraction of the distance that was left, and no curvature has to be known.

    Parameters
    ----------
    loss, domain, n, d, bits, intercept, units, width, clip
        As in `PerturbedFit`.
    net : Net
        In private units, around the last pick; its reach is also the longest way from the null model in a coordinate.
    picks : tuple of float
        The ridges of the picks, in units of the clip level. They pull towards the null model by about the noise of the
        pick: far away, where the loss is nearly flat, scores are low too.
    level : float or None
        Where gradients have no bound, the largest clip level in units of their median length, which is asked for
        before the last pick (step "gradient level").
    ending : Ending
        What happens to the last pick.
    """

    loss: Loss
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    units: PureUnits | None
    width: float
    clip: float
    net: Net
    picks: tuple[float, ...]
    level: float | None
    ending: Ending

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss):
            raise refuse("loss", "NetSearch", "a loss of predictions", self.loss)
        for ridge in self.picks:
            real("picks", ridge, "NetSearch", at_least=0.0)
        real("clip", self.clip, "NetSearch", above=0.0)

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        start = yield from started(self.loss, self.units, self.n, self.d, self.bits, self.intercept)
        clip, point = self.clip * (1.0 if self.units is None else start.length), np.zeros(start.view.dimension)
        for number, ridge in enumerate(self.picks, start=1):
            if self.level is not None and number == len(self.picks):
                clip = min(clip, self.level * (yield from start.gradient_level(self.width, point, self.n, self.bits)))
            point = yield from self._pick(start, point, clip, ridge)
        return (yield from start.end(self.ending, point, self.domain))

    def _pick(
        self, start: Start, centre: FloatVector, clip: float, ridge: float
    ) -> Generator[Query, Released, FloatVector]:
        loss, k = start.shifted(self.width), start.view.dimension
        box = Box((-self.net.reach,) * k, (self.net.reach,) * k)
        points = inside(box, self.net.points(centre))
        scores = GradientMapping(
            view=start.view,
            loss=loss,
            points=points,
            threshold=clip,
            bits=self.bits,
            size=self.n,
            region=box,
            step=1.0 / (loss.smoothness or 1.0),
            ridge=ridge * clip,
        )
        return picked((yield Query("net", scores)), points)
