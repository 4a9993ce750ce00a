"""Pure privacy by objective perturbation: private units, one minimiser with a random linear term, a choice."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tailguard.domains.base import Domain
from tailguard.losses.absolute import Absolute
from tailguard.losses.base import Loss, ResidualLoss
from tailguard.losses.hinge import Hinge
from tailguard.solvers.base import FloatVector, Query, Released, Setting, Solve, Solver
from tailguard.solvers.ending import LIKELY, Ending, end, first_offset
from tailguard.solvers.feature_range import doubtful_rows
from tailguard.solvers.offset import Offset
from tailguard.solvers.pure_units import PureUnits, prepare_pure, unscaled
from tailguard.solvers.rank_level import rank_level
from tailguard.solvers.refit import scaled_loss
from tailguard.statistics.fields import Gradient, Rows
from tailguard.statistics.minimiser import PerturbedMinimiser
from tailguard.statistics.scalars import Norm
from tailguard.statistics.view import View

__all__ = ["Perturbed", "PerturbedFit", "Start", "started", "widened"]

UPPER, RARE = 0.75, 5
"""Quantile of the rows that have something in columns in their own units, where these are more than 2 % of all. Few of
them are beyond it: without a preference for usual sizes, a pick would often fall on one far beyond all of them."""


@dataclass(frozen=True)
class Perturbed(Setting):
    """One perturbed minimiser.

    Parameters
    ----------
    ridge : float
        λ ÷ the largest curvature of a record.
    precision : int
        As in `PerturbedMinimiser`.
    """

    ridge: float
    precision: int


@dataclass(frozen=True)
class PerturbedFit(Solver):
    """Minimise the slope-clipped loss with a random linear term, in private units.

    Parameters
    ----------
    loss : Loss
        Convex, with a bounded second derivative.
    domain : Domain
        Where the coefficients may lie, in raw units; the release is projected on it.
    n, d, bits : int
        Number of records and features, bits of the grid.
    intercept : bool
        Whether an intercept is fitted; it is regularised and counts in the length of a row.
    units : PureUnits or None
        Which private units are sought. None leaves the records as they are, but for the usual length of a row.
    width : float
        Kinks of the loss are rounded at least so widely, in private units.
    curvature : float
        The largest curvature of a record, in units of that of a usual one.
    clip : float
        C of the first minimiser, in units of the length √k of a usual row; without private units, as it is.
    rough : Perturbed or None
        A first minimiser (step "rough fit"), at which gradients are measured (step "gradient level").
    level : float
        C of the second minimiser, in medians of those gradients.
    fit : Perturbed
        The minimiser that counts (step "fit").
    ending : Ending
        What happens to it.
    """

    loss: Loss
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    units: PureUnits | None
    width: float
    curvature: float
    clip: float
    rough: Perturbed | None
    level: float
    fit: Perturbed
    ending: Ending

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        start = yield from started(self.loss, self.units, self.n, self.d, self.bits, self.intercept)
        clip = self.clip * start.length if self.units is not None else self.clip
        if self.rough is not None:
            point = yield from self._minimiser("rough fit", self.rough, start, clip)
            clip = min(clip, self.level * (yield from start.gradient_level(self.width, point, self.n, self.bits)))
        point = yield from self._minimiser("fit", self.fit, start, clip)
        return (yield from start.end(self.ending, point, self.domain))

    def _minimiser(
        self, step: str, setting: Perturbed, start: "Start", clip: float
    ) -> Generator[Query, Released, FloatVector]:
        loss = start.shifted(self.width)
        curvature = self.curvature * start.length**2 * (loss.smoothness or 1.0)
        reply = yield Query(
            step,
            PerturbedMinimiser(
                start.view,
                loss,
                clip,
                setting.ridge * curvature,
                self.n,
                self.bits,
                curvature,
                setting.precision,
            ),
        )
        return reply.value


@dataclass(frozen=True, eq=False)
class Start:
    """What a private fit starts from; all of it public or released.

    Attributes
    ----------
    view : View
        Prepared, with its intercept.
    loss : Loss
        In the view's units.
    null : vector
        The null model: 0, and an intercept for classes.
    length : float
        The usual length of a row, an intercept included.
    unscaled : bool vector
        Columns in their own units: rows in which they are large are not believed, as no fit has seen them.
    """

    view: View
    loss: Loss
    null: FloatVector
    length: float
    unscaled: NDArray[np.bool_]

    def shifted(self, width: float) -> Loss:
        """Return the loss with kinks at least so wide, of models counted from the null model."""
        loss, offset = widened(self.loss, width), float(self.null[-1])
        return Offset(loss, offset) if offset and self.view.intercept else loss

    def gradient_level(self, width: float, point: FloatVector, n: int, bits: int) -> Generator[Query, Released, float]:
        """Ask for the usual length of a gradient at a point (step "gradient level")."""
        norms = Norm(Gradient(self.view, self.shifted(width), point))
        usual = self.length * (self.loss.lipschitz or 1.0)
        return (yield from rank_level("gradient level", norms, 0.5, n, bits, otherwise=usual))

    def end(self, ending: Ending, point: FloatVector, domain: Domain) -> Solve:
        """Ask what ends a fit, and return the model that is so far from the null model, and where it is believed."""
        estimate = yield from end(ending, self.view, self.loss, self.null, self.null + point, domain)
        doubtful, usual = self.unscaled & (estimate.coefficients != 0.0), 0.0
        if ending.rare is not None:
            scale = np.where(doubtful, np.asarray(self.view.scale), np.inf)
            sizes = Norm(Rows(replace(self.view, scale=scale, intercept=False)))
            n, bits, noise = ending.n, ending.bits, LIKELY * ending.rare
            usual = yield from rank_level("rare rows", sizes, UPPER, n, bits, otherwise=0.0, rare=RARE, noise=noise)
        return replace(estimate, feature_range=doubtful_rows(self.view, estimate.coefficients, doubtful, usual))


def started(
    loss: Loss, units: PureUnits | None, n: int, d: int, bits: int, intercept: bool
) -> Generator[Query, Released, Start]:
    """Ask for units, or for the usual length of a row alone, and for the null model of classes (step "offset")."""
    view = View(d)
    if units is None:
        usual = yield from rank_level("common scale", Norm(Rows(view)), 0.5, n, bits, otherwise=1.0)
        length = float(np.hypot(usual, 1.0)) if intercept else usual
        view = replace(view, scale=np.ones(d))
    else:
        view = yield from prepare_pure(view, units, n, bits)
        length = float(np.sqrt(d + intercept))
    view = replace(view, intercept=intercept)
    loss, null = scaled_loss(loss, view), np.zeros(view.dimension)
    if intercept and not isinstance(loss, ResidualLoss):
        null[-1] = yield from first_offset(view, loss, n, bits)
    return Start(view, loss, null, length, unscaled(view, units))


def widened(loss: Loss, width: float) -> Loss:
    """Return the loss with its kink, if it has one, rounded at least so widely."""
    if isinstance(loss, Absolute | Hinge) and loss.smoothing < width:
        return replace(loss, smoothing=width)
    return loss
