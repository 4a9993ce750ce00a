"""Semismooth Newton on the objective, with a search along each direction that needs no values of F.

Nothing is proved about its speed: what it returns counts only with a certificate.
"""

from dataclasses import dataclass

import numpy as np

from tailguard.certified.anchor import Anchor
from tailguard.certified.kernels import FloatVector
from tailguard.certified.model import model_minimiser
from tailguard.domains.base import Domain

__all__ = ["State", "newton_step", "start"]

SEARCHES = 30
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
        return _state(self.anchor, shift, self.anchor.predictions(shift))

    def anchored(self) -> "State":
        """Return the same point with an anchor as near as floats allow."""
        near = self.point
        return start(Anchor(self.anchor.objective, near), (self.anchor.point - near) + self.shift)


def start(anchor: Anchor, shift: FloatVector) -> State:
    """Return the state at a shift from an anchor."""
    return _state(anchor, shift, anchor.predictions(shift))


def _state(anchor: Anchor, shift: FloatVector, predictions: FloatVector) -> State:
    slopes = anchor.slopes(predictions)
    return State(anchor, shift, predictions, slopes, anchor.gradient(slopes, shift))


def newton_step(state: State, domain: Domain | None) -> State:
    """Return the state after one Newton step, shortened where the slope along it turns upwards."""
    hessian = state.anchor.hessian(state.predictions)
    direction = model_minimiser(hessian, state.gradient, state.point, state.anchor.objective.length, domain)
    along = state.anchor.along(direction)
    share = _search(state, direction, along)
    return _state(state.anchor, state.shift + share * direction, state.predictions + share * along)


def _search(state: State, direction: FloatVector, along: FloatVector) -> float:
    """Return a share t ∈ (0, 1] at which the slope of F along the direction is not positive or nearly zero."""
    objective, records = state.anchor.objective, state.anchor.objective.records
    steady = float(direction @ (state.gradient - state.anchor.total(state.slopes)))
    bend = float(direction @ direction) / objective.length
    lengths = np.where(records.norms > 0.0, along / np.where(records.norms > 0.0, records.norms, 1.0), 0.0)

    def slope(share: float) -> float:
        pull = float(state.anchor.slopes(state.predictions + share * along) @ lengths) / objective.size
        return pull + steady + share * bend

    return _root(slope, float(direction @ state.gradient))


def _root(slope, first: float) -> float:  # type: ignore[no-untyped-def]
    low, high, at_low, at_high = 0.0, 1.0, first, slope(1.0)
    if at_high <= FLATTER * abs(first):
        return 1.0
    for _ in range(SEARCHES):
        share = high - at_high * (high - low) / (at_high - at_low)
        share = min(max(share, low + 0.05 * (high - low)), high - 0.05 * (high - low))
        at = slope(share)
        if abs(at) <= FLATTER * abs(first):
            return share
        if at < 0.0:
            low, at_low = share, at
        else:
            high, at_high = share, at
    return low if low > 0.0 else high
