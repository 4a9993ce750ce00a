"""Regularised minimisers of slope-clipped losses on an integer grid: plain ones, and ones with a random linear term.

Both are solved within a public distance for every data set (`tailguard.certified`). Proof of the plain one:
minimiser.md; of the perturbed one: mechanisms/objective_perturbation.md.
"""

import math
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from tailguard._rounding import above, below
from tailguard._validate import integer, real, refuse
from tailguard.certified import Objective, minimise
from tailguard.certified.fallback import resolution
from tailguard.domains.base import Domain
from tailguard.errors import ParameterError
from tailguard.losses.base import Loss
from tailguard.statistics.arrays import FloatVector, IntVector, public_vector
from tailguard.statistics.base import (
    Norm,
    Source,
    Statistic,
    checked_bits,
    grid_bits,
    register,
    root_above,
)
from tailguard.statistics.view import View

__all__ = ["TILTED_TOLERANCE", "TOLERANCE", "Minimiser", "PerturbedMinimiser", "proved"]

TOLERANCE = 0.01
"""How far from the exact minimiser a `Minimiser` may be, in units of clip/(ridge · size)."""

TILTED_TOLERANCE = 2.0**-11
"""The most that it may be for a `PerturbedMinimiser`, whose tolerance is paid for by a release of its own."""

FINEST = 40

LARGEST = 2**62
MOST = 10_000  # coefficients for which the solver's accuracy is a theorem
ROOM = Fraction(1, 2**40)  # for the roundings in what bounds the curvature of one record


class _Solved(Statistic):
    """What both minimisers share."""

    view: View
    loss: Loss
    clip: float
    ridge: float
    size: int
    curvature: float | None

    def _check(self) -> None:
        owner = type(self).__name__
        # Convexity and smoothness carry the proofs, so only losses whose constants the contract suite checks will do.
        if not (proved(self.loss) and self.loss.convex and self.loss.smoothness is not None):
            raise refuse("loss", owner, "a convex loss of tailguard with a bounded second derivative", self.loss)
        _scale("clip", self.clip, owner)
        _scale("ridge", self.ridge, owner)
        if self.curvature is not None:
            _scale("curvature", self.curvature, owner)
        checked_bits(self.bits, integer("dimension", self.dimension, owner, at_most=MOST), owner)
        if self.bits > grid_bits(integer("size", self.size, owner)):
            raise refuse("bits", owner, f"at most grid_bits({self.size}) = {grid_bits(self.size)}", self.bits)

    @property
    def dimension(self) -> int:
        """Number of coefficients."""
        return self.view.dimension

    @property
    def unit(self) -> float:
        """What one grid step is worth: clip/(ridge · size · 2**bits), rounded up."""
        return above(Fraction(self.clip) / (Fraction(self.ridge) * self.size * 2**self.bits))

    def _distance(self, tolerance: float) -> float:
        """Return a tolerance in units of the coefficients: this many times 2**bits grid steps."""
        return below(Fraction(tolerance) * Fraction(self.unit) * 2**self.bits)

    def _objective(self, source: Source, centre: FloatVector, tilt: FloatVector | None) -> Objective:
        if source.size != self.size:
            raise ParameterError(f"A {self.kind} of {self.size} records was asked of {source.size}.")
        X, y = source.gather()
        with np.errstate(all="ignore"):  # a warning would tell of a value
            rows, targets = self.view.dense(X), self.view.target(y)
        return Objective(rows, targets, self.loss, self.clip, self.ridge, centre, self.size, tilt, self.curvature)

    def _integers(self, point: FloatVector) -> IntVector:
        """Return the grid point nearest to `point`, in exact arithmetic: a quotient of floats could be steps away."""
        unit = Fraction(self.unit)
        steps = (round(Fraction(entry) / unit) for entry in point.tolist())
        return np.array([max(-LARGEST, min(LARGEST, step)) for step in steps], np.int64)


