"""Laplace noise on integers. Proof in laplace.md."""

from dataclasses import dataclass
from typing import ClassVar

from tailguard._validate import integer
from tailguard.mechanisms.base import IntVector, Mechanism, Norm, Randomness
from tailguard.mechanisms.grid import multiplier_of, noise_scale
from tailguard.privacy import events

__all__ = ["Laplace"]


@dataclass(frozen=True)
class Laplace(Mechanism):
    """Add discrete Laplace noise of scale multiplier × ℓ1 sensitivity to each coordinate.

    *Guarantee.* Exactly (1/multiplier)-differentially private.

    Examples
    --------
    >>> Laplace().event(multiplier=4.0, sensitivity=2.0**20, dimension=3)
    Laplace(multiplier=4.0)
    """

    norm: ClassVar[Norm] = "l1"

    def event(self, multiplier: float, sensitivity: float, dimension: int) -> events.Event:
        """Return the event that `release` will report, from public numbers alone."""
        integer("dimension", dimension, "Laplace")
        return events.Laplace(multiplier_of(noise_scale("Laplace", multiplier, sensitivity), sensitivity))

    def release(
        self, value: IntVector, sensitivity: float, multiplier: float, randomness: Randomness
    ) -> tuple[IntVector, events.Event]:
        """Return value + discrete Laplace noise, and the event performed."""
        scale = noise_scale("Laplace", multiplier, sensitivity)
        return randomness.laplace(value, scale), events.Laplace(multiplier_of(scale, sensitivity))
