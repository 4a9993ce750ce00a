"""A descent whose every record is bounded twice: its row by its leverage, its slope by a private level."""

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace

import numpy as np

from tailguard.losses.base import Loss, ResidualLoss
from tailguard.solvers.base import OPTIONAL, FloatVector, Query, Released, Setting
from tailguard.solvers.clip_level import ClipLevel, Histogram, histogram
from tailguard.solvers.normal_odds import straightened
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.either import Either
from tailguard.statistics.fields import Gradient
from tailguard.statistics.scalars import Slope
from tailguard.statistics.slopes import Tilts
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

__all__ = ["BoundedDescent", "Course", "Walk", "believed", "descend", "shrunk"]

MOST, FAR = 0.15, 0.1
"""No level of residuals is below 15 % of their 90 % quantile: most targets may be the same."""

UNSEEN = 10.0
"""Where many residuals are 0 at the start, no level is below so many times a cell's noise, in scales of the target:
the others are so few that a faint histogram may not see them, and takes what is predicted of zeros for residuals."""

LEAST_CURVATURE = 0.03
"""Smallest curvature of classes that is believed, relative to the loss's own."""

FORGOTTEN = 0.34
"""Part of the steps whose finds are not averaged."""

PACE, RARE = 3.0, 0.2
"""Step t goes PACE ÷ t of the way to what it finds where classes are rare, but the part mean curvature ÷ RARE anyway.
Rare classes curve the loss where the answer is and hardly elsewhere: points that jump about lose the way there."""

SCARCE, HELD = 0.1, 0.3
"""Mean curvature below which steps start from the average of what was found, and not from where the last one ended; and
the part of its noise by which that is drawn to the start: where noise is all there is, the start is a better place."""

PRIOR = 2.0
"""Variance of the log-odds that a model of classes is expected to have. Far from the answer their curvature vanishes:
nothing but a prior holds a noisy descent back there. It counts as much as noise leaves in doubt."""

TILT_TAILS, DOUBT = (0.42, 0.1), 2.5
"""Mass beyond the levels of the test for symmetry; and by how many deviations a mean of residuals that are symmetric
may differ from 0. Symmetric noise that is taken for skewed costs two to five times the excess where columns are few,
once in eighty fits; skew that is too slight to be seen leaves a bias of the size of what noise leaves."""

TRUST = 3.0
"""Longest step in whitened units: a released gradient that asks for more is noise."""


