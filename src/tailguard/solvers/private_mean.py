"""Means from one release: raw or privately centred and scaled, with any mean oracle."""

from dataclasses import dataclass

import numpy as np

from tailguard.domains.base import Domain
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Solve, Solver, Uncertainty
from tailguard.solvers.clip_level import ClipLevel, histogram
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.preparation import Preparation, prepare_features, units
from tailguard.solvers.tails import Excess, leaning, mean_excess
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Rows
from tailguard.statistics.squares import Squares
from tailguard.statistics.view import View

__all__ = ["PrivateMean"]

UNSURE = 0.5
"""By how much a tail that looks two-sided may be heavier on one side, as a part of it."""


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
    errors : float or None
        Standard deviation ÷ scale of the noise. Then mean squares of the columns are released too (step "mean square"),
        for the uncertainty of a clipped mean in private units; None for no uncertainty.
    """

    domain: Domain
    n: int
    d: int
    bits: int
    oracle: MeanOracle
    preparation: Preparation | None = None
    level: ClipLevel | None = None
    errors: float | None = None

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        view, oracle, lost = View(self.d), self.oracle, Excess(0.0, 0.0, 0.0)
        if self.preparation is not None:
            view = yield from prepare_features(view, self.preparation, self.n, self.bits)
        rows = Rows(view)
        if self.level is not None:
            sizes = yield from histogram("clip level", oracle.scalars(rows), self.n, self.bits)
            oracle = oracle.at(sizes.beyond(self.level.tail, self.level.order))
            lost = mean_excess(sizes, oracle.threshold, self.level.order)
        reply = yield Query("mean", oracle.statistic(rows, self.bits))
        mean = oracle.mean(reply, self.n)
        if self.preparation is None:
            return Estimate(self.domain.project(mean))
        centre, scale = units(view)
        # A column without significant spread was dropped; its median is then the best answer there is.
        factor = np.where(np.isfinite(scale), scale, 0.0)
        if self.errors is None:
            return Estimate(self.domain.project(centre + factor * mean))
        squares = yield Query("mean square", Clipped(Squares(view), oracle.threshold**2, self.bits))
        lean = leaning(mean, squares.value / self.n, self.errors * reply.noise / self.n)
        found = self._uncertainty(mean, reply, squares, lean, lost)
        covariance = np.diag(np.where(factor > 0.0, np.square(factor) * np.diag(found.covariance), np.inf))
        return Estimate(
            self.domain.project(centre + factor * (mean + lean * _believed(lost) / self.d)),
            uncertainty=Uncertainty(centre + factor * found.centre, covariance, np.square(factor) * found.upward),
        )

    def _uncertainty(
        self, mean: FloatVector, reply: Released, squares: Released, lean: FloatVector, lost: Excess
    ) -> Uncertainty:
        """Return the uncertainty of a clipped mean in the view's units: of sampling, of its noise, and of clipping.

        Clipping takes the mean excess beyond the threshold from the mean length of a row; in d independent columns each
        takes its part. Where a tail is one-sided, it is put back; on its side the mean may be as far off as with the
        heaviest tails that the histogram allows. Where it seems to be two-sided, both sides may still differ.
        """
        noise = (self.errors or 1.0) * reply.noise / self.n
        spread = squares.value / self.n - np.square(mean)
        spread = _shrunk(spread, (self.errors or 1.0) * squares.noise / self.n)
        excess, inward, outward = lost.mean / self.d, (lost.deviation / self.d) ** 2, (lost.far / self.d) ** 2
        moved = np.square(lean) * (inward + outward) / 2.0 + (1.0 - np.square(lean)) * (UNSURE * excess) ** 2
        variance = np.maximum(spread, 0.0) / self.n + noise**2 + moved
        return Uncertainty(mean + lean * excess, np.diag(variance), lean * np.abs(lean) * (outward - inward))


def _believed(lost: Excess) -> float:
    """Return the part of what was lost that its own uncertainty does not explain (James–Stein)."""
    return lost.mean * max(0.0, 1.0 - (lost.deviation / lost.mean) ** 2) if lost.mean > 0.0 else 0.0


def _shrunk(values: FloatVector, noise: float) -> FloatVector:
    """Return noisy numbers of similar size, shrunk towards their mean by what noise explains of their differences."""
    apart = values - np.mean(values)
    kept = 1.0 - max(values.size - 3, 0) * noise**2 / max(float(apart @ apart), 1e-300)
    return np.asarray(values - (1.0 - max(kept, 0.0)) * apart)
