"""Selection by Gumbel noise: the exponential mechanism. Proofs in gumbel.md."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tailguard._validate import integer
from tailguard.mechanisms.base import IntVector, Mechanism, Norm, Randomness
from tailguard.mechanisms.grid import multiplier_of, noise_scale
from tailguard.privacy import events

__all__ = ["Exponential", "NoisyMax", "TopK", "pick_loss", "selection_event"]


@dataclass(frozen=True)
class TopK(Mechanism):
    """Release the indices of the largest scores after Gumbel noise of scale multiplier × ℓ∞ sensitivity.

    *Guarantee.* `count` selections of bounded range 2 ÷ multiplier. Nothing is assumed about the signs or the
    monotonicity of the scores.

    Parameters
    ----------
    count : int
        How many indices are released, best first; at most the number of scores.

    Examples
    --------
    >>> TopK(3).event(multiplier=4.0, sensitivity=2.0**20, dimension=100)
    Repeat(event=BoundedRange(eta=0.5), count=3)
    """

    norm: ClassVar[Norm] = "linf"
    selects: ClassVar[bool] = True
    count: int

    def __post_init__(self) -> None:
        integer("count", self.count, "TopK")

    def event(self, multiplier: float, sensitivity: float, dimension: int) -> events.Event:
        """Return the event that `release` will report, from public numbers alone."""
        integer("count", self.count, "TopK", at_most=dimension)
        return selection_event(noise_scale("TopK", multiplier, sensitivity), sensitivity, self.count)

    def release(
        self, value: IntVector, sensitivity: float, multiplier: float, randomness: Randomness
    ) -> tuple[IntVector, events.Event]:
        """Return the chosen indices, best first, and the event performed."""
        integer("count", self.count, "TopK", at_most=value.size)
        scale = noise_scale("TopK", multiplier, sensitivity)
        chosen = randomness.top(value, scale, self.count)
        return chosen, selection_event(scale, sensitivity, self.count)


@dataclass(frozen=True)
class NoisyMax(Mechanism):
    """Release the index of the largest score after Gumbel noise of scale multiplier × ℓ∞ sensitivity.

    This is the exponential mechanism over the coordinates, P(r) ∝ exp(value_r ÷ scale).

    *Guarantee.* Bounded range 2 ÷ multiplier.

    Examples
    --------
    >>> NoisyMax().event(multiplier=4.0, sensitivity=2.0**20, dimension=100)
    BoundedRange(eta=0.5)
    """

    norm: ClassVar[Norm] = "linf"
    selects: ClassVar[bool] = True

    def event(self, multiplier: float, sensitivity: float, dimension: int) -> events.Event:
        """Return the event that `release` will report, from public numbers alone."""
        return TopK(1).event(multiplier, sensitivity, dimension)

    def release(
        self, value: IntVector, sensitivity: float, multiplier: float, randomness: Randomness
    ) -> tuple[IntVector, events.Event]:
        """Return the chosen index, as a vector of length one, and the event performed."""
        return TopK(1).release(value, sensitivity, multiplier, randomness)


# The same law under its other name: adding Gumbel noise *is* a way to sample the exponential mechanism.
Exponential = NoisyMax


def selection_event(scale: float, sensitivity: float, count: int) -> events.Event:
    """Return what `count` picks by Gumbel noise of this scale are worth at this ℓ∞ sensitivity."""
    pick = events.BoundedRange(pick_loss(multiplier_of(scale, sensitivity)))
    return pick if count == 1 else events.Repeat(pick, count)


def pick_loss(multiplier: float) -> float:
    """Return 2 ÷ multiplier, rounded up."""
    loss = 2.0 / multiplier
    exact = Fraction(loss) * Fraction(multiplier) >= 2
    return loss if exact else math.nextafter(loss, math.inf)
