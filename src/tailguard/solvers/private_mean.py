"""Means from one release: raw or privately centred and scaled, with any mean oracle."""

from dataclasses import dataclass

import numpy as np

from tailguard.domains.base import Domain
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Solve, Solver, Uncertainty
from tailguard.solvers.clip_level import ClipLevel, histogram
from tailguard.solvers.oracles import MeanOracle
from tailguard.solvers.preparation import Preparation, prepare_features, units
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Rows
from tailguard.statistics.squares import Squares
from tailguard.statistics.view import View

__all__ = ["PrivateMean"]

ORDER = 3.0
"""Order of tails for which the allowance for clipping is made."""

UNSEEN = 0.7
"""Part of a histogram's noise in a cell by which the mass beyond the threshold may be larger than wanted."""

SKEW = 3.0
"""Mean ÷ root mean square, both from the median, above a third of which a tail counts as one-sided."""


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
        view, oracle, beyond = View(self.d), self.oracle, 0.0
        if self.preparation is not None:
            view = yield from prepare_features(view, self.preparation, self.n, self.bits)
        rows = Rows(view)
        if self.level is not None:
            sizes = yield from histogram("clip level", oracle.scalars(rows), self.n, self.bits)
            oracle = oracle.at(sizes.beyond(self.level.tail, self.level.order))
            beyond = float(np.hypot(self.level.tail, UNSEEN * sizes.noise))
        reply = yield Query("mean", oracle.statistic(rows, self.bits))
        mean = oracle.mean(reply, self.n)
        if self.preparation is None:
            return Estimate(self.domain.project(mean))
        centre, scale = units(view)
        # A column without significant spread was dropped; its median is then the best answer there is.
        factor = np.where(np.isfinite(scale), scale, 0.0)
        answer = self.domain.project(centre + factor * mean)
        if self.errors is None:
            return Estimate(answer)
        squares = yield Query("mean square", Clipped(Squares(view), oracle.threshold**2, self.bits))
        found = self._uncertainty(mean, reply, squares, beyond * oracle.threshold / (ORDER - 1.0) / self.d)
        covariance = np.diag(np.where(factor > 0.0, np.square(factor) * np.diag(found.covariance), np.inf))
        return Estimate(answer, uncertainty=Uncertainty(centre + factor * found.centre, covariance))

    def _uncertainty(self, mean: FloatVector, reply: Released, squares: Released, moved: float) -> Uncertainty:
        """Return the uncertainty of a clipped mean in the view's units: of sampling, of its noise, and of clipping.

        Clipping moves a mean towards the median by at most (the mass beyond the threshold) × threshold ÷ (order − 1),
        for tails of this order; in d independent columns each takes its part. A mean far from its median, beside the
        root mean square, tells of a one-sided tail: then most of that is put back.
        """
        noise = (self.errors or 1.0) * reply.noise / self.n
        square = squares.value / self.n
        spread = _shrunk(square - np.square(mean), (self.errors or 1.0) * squares.noise / self.n)
        skew = np.clip(SKEW * mean / np.sqrt(np.maximum(square, np.square(mean) + noise**2)), -1.0, 1.0)
        variance = np.maximum(spread, 0.0) / self.n + noise**2 + moved**2
        return Uncertainty(mean + moved * skew, np.diag(variance))


def _shrunk(values: FloatVector, noise: float) -> FloatVector:
    """Return noisy numbers of similar size, shrunk towards their mean by what noise explains of their differences."""
    apart = values - np.mean(values)
    kept = 1.0 - max(values.size - 3, 0) * noise**2 / max(float(apart @ apart), 1e-300)
    return np.asarray(values - (1.0 - max(kept, 0.0)) * apart)
