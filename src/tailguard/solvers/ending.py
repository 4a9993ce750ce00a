"""How a private fit ends: a choice against the null model, and the last word on the intercept."""

import math
from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import ndtr

from tailguard.domains.base import Domain
from tailguard.losses.base import Loss
from tailguard.solvers.base import EVERYWHERE, OPTIONAL, FloatVector, Query, Range, Released, Setting, Solve
from tailguard.solvers.log_odds import odds_range
from tailguard.solvers.model_choice import choose
from tailguard.solvers.preparation import inside, raw_units
from tailguard.solvers.rank_level import rank_level
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Gradient
from tailguard.statistics.improvement import Valued
from tailguard.statistics.scalars import Occurring, Slope
from tailguard.statistics.slopes import Slopes
from tailguard.statistics.view import View

__all__ = ["LIKELY", "Ending", "Held", "believed_share", "end", "first_offset"]

FARTHEST, DOUBT = 5.0, 1.0
"""Largest intercept of a null model of classes, in units of the prediction; and the least share of a class that is
believed, in units of the noise in it."""

CAUTION = 2.0
"""A last change of the intercept is believed as far as its square is above so many squared scales of its noise."""

LIKELY = 4.0
"""How much more surely than a raw number one in units is about 1: a pick that says otherwise of residuals, by octaves,
would make the intercept noise of that size."""

LEAST_SLOPE = 1e-9
"""Slope at 0 below which a loss says nothing of two classes."""


@dataclass(frozen=True)
class Ending(Setting):
    """What happens to a fitted model.

    Parameters
    ----------
    n, bits : int
        Number of records, bits of the grid.
    limit : float or None
        The most that a record counts in the choice between the model and the null model (step "choice"); None for no
        choice.
    handicap : float
        How many records that count the most the model must win.
    width : float or None
        How far residuals count in the last correction of the intercept, in medians (steps "residual level" and
        "intercept"); None for no correction.
    noise : float, default=0.0
        Noise of the pick of that median, in records; residuals are likely to be of size 1.
    lean : float, default=0.0
        How much farther than `limit` a record counts against the model, and less far for it.
    farthest : float or None, default=None
        How far log-odds are believed, as in `odds_range`: the choice compares what users will get. None for no limit.
    rare : float or None, default=None
        Noise of the pick that says how large entries of columns in their own units are where they are not 0 (step
        "rare rows"), in records, and so how far out the model is believed; None for no pick.
    """

    n: int
    bits: int
    limit: float | None
    handicap: float
    width: float | None
    noise: float = 0.0
    lean: float = 0.0
    farthest: float | None = field(default=None, metadata=OPTIONAL)
    rare: float | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True)
class Held:
    """A loss of predictions that are held in a range, as users get them.

    Parameters
    ----------
    loss : Loss
        Of predictions as they are.
    within : (float, float)
        The range.
    """

    loss: Loss
    within: Range

    def value(self, prediction: FloatVector, target: FloatVector) -> FloatVector:
        """Return one value per record."""
        return self.loss.value(np.clip(prediction, *self.within), target)


def end(ending: Ending, view: View, loss: Loss, null: FloatVector, model: FloatVector, domain: Domain) -> Solve:
    """Ask whether the model is better than the null model, correct its intercept, and return it in raw units.

    Parameters
    ----------
    ending : Ending
        Public numbers.
    view : View
        Prepared.
    loss : Loss
        In the view's units.
    null, model : vector
        Released, in the view's units.
    domain : Domain
        Where the coefficients may lie, in raw units.
    """
    point = inside(view, model, domain)
    within = odds_range(loss, float(null[-1]) if view.intercept else 0.0, ending.farthest)
    if ending.limit is not None:
        models = [inside(view, null, domain), point]
        judged = loss if within == EVERYWHERE else Held(loss, within)
        point = models[(yield from _chosen(ending, ending.limit, view, judged, models))]
    if ending.width is not None:
        point = yield from _settled(ending, ending.width, Gradient(view, loss, point))
    return replace(raw_units(view, point, domain), prediction_range=within)


def _chosen(
    ending: Ending, limit: float, view: View, judged: Valued, models: list[FloatVector]
) -> Generator[Query, Released, int]:
    handicap = ending.handicap + ending.n * ending.lean / limit
    best = yield from choose("choice", view, judged, models, limit, ending.bits, handicap, ending.lean)
    return min(max(best, 0), 1)


def _settled(ending: Ending, width: float, gradient: Gradient) -> Generator[Query, Released, FloatVector]:
    """Return the gradient's point with an intercept at which the mean of its clipped slopes is 0, or nearer to it."""
    n, bits, loss = ending.n, ending.bits, gradient.loss
    sizes = Occurring(Slope(gradient))
    noise = LIKELY * ending.noise
    usual = yield from rank_level("residual level", sizes, 0.5, n, bits, otherwise=1.0, noise=noise)
    reply = yield Query("intercept", Clipped(Slopes(gradient), width * usual, bits))
    point, shift = np.array(gradient.point), float(reply.value[0])
    # What noise explains stays as it was: where sizes were picked badly, a correction is noise alone.
    shift *= max(0.0, 1.0 - CAUTION * reply.noise**2 / max(shift**2, 1e-300))
    point[-1] -= shift / n / loss.usual_curvature
    return point


def first_offset(view: View, loss: Loss, n: int, bits: int) -> Generator[Query, Released, float]:
    """Ask for the mean slope at 0 (step "offset") and return the intercept of the null model of two classes.

    A loss without a slope at 0 for a target of 1 is none of classes: its intercept goes one step from 0.
    """
    gradient = Gradient(view, loss, np.zeros(view.dimension))
    slope, other = (abs(float(loss.derivative(0.0, label))) for label in (1.0, 0.0))
    bound = loss.lipschitz or 1.0
    if slope > LEAST_SLOPE:  # a bound beyond what classes have at 0 is noise alone: log-odds have half of the steepest
        bound = min(bound, max(slope, other))
    reply = yield Query("offset", Clipped(Slopes(gradient), bound, bits))
    if not slope > LEAST_SLOPE:
        return float(np.clip(-float(reply.value[0]) / (n * loss.usual_curvature), -FARTHEST, FARTHEST))
    share = 0.5 - 0.5 * float(reply.value[0]) / (n * slope)
    share = believed_share(share, 0.5 * reply.noise / (n * slope), exponential=reply.exponential)
    low, high = -FARTHEST, FARTHEST
    for _ in range(40):
        middle = 0.5 * (low + high)
        rising = share * loss.derivative(middle, 1.0) + (1.0 - share) * loss.derivative(middle, 0.0) >= 0.0
        low, high = (low, middle) if rising else (middle, high)
    return 0.5 * (low + high)


def believed_share(share: float, noise: float, *, exponential: bool) -> float:
    """Return the mean of the shares that noise may have turned into this one: none is below 0 or above 1.

    A share that noise has made too small costs far more than one that it has made too large, so it is never believed to
    be below `DOUBT` times the noise.

    Parameters
    ----------
    share, noise : float
        Released, and the scale of its noise.
    exponential : bool
        Whether that is Laplace's.
    """
    rarer, scale = max(min(share, 1.0 - share), 0.0), max(noise, 1e-300)
    far = min(rarer / scale, 30.0)
    if exponential:
        more = (1.0 + far) * math.exp(-far) / (2.0 - math.exp(-far))
    else:
        more = math.exp(-0.5 * far**2) / math.sqrt(2.0 * math.pi) / float(ndtr(far))
    rarer = min(max(rarer + more * scale, DOUBT * scale), 0.5)
    return rarer if share < 0.5 else 1.0 - rarer