@register
@dataclass(frozen=True, eq=False)
class Minimiser(_Solved):
    """argmin over W of (1/size) Σ ρ·φ_C(⟨z, w⟩, t) + ridge/2·‖w − centre‖², within a public distance.

    φ_C is the loss with its slope clipped, so that a record's gradient is at most `clip` long (the Lipschitz extension
    of Lowy 2026 over the whole space), and ρ = min(1, curvature/(φ″·‖z‖²)) tames long rows.

    Parameters
    ----------
    view : View
        Makes rows z and targets t; an intercept is a coefficient like the others, and regularised like them.
    loss : Loss
        Convex, one of tailguard's own.
    clip : float
        C, the longest gradient of a record.
    ridge : float
        λ, the strength of the regulariser.
    centre : vector
        Where the regulariser pulls to.
    size : int
        Number of records, public.
    bits : int
        clip/(ridge · size) is L = 2**bits grid steps; at most `grid_bits(size)`.
    domain : Domain or None, default=None
        W; None is the whole space.
    curvature : float or None, default=None
        Bound on the curvature that one record adds; None for ρ = 1.

    Notes
    -----
    *Guarantee.* The exact minimiser moves by at most 2·clip/(ridge · size) when a record is replaced; the computed one
    is within `TOLERANCE`·clip/(ridge · size) of it for every data set, and rounding costs √dimension steps.
    """

    kind: ClassVar[str] = "certified minimiser"
    norms: ClassVar[tuple[Norm, ...]] = ("l2",)

    view: View
    loss: Loss
    clip: float
    ridge: float
    centre: ArrayLike
    size: int
    bits: int
    domain: Domain | None = None
    curvature: float | None = None

    def __post_init__(self) -> None:
        self._check()
        centre = public_vector(self.centre, self.dimension)
        if centre is None or not np.all(np.isfinite(centre)):
            raise refuse("centre", "Minimiser", f"a vector of {self.dimension} finite numbers", self.centre)
        object.__setattr__(self, "centre", centre)
        domain = self.domain
        if domain is not None and not (proved(domain) and domain.convex and domain.dimension == self.dimension):
            raise refuse("domain", "Minimiser", f"one of tailguard, convex, of dimension {self.dimension}", domain)

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return _moved(TOLERANCE, dimension, size)

    def evaluate(self, source: Source) -> IntVector:
        """Return the minimiser over these records, on the grid."""
        objective = self._objective(source, np.asarray(self.centre), None)
        return self._integers(minimise(objective, self._distance(TOLERANCE), self.domain))


