"""Objective perturbation: a random linear term inside the objective, and a little noise for the solver's tolerance.

Proofs in objective_perturbation.md.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

from tailguard._rounding import above
from tailguard._validate import integer, real, refuse
from tailguard.errors import LedgerError
from tailguard.mechanisms.base import Evaluable, FloatVector, IntVector, Mechanism, Norm, R, Randomness
from tailguard.mechanisms.grid import multiplier_of, noise_scale
from tailguard.mechanisms.tilt import coupling_error, isotropic_tilt
from tailguard.privacy import events

__all__ = ["TOLERANCE", "ObjectivePerturbation", "Tilted"]

TOLERANCE = 2.0**-10
"""Sensitivity of the last release ÷ sensitivity of the tilt, at most: both data sets' distances from the ideal
minimiser."""

FINEST = 40

LONGEST = 2.0**16
"""Longer tilts, in units of the sensitivity, are folded back: where the noise is that loud, nothing is lost."""


@runtime_checkable
class Tilted(Protocol):
    """A statistic that minimises an objective with a linear term; its numbers are public and in grid steps."""

    @property
    def dimension(self) -> int:
        """Number of coefficients."""

    @property
    def curvature_loss(self) -> float:
        """Largest log-ratio of the determinants of neighbouring Hessians."""

    @property
    def radius(self) -> float:
        """Length that no minimiser without a tilt exceeds."""

    @property
    def tolerance(self) -> float:
        """Distance between the computed and the ideal minimiser, roundings of floats aside."""

    def minimise(self, source: Any, tilt: FloatVector, reach: float) -> IntVector:
        """Return the minimiser under a tilt, folded back into the ball of radius `reach`."""


@dataclass(frozen=True)
class ObjectivePerturbation(Mechanism):
    """Minimise with a random linear term, then add noise for what the solver leaves open.

    The term has density ∝ exp(−‖b‖₂ ÷ scale) in grid steps, scale = multiplier × sensitivity. ε has three parts: 1 ÷
    multiplier for the term, `curvature_share` ÷ multiplier for the change of variables, `release_share` ÷ multiplier
    for the exact discrete noise on the result.

    *Guarantee.* ((1 + curvature_share + release_share) ÷ multiplier)-differentially private, exactly where the
    randomness is. A query whose Hessians can differ by more than its part allows is refused before a record is read.

    Parameters
    ----------
    curvature_share : float, default=1.0
        ε of the change of variables ÷ ε of the linear term.
    release_share : float, default=0.02
        ε of the last release ÷ ε of the linear term.
    precision : int, default=10
        Sensitivity of the last release ÷ sensitivity of the tilt is 2**−precision; the statistic must be as precise.

    Examples
    --------
    >>> ObjectivePerturbation(1.0, 0.5).event(multiplier=4.0, sensitivity=2.0**31, dimension=4)
    Pure(epsilon=0.625)
    """

    norm: ClassVar[Norm] = "tilt"
    curvature_share: float = 1.0
    release_share: float = 0.02
    precision: int = 10

    def __post_init__(self) -> None:
        for name in ("curvature_share", "release_share"):
            share = real(name, getattr(self, name), "ObjectivePerturbation", at_least=1e-6, at_most=1e6)
            object.__setattr__(self, name, share)
        bits = integer("precision", self.precision, "ObjectivePerturbation", at_least=10, at_most=FINEST)
        object.__setattr__(self, "precision", bits)

    @property
    def weight(self) -> float:
        """ε × multiplier."""
        return 1.0 + self.curvature_share + self.release_share

    def least_ridge(self, curvature: float, size: int, multiplier: float) -> float:
        """Return a ridge with which objectives of `size` records keep to their part of ε; hardly any smaller one would.

        A part beyond ε = 20 is not used up: the ridge would be too small to compute with.

        Parameters
        ----------
        curvature : float
            Bound on the curvature that one record adds.
        size : int
            Number of records.
        multiplier : float
            That of the step.
        """
        allowed = self.curvature_share / real("multiplier", multiplier, "ObjectivePerturbation", above=0.0)
        return (1.0 + 2.0**-38) * curvature / (size * math.expm1(min(allowed * (1.0 - 2.0**-48), 20.0)))

    def event(self, multiplier: float, sensitivity: float, dimension: int) -> events.Event:
        """Return the event that `release` will report, from public numbers alone."""
        tilt, noise = self._tilt_scale(multiplier, sensitivity), self._noise_scale(multiplier, sensitivity, dimension)
        parts = (
            1 / Fraction(multiplier_of(tilt, sensitivity)),
            Fraction(self.curvature_share) / Fraction(multiplier),
            1 / Fraction(multiplier_of(noise, self._last(sensitivity), copies=dimension)),
        )
        return events.Pure(above(sum(parts, Fraction(0))))

    def perform(
        self, statistic: Evaluable[R], source: R, sensitivity: float, multiplier: float, randomness: Randomness
    ) -> tuple[IntVector, events.Event]:
        """Return the noisy minimiser of the perturbed objective and the event performed."""
        if not isinstance(statistic, Tilted):
            raise refuse("statistic", "ObjectivePerturbation", "a perturbed minimiser", type(statistic).__name__)
        scale = self._tilt_scale(multiplier, sensitivity)
        reach = statistic.radius + min(scale * (2 * statistic.dimension + 60), LONGEST * sensitivity)
        self._check(statistic, scale, reach, sensitivity, multiplier)
        tilt = isotropic_tilt(statistic.dimension, scale, 4.0 * reach, randomness)
        return self.release(statistic.minimise(source, tilt, reach), sensitivity, multiplier, randomness)

    def release(
        self, value: IntVector, sensitivity: float, multiplier: float, randomness: Randomness
    ) -> tuple[IntVector, events.Event]:
        """Return a perturbed minimiser with the noise for its tolerance, and the event of both parts."""
        scale = self._noise_scale(multiplier, sensitivity, value.size)
        return randomness.laplace(value, scale), self.event(multiplier, sensitivity, value.size)

    def _check(self, statistic: Tilted, scale: float, reach: float, sensitivity: float, multiplier: float) -> None:
        """Refuse what was not planned, or cannot be computed closely enough. All of this is public or released."""
        if Fraction(statistic.curvature_loss) * Fraction(multiplier) > Fraction(self.curvature_share):
            raise LedgerError("The query's ridge is too small, or its curvature too large, for its part of ε.")
        error = statistic.tolerance + coupling_error(statistic.dimension, scale, 4.0 * reach)
        error += reach * (statistic.dimension + 64) * 2.0**-50  # roundings of floats between tilt and grid
        if 2.0 * error > self._last(sensitivity):
            raise refuse("statistic", "ObjectivePerturbation", "of more bits, or of fewer records", "a coarse grid")

    def _tilt_scale(self, multiplier: float, sensitivity: float) -> float:
        return noise_scale("ObjectivePerturbation", multiplier, sensitivity)

    def _noise_scale(self, multiplier: float, sensitivity: float, dimension: int) -> float:
        real("multiplier", multiplier, "ObjectivePerturbation", above=0.0)
        d = integer("dimension", dimension, "ObjectivePerturbation")
        delta = self._last(real("sensitivity", sensitivity, "ObjectivePerturbation", above=0.0))
        return noise_scale("ObjectivePerturbation", multiplier / self.release_share, delta, copies=d)

    def _last(self, sensitivity: float) -> float:
        """Return D, the sensitivity of the last release: a power of two times that of the tilt, exactly."""
        return math.ldexp(sensitivity, -self.precision)
