"""Means from one release: raw or privately centred and scaled, with any mean oracle."""

from dataclasses import dataclass

import numpy as np

from tailguard.domains.base import Domain
from tailguard.solvers.base import Estimate, Query, Solve, Solver
from tailguard.solvers.clip_level import ClipLevel, clip_level
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.preparation import Preparation, prepare_features, units
from tailguard.statistics.fields import Rows
from tailguard.statistics.view import View

__all__ = ["PrivateMean"]


@dataclass(frozen=True)
class PrivateMean(Solver):
    """One mean, by an oracle, in raw or in private units.

    Raw moments force a threshold of at least the distance of the mean from 0; centring first makes the answer
    independent of where the data sit.

    Parameters
    ----------
    domain : Domain
        The answer is projected on it.
    n, d, bits : int
        Number of records and columns, bits of the grid.
    oracle : MeanOracle
        Clip, truncate, median of means or iterative updating (step "mean").
    preparation : Preparation or None
        How medians are sought (steps "feature centre", "feature scale"); None leaves the records as they are.
    level : ClipLevel or None
        How the oracle's threshold is found (step "clip level"); None takes the public one it has.
    """

    domain: Domain
    n: int
    d: int
    bits: int
    oracle: MeanOracle
    preparation: Preparation | None = None
    level: ClipLevel | None = None

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view, oracle = View(self.d), self.oracle
        if self.preparation is not None:
            view = yield from prepare_features(view, self.preparation, self.n, self.bits)
        rows = Rows(view)
        if self.level is not None:
            found = yield from clip_level("clip level", oracle.scalars(rows), self.level, self.n, self.bits)
            oracle = oracle.at(found)
        reply = yield Query("mean", oracle.statistic(rows, self.bits))
        mean = oracle.mean(reply, self.n)
        if self.preparation is not None:
            centre, scale = units(view)
            # A column without significant spread was dropped; its median is then the best answer there is.
            mean = centre + np.where(np.isfinite(scale), scale, 0.0) * mean
        return Estimate(self.domain.project(mean))