@dataclass(frozen=True)
class BoundedDescent(Setting):
    """How a descent goes about it.

    Parameters
    ----------
    n, bits : int
        Number of records, bits of the grid.
    steps, refreshes : int
        T, and how often the slopes' level is sought again, at equal distances; 0 where it is known before.
    level : ClipLevel
        Where residuals are clipped; slopes of classes are bounded anyway.
    even : float, default=0.0
        Mass beyond the level where they seem symmetric, if it is more: tight levels leave no bias there. Whether they
        do is tested with the last level (step "tilt"); 0 for never.
    settling : bool, default=False
        Whether steps start from averages where a class is rare: noise is of the size of the slopes there.
    caution : float, default=1.3
        Steps are that much shorter than Newton's: rows far out count for more than in the Gram matrix, the wider their
        level is the more.
    """

    n: int
    bits: int
    steps: int
    refreshes: int
    level: ClipLevel
    even: float = field(default=0.0, metadata=OPTIONAL)
    settling: bool = field(default=False, metadata=OPTIONAL)
    caution: float = field(default=1.3, metadata=OPTIONAL)

    def refreshed(self, step: int) -> bool:
        """Return whether the level is sought again before this step."""
        return step in {k * self.steps // self.refreshes for k in range(self.refreshes)}

    def level_of(self, even: bool) -> ClipLevel:
        """Return where residuals are clipped that seem symmetric, or not."""
        return replace(self.level, tail=max(self.level.tail, self.even)) if even else self.level

    def tested(self, step: int) -> bool:
        """Return whether residuals are tested for symmetry before this step."""
        return self.even > 0.0 and step == (self.refreshes - 1) * self.steps // self.refreshes


@dataclass(frozen=True, eq=False)
class Course:
    """What a descent walks on.

    Parameters
    ----------
    loss : Loss
        In the view's units.
    view : View
        Of whitened rows.
    radius : float
        Released.
    start : vector
        Released or public.
    inside : callable
        Takes a point back into the domain.
    metric : vector or float
        Curvature of the rows in each coordinate.
    most : float
        Largest mean curvature that is believed.
    """

    loss: Loss
    view: View
    radius: float
    start: FloatVector
    inside: Callable[[FloatVector], FloatVector] = lambda point: point
    metric: FloatVector | float = 1.0
    most: float = math.inf


@dataclass(frozen=True, eq=False)
class Walk:
    """How far a descent has come: its points, what was found at each and weighs, the last level and curvature."""

    descent: BoundedDescent
    course: Course
    points: list[FloatVector]
    weights: list[float]
    limit: float
    curvature: float
    even: bool = False
    found: list[FloatVector] = field(default_factory=list)
    heaped: bool = False

    def least(self, sizes: Histogram) -> float:
        """Return the least level of slopes that is believed of a histogram, where many targets are the same."""
        loss = self.course.loss
        if not (self.heaped and isinstance(loss, ResidualLoss)):
            return 0.0
        return float(np.max(np.abs(loss.derivative(np.array([-UNSEEN, UNSEEN]) * sizes.noise, np.zeros(2)))))

    def tested(self, sizes: Histogram) -> Generator[Query, Released, "Walk"]:
        """Ask whether residuals are skewed, at the average point (step "tilt").

        Where means of residuals that are clipped tightly and widely agree, as far as noise and sampling tell, they may
        well be symmetric: tight levels leave no bias then.
        """
        course, n = self.course, self.descent.n
        least = self.least(sizes)
        tight, wide = (max(sizes.beyond(tail), times * least) for tail, times in zip(TILT_TAILS, (1, 2), strict=True))
        ratio = (1.0 - TILT_TAILS[1]) / (1.0 - TILT_TAILS[0])
        tilts = Tilts(Gradient(course.view, course.loss, self.point), tight, max(wide, tight), ratio)
        reply = yield Query("tilt", Clipped(tilts, tilts.largest, self.descent.bits))
        variance = reply.noise**2 + n * tilts.largest**2 / 2.0
        return replace(self, even=bool(float(reply.value[0]) ** 2 < DOUBT**2 * variance))

    def levelled(self, sizes: Histogram) -> "Walk":
        """Return the walk with a level, and a curvature, by these sizes of slopes."""
        level = self.descent.level_of(self.even)
        limit, curvature = level_and_curvature(sizes, self.course.loss, level, self.least(sizes))
        return replace(self, limit=limit, curvature=min(curvature, self.course.most))

    def onward(self, name: str, length: int = 0) -> Generator[Query, Released, "Walk"]:
        """Ask for one more gradient and go a step; the plan may have an `Either` of a length for it."""
        course, n, caution, point = self.course, self.descent.n, self.descent.caution, self.points[-1]
        gradient = Gradient(course.view, course.loss, point)
        weighted = Weighted(gradient, course.radius, self.limit, self.descent.bits)
        reply = yield Query(name, Either(weighted, length, self.descent.bits) if length else weighted)
        rate = n * self.curvature * caution
        doubt = 0.0
        if not isinstance(course.loss, ResidualLoss):
            doubt = point.size / PRIOR * (reply.noise / rate) ** 2 / self.descent.steps
        value = straightened(course.loss, point, bool(course.view.intercept), reply.value[: point.size])
        change = (value / (rate * course.metric) + doubt / caution * (point - course.start)) / (1.0 + doubt)
        change *= min(1.0, TRUST / max(float(np.linalg.norm(change)), 1e-300))
        weight = (rate / max(reply.noise, 1e-100)) ** 2
        walk = replace(self, found=[*self.found, course.inside(point - change)], weights=[*self.weights, weight])
        end = walk._settled if walk.settles else course.inside(point - self._pace * change)
        return replace(walk, points=[*self.points, end])

    @property
    def settles(self) -> bool:
        """Whether a class is so rare that steps start from averages."""
        return self.descent.settling and self.course.most < SCARCE

    @property
    def _settled(self) -> FloatVector:
        """The average of what was found, its slopes drawn to the start by a part of what noise explains."""
        start, change = self.course.start, self.point - self.course.start
        count = change.size - self.course.view.intercept
        slopes = change[:count] * believed(change[:count], HELD * self.variance)
        return self.course.inside(start + np.append(slopes, change[count:]))

    @property
    def _pace(self) -> float:
        """What part of the way to what was found is gone."""
        return min(1.0, max(self.descent.caution * PACE / len(self.points), self.course.most / RARE))

    @property
    def point(self) -> FloatVector:
        """The average of what the last steps found."""
        first = self._first
        return np.asarray(np.average(self.found[first:], axis=0, weights=self.weights[first:]))

    @property
    def variance(self) -> float:
        """Variance of its noise in each coordinate.

        Points that follow what was found undo what steps are too short, and add to noise by that; averages hardly do.
        """
        return (1.0 if self.settles else self.descent.caution**2) / float(np.sum(self.weights[self._first :]))

    @property
    def _first(self) -> int:
        return int((len(self.found) if self.settles else self.descent.steps) * FORGOTTEN)


def descend(
    names: tuple[str, str], descent: BoundedDescent, course: Course, sizes: Histogram | None = None
) -> Generator[Query, Released, Walk]:
    """Ask for levels of slopes and for gradients, and return the average of the last points.

    A record adds clamp(φ', ±level)·ωz with ω = min(1, radius/‖z‖). Because level and weight do not depend on each
    other, skewed noise that is the same for all rows leaves no bias on the slopes, however tight the level is.

    Parameters
    ----------
    names : pair of str
        The plan's steps: of levels (`Octaves`), of gradients (`Weighted`).
    descent : BoundedDescent
        Public numbers.
    course : Course
        What it walks on.
    sizes : Histogram or None
        Released sizes of slopes near the start, where levels are not sought on the way.
    """
    walk = Walk(descent, course, [course.start], [], 1.0, course.most)
    if sizes is not None:
        walk = walk.levelled(sizes)
    for step in range(descent.steps):
        if descent.refreshed(step):
            gradient = Gradient(course.view, course.loss, walk.points[-1])
            sizes = yield from histogram(names[0], Slope(gradient), descent.n, descent.bits)
            if step == 0:
                walk = replace(walk, heaped=sizes.zeros > 0.0)
            if descent.tested(step):
                walk = yield from walk.tested(sizes)
            walk = walk.levelled(sizes)
        walk = yield from walk.onward(names[1])
    return walk


def shrunk(start: FloatVector, end: FloatVector, variance: FloatVector | float) -> FloatVector:
    """Return the end with every entry drawn to the start as far as noise explains the change (James–Stein)."""
    change = end - start
    explained = variance / np.maximum(np.maximum(change**2, variance), 1e-300)
    return np.asarray(start + (1.0 - explained) * change)


def believed(values: FloatVector, variance: float) -> float:
    """Return what part of values is believed that have so much noise each, all of them alike (James–Stein)."""
    return max(0.0, 1.0 - values.size * variance / max(float(values @ values), 1e-300))


def level_and_curvature(sizes: Histogram, loss: Loss, level: ClipLevel, least: float = 0.0) -> tuple[float, float]:
    """Return the level at which slopes are clamped, not below `least`, and the mean curvature that is left."""
    bound = math.inf if loss.lipschitz is None else loss.lipschitz
    if not isinstance(loss, ResidualLoss) and bound < math.inf:
        # For log-odds that are right, the mean size of a slope is twice the mean curvature.
        return bound, max(0.5 * sizes.moment(bound, 1.0), LEAST_CURVATURE * loss.usual_curvature)
    limit = max(sizes.beyond(level.tail, level.order), MOST * sizes.beyond(FAR), least)
    return min(limit, bound), (1.0 - level.tail) * loss.usual_curvature
