"""Lipschitz extension of a loss over a Euclidean ball, by a convex search in one variable.

Proof: extension.md.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailguard._validate import real, refuse
from tailguard.certified.kernels import FloatMatrix, FloatVector
from tailguard.domains import L2Ball
from tailguard.losses.base import Loss, RecordLoss

__all__ = ["BallExtension"]

HALVINGS = 120  # far beyond what the bisection of an interval of floats resolves
ON_SPHERE = 1e-12


@dataclass(frozen=True)
class BallExtension(RecordLoss):
    """f_C(w, z) = min over y ∈ W of f(y, z) + C‖w − y‖, for f(y, z) = φ(⟨x, y⟩, t) and a ball W.

    It is convex and C-Lipschitz in w, never above f on W, and equal to f where ‖∇f‖ ≤ C (Lowy 2026,
    Lemma 2.2). Only the component of y along x matters to f, so the minimum is a convex search over that
    component. A record with anything not finite gives NaN.

    Parameters
    ----------
    loss : Loss
        φ, convex.
    clip : float
        C > 0.
    ball : L2Ball
        W.

    Examples
    --------
    >>> from tailguard.losses import Squared
    >>> extension = BallExtension(Squared(), clip=1.0, ball=L2Ball(1, radius=2.0))
    >>> extension.value([2.0], [[1.0]], [0.0]).round(9)
    array([1.5])
    >>> extension.gradient([2.0], [[1.0]], [0.0])
    array([[1.]])
    """

    loss: Loss
    clip: float
    ball: L2Ball

    name = "extension over a ball"
    convex = True
    smoothness = None

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss) or not self.loss.convex:
            raise refuse("loss", "BallExtension", "a convex loss of predictions", self.loss)
        object.__setattr__(self, "clip", real("clip", self.clip, "BallExtension", above=0.0))

    @property
    def lipschitz(self) -> float:
        """The clip C."""
        return self.clip

    def value(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatVector:
        """Return f_C(point, record), one number per record."""
        with np.errstate(all="ignore"):
            return _Search(self, point, rows, target).values()

    def gradient(self, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None = None) -> FloatMatrix:
        """Return a subgradient of f_C(·, record) at `point`, of norm at most C, one row per record."""
        with np.errstate(all="ignore"):
            return _Search(self, point, rows, target).subgradients()


class _Search:
    """The plane of each record: `along` its row and across it, seen from the centre of the ball."""

    def __init__(self, extension: BallExtension, point: ArrayLike, rows: ArrayLike, target: ArrayLike | None) -> None:
        X = np.asarray(rows, dtype=np.float64)
        centre = np.zeros(X.shape[1]) if extension.ball.centre is None else np.array(extension.ball.centre)
        self.loss, self.clip, self.radius = extension.loss, extension.clip, extension.ball.radius
        self.target = np.zeros(len(X)) if target is None else np.asarray(target, dtype=np.float64)
        self.offset = np.asarray(point, dtype=np.float64) - centre
        self.norms = np.linalg.norm(X, axis=1)
        self.units = X / np.where(self.norms > 0.0, self.norms, 1.0)[:, None]
        self.base = X @ centre
        self.along = self.units @ self.offset
        self.across = np.linalg.norm(self.offset - self.along[:, None] * self.units, axis=1)

    def values(self) -> FloatVector:
        component = self._component()
        fallen = self.loss.value(self.base + self.norms * component, self.target)
        return np.asarray(fallen + self.clip * np.hypot(component - self.along, self._gap(component)))

    def subgradients(self) -> FloatMatrix:
        component = self._component()
        outwards = self.offset - self.along[:, None] * self.units
        outwards *= (self._gap(component) / np.where(self.across > 0.0, self.across, 1.0))[:, None]
        step = (self.along - component)[:, None] * self.units + outwards
        length = np.linalg.norm(step, axis=1)[:, None]
        far = self.clip * step / np.where(length > 0.0, length, 1.0)
        here, allowed = self._here()
        return np.asarray(np.where(allowed[:, None], here, far))

    def _here(self) -> tuple[FloatMatrix, NDArray[np.bool_]]:
        """Return subgradients of f on W at the point itself, and where they serve: no longer than C, point in W."""
        slopes = self.loss.derivative(self.base + self.norms * self.along, self.target)
        gradients = (self.norms * slopes)[:, None] * self.units
        distance = float(np.linalg.norm(self.offset))
        if distance >= self.radius * (1.0 - ON_SPHERE):
            normal = self.offset / distance
            gradients = gradients + np.maximum(0.0, -(gradients @ normal))[:, None] * normal
        short = np.linalg.norm(gradients, axis=1) <= self.clip
        return gradients, short & (distance <= self.radius * (1.0 + ON_SPHERE))

    def _gap(self, component: FloatVector) -> FloatVector:
        """Distance across the row from the point to the nearest point of W with the given component."""
        return np.asarray(np.maximum(0.0, self.across - self._height(component)))

    def _height(self, component: FloatVector) -> FloatVector:
        return np.asarray(np.sqrt(np.maximum(0.0, self.radius**2 - component**2)))

    def _component(self) -> FloatVector:
        """Return the minimising component of y − centre along each row, by bisection of the derivative."""
        low, high = np.full_like(self.along, -self.radius), np.full_like(self.along, self.radius)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            rising = self._slope(middle) > 0.0
            low, high = np.where(rising, low, middle), np.where(rising, middle, high)
        return self._snapped(0.5 * (low + high))

    def _snapped(self, component: FloatVector) -> FloatVector:
        """Take the point's own component where the search ended next to it: the kink of the distance."""
        near = np.abs(component - self.along) <= ON_SPHERE * self.radius
        return np.where(near & (np.abs(self.along) <= self.radius), self.along, component)

    def _slope(self, component: FloatVector) -> FloatVector:
        gap, height = self._gap(component), self._height(component)
        turning = np.where(gap > 0.0, gap * component / np.where(height > 0.0, height, 1e-300), 0.0)
        distance = np.hypot(component - self.along, gap)
        pull = (component - self.along + turning) / np.where(distance > 0.0, distance, 1.0)
        slope = self.norms * self.loss.derivative(self.base + self.norms * component, self.target)
        return np.asarray(slope + self.clip * pull)
