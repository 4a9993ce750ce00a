"""Means from one clipped sum: with a public radius, with a private one, or centred and scaled first."""

from dataclasses import dataclass

import numpy as np

from tailguard.domains.base import Domain
from tailguard.solvers.base import Estimate, Query, Setting, Solve, Solver
from tailguard.solvers.clip_level import ClipLevel, clip_level
from tailguard.solvers.preparation import Preparation, prepare_features, units
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Rows
from tailguard.statistics.scalars import Norm
from tailguard.statistics.view import View

__all__ = ["CentredMean", "ClippedMean", "Radius"]


@dataclass(frozen=True)
class Radius(Setting):
    """A public clip radius."""

    radius: float


@dataclass(frozen=True)
class ClippedMean(Solver):
    """The mean of records clipped in ℓ2 (Zhao et al. 2024, Algorithm 2).

    Parameters
    ----------
    domain : Domain
        The answer is projected on it.
    n, d, bits : int
        Number of records and columns, bits of the grid.
    level : Radius or ClipLevel
        A public radius, or a private quantile of the norms (step "clip level").
    """

    domain: Domain
    n: int
    d: int
    bits: int
    level: Radius | ClipLevel

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        rows = Rows(View(self.d))
        if isinstance(self.level, Radius):
            radius = self.level.radius
        else:
            radius = yield from clip_level("clip level", Norm(rows), self.level, self.n, self.bits)
        reply = yield Query("mean", Clipped(rows, radius, self.bits))
        return Estimate(self.domain.project(reply.value / self.n))


@dataclass(frozen=True)
class CentredMean(Solver):
    """Private median and scale of each column, then one clipped mean in those units, then back.

    Raw moments force a clip radius of at least the distance of the mean from 0; centring first makes the answer
    independent of where the data sit.

    Parameters
    ----------
    domain : Domain
        The answer is projected on it.
    n, d, bits : int
        Number of records and columns, bits of the grid.
    preparation : Preparation
        How medians are sought (steps "feature centre", "feature scale").
    level : ClipLevel
        The clip radius in scaled units (step "clip level").
    """

    domain: Domain
    n: int
    d: int
    bits: int
    preparation: Preparation
    level: ClipLevel

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view = yield from prepare_features(View(self.d), self.preparation, self.n, self.bits)
        rows = Rows(view)
        radius = yield from clip_level("clip level", Norm(rows), self.level, self.n, self.bits)
        reply = yield Query("mean", Clipped(rows, radius, self.bits))
        centre, scale = units(view)
        # A column without significant spread was dropped; its median is then the best answer there is.
        kept = np.where(np.isfinite(scale), scale, 0.0)
        return Estimate(self.domain.project(centre + kept * reply.value / self.n))
