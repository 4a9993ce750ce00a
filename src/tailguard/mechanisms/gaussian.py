"""Gaussian noise on integers. Proofs in gaussian.md."""

from dataclasses import dataclass
from typing import ClassVar

from tailguard._validate import integer
from tailguard.mechanisms.base import IntVector, Mechanism, Norm, Randomness
from tailguard.mechanisms.grid import multiplier_of, noise_scale
from tailguard.privacy import events

__all__ = ["SMALLEST_SCALE", "Gaussian", "gaussian_event", "rounding_distance"]

SMALLEST_SCALE = 16.0
"""Least standard deviation, in grid units, for which `rounding_distance` is proved."""


@dataclass(frozen=True)
class Gaussian(Mechanism):
    """Add discrete Gaussian noise of standard deviation multiplier × ℓ2 sensitivity to each coordinate.

    *Guarantee.* Exactly 1/(2·multiplier²)-zCDP; and (1/multiplier)-GDP up to the total variation `distance`
    of the event, which is dimension ÷ (45·scale²). Scales below 16 grid units are refused.

    Examples
    --------
    >>> Gaussian().event(multiplier=2.0, sensitivity=2.0**20, dimension=45)
    Gaussian(multiplier=2.0, distance=2.2737367544323206e-13)
    """

    norm: ClassVar[Norm] = "l2"

    def event(self, multiplier: float, sensitivity: float, dimension: int) -> events.Event:
        """Return the event that `release` will report, from public numbers alone."""
        return gaussian_event(self._scale(multiplier, sensitivity), sensitivity, dimension)

    def release(
        self, value: IntVector, sensitivity: float, multiplier: float, randomness: Randomness
    ) -> tuple[IntVector, events.Event]:
        """Return value + discrete Gaussian noise, and the event performed."""
        scale = self._scale(multiplier, sensitivity)
        return randomness.gaussian(value, scale), gaussian_event(scale, sensitivity, value.size)

    def _scale(self, multiplier: float, sensitivity: float) -> float:
        return noise_scale("Gaussian", multiplier, sensitivity, at_least=SMALLEST_SCALE)


def gaussian_event(scale: float, sensitivity: float, dimension: int, *, copies: int = 1) -> events.Gaussian:
    """Return what noise on `dimension` coordinates is worth at an ℓ2 sensitivity of √copies × sensitivity."""
    multiplier = multiplier_of(scale, sensitivity, copies=copies)
    return events.Gaussian(multiplier, rounding_distance(scale, dimension))


def rounding_distance(scale: float, dimension: int) -> float:
    """Bound the total variation between discrete and rounded continuous Gaussian vectors of this scale.

    Proved for scales of at least 16; the true distance is 0.0202·dimension ÷ scale² as the scale grows.
    """
    return min(1.0, integer("dimension", dimension, "Gaussian") / 45.0 / scale / scale)
