"""A descent whose every record is bounded twice: its row by its leverage, its slope by a private level."""

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from tailguard.losses.base import Loss, ResidualLoss
from tailguard.solvers.base import FloatVector, Query, Released, Setting
from tailguard.solvers.clip_level import ClipLevel, Histogram, histogram
from tailguard.statistics.fields import Gradient
from tailguard.statistics.scalars import Slope
from tailguard.statistics.view import View
from tailguard.statistics.weighted import Weighted

__all__ = ["BoundedDescent", "Walk", "descend", "shrunk"]

MOST, FAR = 0.35, 0.1
"""No level of residuals is below 35 % of their 90 % quantile: most targets may be the same."""

LEAST_CURVATURE = 0.03
"""Smallest curvature of classes that is believed, relative to the loss's own."""

CAUTION = 1.3
"""Steps are that much shorter than Newton's: rows far out count for more than in the Gram matrix."""

FORGOTTEN = 0.34
"""Part of the steps whose points are not averaged."""

PRIOR = 2.0
"""Variance of the log-odds that a model of classes is expected to have. Far from the answer their curvature vanishes:
nothing but a prior holds a noisy descent back there. It counts as much as noise leaves in doubt."""

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
    """

    n: int
    bits: int
    steps: int
    refreshes: int
    level: ClipLevel

    def refreshed(self, step: int) -> bool:
        """Return whether the level is sought again before this step."""
        return step in {k * self.steps // self.refreshes for k in range(self.refreshes)}


@dataclass(frozen=True, eq=False)
class Walk:
    """Where a descent ended, the variance of its noise in each coordinate, and the last level and curvature."""

    point: FloatVector
    variance: float
    limit: float
    curvature: float


def descend(
    names: tuple[str, str],
    descent: BoundedDescent,
    loss: Loss,
    view: View,
    radius: float,
    start: FloatVector,
    inside: Callable[[FloatVector], FloatVector] = lambda point: point,
    metric: FloatVector | float = 1.0,
    sizes: Histogram | None = None,
    most: float = math.inf,
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
    sizes : Histogram or None
        Released sizes of slopes near the start, where levels are not sought on the way.
    most : float
        Largest mean curvature that is believed.
    """
    point, kept, weights = start, [], []
    bound = isinstance(loss, ResidualLoss)
    limit, curvature = (1.0, most) if sizes is None else level_and_curvature(sizes, loss, descent.level)
    curvature = min(curvature, most)
    for step in range(descent.steps):
        gradient = Gradient(view, loss, point)
        if descent.refreshed(step):
            sizes = yield from histogram(names[0], Slope(gradient), descent.n, descent.bits)
            limit, curvature = level_and_curvature(sizes, loss, descent.level)
            curvature = min(curvature, most)
        reply = yield Query(names[1], Weighted(gradient, radius, limit, descent.bits))
        rate = descent.n * curvature * CAUTION
        doubt = 0.0 if bound else point.size / PRIOR * (reply.noise / rate) ** 2 / descent.steps
        change = (reply.value / (rate * metric) + doubt / CAUTION * (point - start)) / (1.0 + doubt)
        point = inside(point - change * min(1.0, TRUST / max(float(np.linalg.norm(change)), 1e-300)))
        kept.append(point)
        weights.append((rate / max(reply.noise, 1e-100)) ** 2)
    first = int(descent.steps * FORGOTTEN)
    average = np.average(kept[first:], axis=0, weights=weights[first:])
    return Walk(np.asarray(average), CAUTION**2 / float(np.sum(weights[first:])), limit, curvature)


def shrunk(start: FloatVector, end: FloatVector, variance: FloatVector | float) -> FloatVector:
    """Return the end with every entry drawn to the start as far as noise explains the change (James–Stein)."""
    change = end - start
    explained = variance / np.maximum(np.maximum(change**2, variance), 1e-300)
    return np.asarray(start + (1.0 - explained) * change)


def level_and_curvature(sizes: Histogram, loss: Loss, level: ClipLevel) -> tuple[float, float]:
    """Return the level at which slopes are clamped, and the mean curvature of the loss that is left."""
    bound = math.inf if loss.lipschitz is None else loss.lipschitz
    if not isinstance(loss, ResidualLoss) and bound < math.inf:
        # For log-odds that are right, the mean size of a slope is twice the mean curvature.
        return bound, max(0.5 * sizes.moment(bound, 1.0), LEAST_CURVATURE * loss.usual_curvature)
    limit = max(sizes.beyond(level.tail, level.order), MOST * sizes.beyond(FAR))
    return min(limit, bound), (1.0 - level.tail) * loss.usual_curvature