@register
@dataclass(frozen=True, eq=False)
class PerturbedMinimiser(_Solved):
    """argmin over the whole space of (1/size) Σ ρ·φ_C(⟨z, w⟩, t) + ridge/2·‖w‖² + a random linear term.

    For `ObjectivePerturbation` alone, which draws the linear term: without it nothing here is private.

    Parameters
    ----------
    view : View
        Makes rows z and targets t; an intercept is a coefficient like the others, and regularised like them.
    loss : Loss
        Convex, one of tailguard's own.
    clip, ridge : float
        C and λ, as for `Minimiser`.
    size : int
        Number of records, public.
    bits : int
        clip/(ridge · size) is L = 2**bits grid steps; at most `grid_bits(size)`.
    curvature : float
        H, the most that ρ·φ″·‖z‖² can be for any record; the weights ρ see to it.
    precision : int, default=10
        The computed minimiser is within 2**−(precision + 1)·clip/(ridge · size) of the exact one.

    Notes
    -----
    *Guarantee.* A tilt is a linear term, in grid steps of the minimiser that it would move if there were no records.
    The tilt that makes a given point the minimiser moves by at most 2L when a record is replaced, and the determinant
    of its derivative by a factor of at most exp(`curvature_loss`).
    """

    kind: ClassVar[str] = "perturbed minimiser"
    norms: ClassVar[tuple[Norm, ...]] = ("tilt",)

    view: View
    loss: Loss
    clip: float
    ridge: float
    size: int
    bits: int
    curvature: float
    precision: int = 10

    def __post_init__(self) -> None:
        _scale("curvature", self.curvature, "PerturbedMinimiser")
        integer("precision", self.precision, "PerturbedMinimiser", at_least=10, at_most=FINEST)
        self._check()

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return _moved(TILTED_TOLERANCE, dimension, size)

    @property
    def curvature_loss(self) -> float:
        """ln(1 + curvature/(size · ridge)), rounded up: what the change of variables costs."""
        most = Fraction(self.curvature) * (1 + ROOM) / (Fraction(self.ridge) * self.size)
        return math.nextafter(math.log1p(above(most)), math.inf)

    @property
    def radius(self) -> float:
        """Length in grid steps that no minimiser without a tilt exceeds: clip/ridge."""
        return math.ldexp(self.size, self.bits)

    @property
    def tolerance(self) -> float:
        """Distance in grid steps between what `minimise` returns and what it stands for, roundings of floats aside."""
        return math.ldexp(1.0, self.bits - self.precision - 1) + 0.5 * root_above(self.dimension)

    def evaluate(self, source: Source) -> IntVector:
        """Return the minimiser without a tilt, on the grid; a replay compares it. No mechanism releases it."""
        return self.minimise(source, np.zeros(self.dimension), self.radius)

    def objective(self, source: Source) -> Objective:
        """Return what is minimised, without a tilt. Exact data: for audits alone."""
        return self._objective(source, np.zeros(self.dimension), None)

    def minimise(self, source: Source, tilt: FloatVector, reach: float) -> IntVector:
        """Return the minimiser under a tilt, folded back into the ball of radius `reach`, on the grid.

        The fold w ↦ w·min(1, 2·reach/‖w‖ − 1)₊ moves no two points apart. It sends everything beyond 2·reach to 0, so
        there no float has to be near anything: tilts from 3·reach on are not even solved for, whatever the records.

        Parameters
        ----------
        source : Source
            The records.
        tilt : float64 vector
            In grid steps.
        reach : float
            In grid steps, at least `radius`; public.
        """
        if np.linalg.norm(tilt) >= 3.0 * reach:
            return np.zeros(self.dimension, np.int64)
        weight = self.unit * self.ridge * self.size
        objective = self._objective(source, np.zeros(self.dimension), tilt * weight)
        tolerance = self._distance(math.ldexp(1.0, -self.precision - 1))
        if tolerance < 2.0 * resolution(objective):  # twice: for tilts of up to 3·reach; public numbers alone
            raise refuse("precision", "PerturbedMinimiser", "what double precision resolves", self.precision)
        return self._integers(_folded(minimise(objective, tolerance), reach * self.unit))


def proved(part: object) -> bool:
    """Whether a loss or domain, and any inside it, is of tailguard: others may claim what they like."""
    if not isinstance(part, Loss | Domain) or not type(part).__module__.startswith("tailguard."):
        return False
    inner: list[object] = [getattr(part, one.name) for one in fields(part)] if is_dataclass(part) else []
    return all(proved(one) for one in inner if isinstance(one, Loss | Domain))


def _scale(name: str, value: float | None, owner: str) -> float:
    return real(name, value, owner, at_least=1e-60, at_most=1e60)


def _folded(point: FloatVector, reach: float) -> FloatVector:
    length = float(np.linalg.norm(point))
    return point if length <= reach else point * max(0.0, 2.0 * reach / length - 1.0)


def _moved(tolerance: float, dimension: int, size: int) -> float:
    """Return 2·size·(1 + tolerance) + √dimension, rounded up."""
    return above(2 * size * (1 + Fraction(tolerance)) + Fraction(root_above(dimension)))
