"""Sparse releases: pick the largest coordinates privately, add noise to those alone. Proofs in peeling.md."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tailguard._validate import integer
from tailguard.mechanisms.base import IntVector, Mechanism, Norm, Randomness
from tailguard.mechanisms.gaussian import SMALLEST_SCALE, gaussian_event
from tailguard.mechanisms.grid import multiplier_of, noise_scale
from tailguard.mechanisms.gumbel import pick_loss, selection_event
from tailguard.privacy import events

__all__ = ["LaplacePeeling", "Peeling"]

# With magnitudes and Laplace scales up to these, saturation at 2**63 costs less than the one rounding by
# which the event is raised (peeling.md).
LARGEST_MAGNITUDE = 2**62
LARGEST_LAPLACE_SCALE = 2.0**55


@dataclass(frozen=True)
class _Peeled(Mechanism):
    """Some coordinates are picked, and released with noise; all others are released as 0."""

    norm: ClassVar[Norm] = "linf"
    count: int

    def __post_init__(self) -> None:
        integer("count", self.count, type(self).__name__)

    def event(self, multiplier: float, sensitivity: float, dimension: int) -> events.Event:
        """Return the event that `release` will report, from public numbers alone."""
        integer("count", self.count, type(self).__name__, at_most=dimension)
        return self._performed(self._scale(multiplier, sensitivity), sensitivity)

    def release(
        self, value: IntVector, sensitivity: float, multiplier: float, randomness: Randomness
    ) -> tuple[IntVector, events.Event]:
        """Return the sparse noisy vector, of the length of `value`, and the event performed."""
        integer("count", self.count, type(self).__name__, at_most=value.size)
        scale = self._scale(multiplier, sensitivity)
        chosen, noisy = self._pick(value, scale, randomness)
        return scatter(value.size, chosen, noisy), self._performed(scale, sensitivity)

    @abstractmethod
    def _pick(self, value: IntVector, scale: float, randomness: Randomness) -> tuple[IntVector, IntVector]:
        """Return the places of the chosen coordinates, and their noisy values."""

    @abstractmethod
    def _scale(self, multiplier: float, sensitivity: float) -> float:
        """Return the scale of all noise."""

    @abstractmethod
    def _performed(self, scale: float, sensitivity: float) -> events.Event:
        """Return what noise of this scale does."""


@dataclass(frozen=True)
class Peeling(_Peeled):
    """Release a sparse vector: Gumbel picks on the magnitudes, then Gaussian noise on the chosen values.

    *Guarantee.* With noise of scale multiplier × ℓ∞ sensitivity in both parts: `count` selections of bounded
    range 2 ÷ multiplier, followed by a Gaussian release of multiplier ÷ √count.

    Parameters
    ----------
    count : int
        Number of coordinates kept, at most the dimension; all others are released as 0.

    Examples
    --------
    >>> Peeling(4).event(multiplier=4.0, sensitivity=2.0**30, dimension=100).events[0]
    Repeat(event=BoundedRange(eta=0.5), count=4)
    """

    def _pick(self, value: IntVector, scale: float, randomness: Randomness) -> tuple[IntVector, IntVector]:
        chosen = randomness.top(magnitudes(value), scale, self.count)
        return chosen, randomness.gaussian(value[chosen], scale)

    def _scale(self, multiplier: float, sensitivity: float) -> float:
        return noise_scale("Peeling", multiplier, sensitivity, at_least=SMALLEST_SCALE)

    def _performed(self, scale: float, sensitivity: float) -> events.Event:
        picks = selection_event(scale, sensitivity, self.count)
        values = gaussian_event(scale, sensitivity, self.count, copies=self.count)
        return events.Sequential((picks, values))


@dataclass(frozen=True)
class LaplacePeeling(_Peeled):
    """Release a sparse vector by Laplace noise alone: Algorithm 4 of Hu et al. 2022 and of Tao et al. 2022.

    `count` rounds, each with fresh discrete Laplace noise on every magnitude, pick the largest coordinate
    not yet chosen; fresh noise of the same scale is added to the chosen values.

    *Guarantee.* With noise of scale multiplier × ℓ∞ sensitivity: `count` picks, each (2 ÷
    multiplier)-private, and `count` values, each (1 ÷ multiplier)-private; 3·count ÷ multiplier in all.
    Laplace picks have no bounded range: `Peeling` is cheaper wherever δ > 0 and `count` is not small.

    Parameters
    ----------
    count : int
        Number of coordinates kept, at most the dimension; all others are released as 0.

    Examples
    --------
    >>> LaplacePeeling(4).event(multiplier=4.0, sensitivity=2.0**30, dimension=100).events[1]
    Repeat(event=Laplace(multiplier=4.0), count=4)
    """

    def _pick(self, value: IntVector, scale: float, randomness: Randomness) -> tuple[IntVector, IntVector]:
        chosen = peel(magnitudes(value), scale, self.count, randomness)
        return chosen, randomness.laplace(value[chosen], scale)

    def _scale(self, multiplier: float, sensitivity: float) -> float:
        return noise_scale("LaplacePeeling", multiplier, sensitivity, at_most=LARGEST_LAPLACE_SCALE)

    def _performed(self, scale: float, sensitivity: float) -> events.Event:
        worth = multiplier_of(scale, sensitivity)
        pick = events.Pure(math.nextafter(pick_loss(worth), math.inf))
        parts = (events.Repeat(pick, self.count), events.Repeat(events.Laplace(worth), self.count))
        return events.Sequential(parts)


def magnitudes(value: IntVector) -> IntVector:
    """Return |value|, at most 2**62: no coordinate moves further than it did before."""
    return np.abs(np.clip(value, -LARGEST_MAGNITUDE, LARGEST_MAGNITUDE))


def peel(scores: IntVector, scale: float, count: int, randomness: Randomness) -> IntVector:
    """Return `count` indices: each the largest score left under fresh noise, ties to the lowest index."""
    remaining = np.arange(scores.size)
    chosen = []
    for _ in range(count):
        best = int(np.argmax(randomness.laplace(scores[remaining], scale)))
        chosen.append(remaining[best])
        remaining = np.delete(remaining, best)
    return np.array(chosen, dtype=np.int64)


def scatter(dimension: int, chosen: IntVector, entries: IntVector) -> IntVector:
    """Return the vector that holds `entries` at `chosen` and 0 elsewhere."""
    sparse = np.zeros(dimension, dtype=np.int64)
    sparse[chosen] = entries
    return sparse
