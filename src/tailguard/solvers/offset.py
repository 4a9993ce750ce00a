"""A loss of predictions that lack their intercept."""

from dataclasses import dataclass

from tailguard.losses.base import FloatArray, Loss

__all__ = ["Offset"]


@dataclass(frozen=True)
class Offset(Loss):
    """φ(p + b, t): the gradient in the coefficients alone, at a released intercept b.

    Parameters
    ----------
    loss : Loss
        φ.
    offset : float
        b, public or released.
    """

    loss: Loss
    offset: float

    name = "offset"

    @property
    def convex(self) -> bool:  # type: ignore[override]
        """Whether φ is convex in the prediction."""
        return self.loss.convex

    @property
    def smoothness(self) -> float | None:
        """Supremum of |φ''|, or None if there is no bound."""
        return self.loss.smoothness

    @property
    def lipschitz(self) -> float | None:
        """Supremum of |φ'|, or None if there is no bound."""
        return self.loss.lipschitz

    @property
    def usual_curvature(self) -> float:
        """Curvature to take steps by."""
        return self.loss.usual_curvature

    def _value(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return self.loss.value(prediction + self.offset, target)

    def _derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return self.loss.derivative(prediction + self.offset, target)

    def _second_derivative(self, prediction: FloatArray, target: FloatArray) -> FloatArray:
        return self.loss.second_derivative(prediction + self.offset, target)
