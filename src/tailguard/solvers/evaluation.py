"""Evaluations of a fixed model: errors of numbers, and of two classes."""

import math
from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtri

from tailguard.solvers.base import EVERYWHERE, OPTIONAL, Query, Range, Released, Setting, Solve, Solver
from tailguard.solvers.feature_range import FeatureRange
from tailguard.solvers.measures import Evaluated, Measure, area, measured, unknown
from tailguard.solvers.picked import STEP, magnitude, signed_median
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.capped import Capped
from tailguard.statistics.coordinatewise import Clamped
from tailguard.statistics.judged import (
    ClassErrors,
    ErrorSpread,
    Numbers,
    Predictions,
    Residuals,
    ScoreCells,
    SquaredErrors,
)
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Target
from tailguard.statistics.view import View

__all__ = ["ClassEvaluation", "Judge", "NumberEvaluation"]

WORST = 1e3
"""No ratio of errors is believed beyond that."""


@dataclass(frozen=True)
class Judge(Setting):
    """A fixed model and the records that it is judged by.

    Parameters
    ----------
    coefficients : tuple of float
        The model's; public, or released before.
    intercept : float
        The same.
    n, bits : int
        Number of records, bits of the grid.
    level : float
        Level of the intervals.
    pure : bool
        Whether noise is Laplace's, whose standard deviation is √2 of its scale.
    within : (float, float) or None
        The range in which predictions are held; public, or released before.
    rows : FeatureRange or None
        Where rows end for the model; public, or released before.
    """

    coefficients: tuple[float, ...]
    intercept: float
    n: int
    bits: int
    level: float
    pure: bool
    within: Range | None = field(default=None, metadata=OPTIONAL)
    rows: FeatureRange | None = field(default=None, metadata=OPTIONAL)

    @property
    def predictions(self) -> Predictions:
        """The model's."""
        view = View(len(self.coefficients), basis=np.array(self.coefficients)[:, None])
        within = self.within or EVERYWHERE
        if self.rows is None:
            return Predictions(view, self.intercept, within)
        return Predictions(view, self.intercept, within, self.rows.view, self.rows.radius)

    @property
    def width(self) -> float:
        """Half of an interval, in standard errors; Laplace noise has the heavier tails."""
        normal = float(ndtri(0.5 + 0.5 * self.level))
        return max(normal, -math.log1p(-self.level) / math.sqrt(2.0)) if self.pure else normal

    def deviation(self, reply: Released) -> float:
        """Return the standard deviation of the noise in a mean over the records."""
        return reply.noise * (math.sqrt(2.0) if self.pure else 1.0) / self.n


