"""Semismooth Newton on the objective, with a search along each direction that needs no values of F.

Nothing is proved about its speed: what it returns counts only with a certificate.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tailguard.certified.anchor import Anchor
from tailguard.certified.kernels import FloatVector
from tailguard.certified.model import model_minimiser
from tailguard.domains.base import Domain

__all__ = ["State", "newton_step", "start"]

SEARCHES = 80
FLATTER = 0.1  # a step is long enough once the slope along it has shrunk to this share


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """A point a + v, with predictions, slopes and gradient there."""

    anchor: Anchor
    shift: FloatVector
    predictions: FloatVector
    slopes: FloatVector
    gradient: FloatVector

    @property
    def point(self) -> FloatVector:
        """The point, rounded."""
        return self.anchor.point + self.shift

    def moved(self, shift: FloatVector) -> "State":
        """Return the state at another shift from the same anchor."""
        return start(self.anchor, shift)

    def anchored(self) -> "State":
        """Return the same point with an anchor as near as floats allow."""
        near = self.point
        return start(Anchor(self.anchor.objective, near), (self.anchor.point - near) + self.shift)


def start(anchor: Anchor, shift: FloatVector) -> State:
    """Return the state at a shift from an anchor."""
    predictions = anchor.predictions(shift)
    slopes = anchor.slopes(predictions)
    return State(anchor, shift, predictions, slopes, anchor.gradient(slopes, shift))


def newton_step(state: State, domain: Domain | None) -> State:
    """Return the state after one Newton step, shortened where the slope along it turns upwards."""
    hessian = state.anchor.hessian(state.predictions)
    direction = model_minimiser(hessian, state.gradient, state.point, state.anchor.objective.length, domain)
    return state.moved(state.shift + _share(state, direction) * direction)


def _share(state: State, direction: FloatVector) -> float:
    """Return a share t ∈ (0, 1] of the direction at which the slope of F along it is negative or nearly zero."""
    anchor, size = state.anchor, state.anchor.objective.size
    along, lengths = anchor.along(direction), anchor.objective.records.units @ direction
    steady = float(direction @ (state.gradient - anchor.total(state.slopes)))
    bend = float(direction @ direction) / anchor.objective.length

    def slope(share: float) -> float:
        pull = float(anchor.slopes(state.predictions + share * along) @ lengths) / size
        return pull + steady + share * bend

    return _root(slope, float(direction @ state.gradient))


def _root(slope: Callable[[float], float], first: float) -> float:
    """Return where an increasing function that is `first` at 0 is nearly zero, or 1 where there is no such place."""
    low, high, at_low, at_high = 0.0, 1.0, first, slope(1.0)
    if first >= 0.0 or at_high <= FLATTER * abs(first):
        return 1.0
    for count in range(SEARCHES):
        # Halving in between: where slopes jump, the chord alone creeps.
        chord = at_high / (at_high - at_low) if count % 2 == 0 else 0.5
        share = high - min(max(chord, 0.05), 0.95) * (high - low)
        at = slope(share)
        if abs(at) <= FLATTER * abs(first):
            return share
        low, at_low, high, at_high = (share, at, high, at_high) if at < 0.0 else (low, at_low, share, at)
    return low if low > 0.0 else high
