"""The last word on the intercept: the mean slope of the loss at the released model, driven to 0."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from tailguard.solvers.base import FloatVector, Query, Released, Setting
from tailguard.solvers.clip_level import ClipLevel, Histogram, histogram
from tailguard.solvers.tails import taken
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Gradient
from tailguard.statistics.scalars import Norm
from tailguard.statistics.slopes import Slopes
from tailguard.statistics.weighted import Weighted

__all__ = ["Settling", "settle"]


@dataclass(frozen=True)
class Settling(Setting):
    """How an intercept is settled.

    Parameters
    ----------
    n, bits : int
        Number of records, bits of the grid.
    level : ClipLevel or None
        How residuals are clipped (step "residual level"); None takes the bound on the slopes that the loss has.
    steps : int
        Newton steps with the loss's largest curvature (step "intercept").
    """

    n: int
    bits: int
    level: ClipLevel | None
    steps: int


def settle(
    setting: Settling,
    gradient: Gradient,
    sizes: Histogram | None = None,
    length: int = 0,
    tight: float | None = None,
) -> Generator[Query, Released, FloatVector]:
    """Ask for mean slopes and return the gradient's point with an intercept at which they are 0.

    Clipping skewed noise leaves its largest bias on the intercept, a model that was projected on a domain needs
    another one than before, and a null model has only the median. A single number can be clipped more widely than a
    vector, so it is asked for last. What is still clipped of a tail on one side is put back, as far as the sizes of
    residuals tell.

    Parameters
    ----------
    setting : Settling
        Public numbers.
    gradient : Gradient
        At the released model, in a view with an intercept.
    sizes : Histogram or None, default=None
        Released sizes of residuals, where they are known already.
    length : int, default=0
        Where positive, the plan's step is a `Weighted` sum of this length, and all but its last number are noise.
    tight : float or None, default=None
        The intercept by tight levels, near the median of residuals; by default the point's.
    """
    loss, point = gradient.loss, np.array(gradient.point)
    tight = float(point[-1]) if tight is None else tight
    bound, count = loss.lipschitz or 1.0, float(setting.n)
    if setting.level is not None:
        if sizes is None:
            sizes = yield from histogram("residual level", Norm(Slopes(gradient)), setting.n, setting.bits)
        bound, count = sizes.beyond(setting.level.tail, setting.level.order), count * sizes.present
    for _ in range(setting.steps):
        slopes = Slopes(Gradient(gradient.view, loss, point), max(length, 1))
        means = Weighted(slopes, 1.0, bound, setting.bits) if length else Clipped(slopes, bound, setting.bits)
        reply = yield Query("intercept", means)
        shift, noise = float(reply.value[-1]), reply.noise if setting.level is not None else 0.0
        # A median that noise explains as well as the mean stays: tight levels find it with less noise.
        shift *= max(0.0, 1.0 - noise**2 / max(shift**2, 1e-300))
        point[-1] -= shift / count / loss.usual_curvature
    if setting.level is not None and sizes is not None and loss.lipschitz is None:
        apart = loss.usual_curvature * (float(point[-1]) - tight)
        point[-1] += taken(sizes, bound, apart, setting.level.order) / loss.usual_curvature
    return point