@dataclass(frozen=True)
class NumberEvaluation(Solver):
    """R² and median absolute error of predicted numbers.

    The target's median and spread are picked, then its mean is released, and the size beyond which an error counts no
    more (steps "target centre", "target spread", "target mean", "error level"). The two sums of squared errors, of the
    model and of that mean, make R² (step "errors"), a third sum its sampling error (step "error spread"). Three picks
    are the median error and an interval around it (step "median error").

    Parameters
    ----------
    judge : Judge
        The model.
    tail, widening : float
        Share of the records beyond the picked sizes, and how much farther errors count.
    ranks : float or None
        Half of the interval around the median error, as a share of the records; None for no median error.
    r2 : bool
        Whether R² is asked for.
    """

    judge: Judge
    tail: float
    widening: float
    ranks: float | None
    r2: bool

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the measures."""
        measures, clip = [], 0.0
        if self.r2:
            mean = yield from self._mean()
            clip = yield from self._size("error level", mean)
            measures.append((yield from self._explained(SquaredErrors(self.judge.predictions, mean, clip))))
        if self.ranks is not None:
            measures.append((yield from self._median(self.ranks)))
        return Evaluated.of(measures, clip)

    def _size(self, step: str, centre: float) -> Generator[Query, Released, float]:
        """Ask how far targets are from a centre, and return how far an error counts."""
        judge, view = self.judge, View(len(self.judge.coefficients), target_centre=centre)
        found = yield from magnitude(step, Target(view), 1.0 - self.tail, judge.n, judge.bits)
        return float(np.clip((found or abs(centre)) * self.widening, 2.0**LOW, 2.0**HIGH))

    def _mean(self) -> Generator[Query, Released, float]:
        judge, d = self.judge, len(self.judge.coefficients)
        centre = yield from signed_median("target centre", Target(View(d)), judge.n, judge.bits)
        size = yield from self._size("target spread", centre)
        deviations = Numbers(Target(View(d, target_centre=centre)))
        reply = yield Query("target mean", Clamped(deviations, size, judge.bits))
        return float(np.clip(centre + reply.value[0] / judge.n, centre - size, centre + size))

    def _explained(self, errors: SquaredErrors) -> Generator[Query, Released, Measure]:
        judge = self.judge
        reply = yield Query("errors", Capped(errors, 1.0, judge.bits))
        noise = judge.deviation(reply)
        model, constant = (float(value) / judge.n for value in reply.value)
        seen = constant > 3.0 * noise
        ratio = min(max(model, 0.0) / constant, WORST) if seen else 1.0
        reply = yield Query("error spread", Capped(ErrorSpread(errors, ratio), 1.0, judge.bits))
        if not seen:
            return unknown("r2", -WORST, 1.0)
        size = max(1.0, ratio) ** 2
        spread = size * min(max(float(reply.value[0]) / judge.n + judge.deviation(reply), 0.0), 1.0)
        sampling, privacy = spread / judge.n / constant**2, (1.0 + ratio**2) * (noise / constant) ** 2
        return measured("r2", 1.0 - model / constant, sampling, privacy, judge.width, -WORST, 1.0)

    def _median(self, ranks: float) -> Generator[Query, Released, Measure]:
        judge, found = self.judge, []
        for level in (0.5 - ranks, 0.5, 0.5 + ranks):
            size = yield from magnitude("median error", Residuals(judge.predictions), level, judge.n, judge.bits)
            found.append(size)
        if found[1] == 0.0:  # hardly any error is known and differs from 0
            return unknown("median_absolute_error", 0.0, math.inf)
        value, low, high = found[1], min(found) / STEP, max(found) * STEP
        error = (high - low) / (2.0 * judge.width)
        sampled = min(
            judge.width * 0.5 / math.sqrt(judge.n) / ranks, 1.0
        )  # part of the interval that privacy has not made
        return Measure("median_absolute_error", value, error, error * math.sqrt(1.0 - sampled**2), low, high)


@dataclass(frozen=True)
class ClassEvaluation(Solver):
    """Error rate, log-loss and area under the ROC curve of predicted classes 0 and 1.

    Wrong predictions and capped losses are sums (step "errors"). Scores are counted in cells around their picked median
    (steps "score centre", "score scale", "scores"), and the counts of both classes make the area.

    Parameters
    ----------
    judge : Judge
        The model; above 0 it predicts the class 1.
    wrong : bool
        Whether the error rate is asked for.
    cap : float or None
        What a log-loss counts at most; None for no log-loss.
    cells : int
        In how many cells the scores of a class are counted; 0 where the area is not asked for.
    """

    judge: Judge
    wrong: bool
    cap: float | None
    cells: int

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the measures."""
        measures: list[Measure] = []
        if self.wrong or self.cap is not None:
            measures += yield from self._errors()
        if self.cells:
            measures.append((yield from self._area()))
        return Evaluated.of(measures, self.cap or 0.0)

    @property
    def _asked(self) -> list[tuple[str, float]]:
        """Names and largest values of the sums that are asked for."""
        return [("error_rate", 1.0)] * self.wrong + ([] if self.cap is None else [("log_loss", self.cap)])

    def _errors(self) -> Generator[Query, Released, list[Measure]]:
        judge: Judge = self.judge
        measures: list[Measure] = []
        reply = yield Query("errors", Capped(ClassErrors(judge.predictions, self.cap), 1.0, judge.bits))
        noise, sums = judge.deviation(reply), reply.value / judge.n
        complete = min(float(sums[0]), 1.0)
        if complete <= 3.0 * noise:
            return [unknown(name, 0.0, high) for name, high in self._asked]
        means = np.clip(sums[1:] / complete, 0.0, 1.0)
        size, noise = judge.n * complete, noise / complete
        if self.wrong:
            rate = float(means[0])
            sampling, privacy = rate * (1.0 - rate) / size, (1.0 + rate**2) * noise**2
            measures.append(measured("error_rate", rate, sampling, privacy, judge.width, 0.0, 1.0))
        if self.cap is not None:
            loss, square = (float(mean) for mean in means[1:])
            sampling = self.cap**2 * max(square - loss**2, 0.0) / size
            privacy = (1.0 + loss**2) * (self.cap * noise) ** 2
            measures.append(measured("log_loss", self.cap * loss, sampling, privacy, judge.width, 0.0, self.cap))
        return measures

    def _area(self) -> Generator[Query, Released, Measure]:
        judge, predictions = self.judge, self.judge.predictions
        centre = yield from signed_median("score centre", predictions, judge.n, judge.bits)
        around = Predictions(predictions.view, predictions.offset - centre)
        scale = yield from magnitude("score scale", around, 0.5, judge.n, judge.bits)
        cells = ScoreCells(predictions, centre, max(scale, 2.0**LOW), self.cells)
        reply = yield Query("scores", Octaves(cells, 0, 2 * self.cells, 1, judge.bits))
        return area(reply.value, judge.n * judge.deviation(reply), judge.width)
