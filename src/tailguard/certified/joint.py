"""The joint reformulation of the regularised Lipschitz extension (Lowy 2026, Lemma 2.7).

Proof and numbers: extension.md.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tailguard._validate import real, refuse
from tailguard.certified.kernels import FloatMatrix, FloatVector
from tailguard.certified.records import usable
from tailguard.certified.subgradient import adaptive_subgradient, inexact_projection, predicted_iterations
from tailguard.domains.base import Domain
from tailguard.losses.base import Loss

__all__ = ["JointProblem"]


@dataclass(frozen=True, eq=False, repr=False)
class JointProblem:
    """Φ(w, y_1, …, y_m) = (1/m) Σ [f(y_i, z_i) + C‖w − y_i‖] + ½λ‖w − w₀‖² over W^(m+1).

    Its minimum is that of the regularised Lipschitz extension over W, and its w the minimiser. A point is a
    matrix with w in its first row and y_i below. f(y, z) = φ(⟨x, y⟩, t); rows longer than `row_bound` are
    scaled to it, so that Φ has a public Lipschitz constant and Algorithm 3 halts for every data set. A record
    with anything not finite contributes f = 0.

    Parameters
    ----------
    rows, targets : array of shape (m, d), (m,)
        Exact records.
    loss : Loss
        φ, convex, with a bound on its slope.
    clip, ridge : float
        C > 0 and λ > 0.
    centre : array of shape (d,)
        w₀ ∈ W.
    domain : Domain
        W, convex and bounded.
    row_bound : float
        The longest row that counts in full.
    radius : float, optional
        Radius of W₀ = W ∩ B(w₀, radius), to which w is then restricted.
    """

    rows: FloatMatrix
    targets: FloatVector
    loss: Loss
    clip: float
    ridge: float
    centre: FloatVector
    domain: Domain
    row_bound: float
    radius: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss) or not self.loss.convex or self.loss.lipschitz is None:
            raise refuse("loss", "JointProblem", "a convex loss with a bounded derivative", self.loss)
        if not self.domain.convex or math.isinf(self.domain.norm_bound("l2")):
            raise refuse("domain", "JointProblem", "convex and bounded", self.domain)
        for name in ("clip", "ridge", "row_bound"):
            self._set(name, real(name, getattr(self, name), "JointProblem", above=0.0))
        rows = np.ascontiguousarray(self.rows, dtype=np.float64)
        units, norms, targets = usable(rows, np.asarray(self.targets, dtype=np.float64), self.loss)
        self._set("rows", np.minimum(norms, self.row_bound)[:, None] * units)
        self._set("targets", targets)
        self._set("centre", self.domain.project(self.centre))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @property
    def diameter(self) -> float:
        """An upper bound on the diameter of W^(m+1)."""
        return 2.0 * self.domain.norm_bound("l2") * math.sqrt(len(self.targets) + 1.0)

    @property
    def lipschitz(self) -> float:
        """An upper bound on the norm of every subgradient of Φ."""
        slope = self.row_bound * float(self.loss.lipschitz or 0.0) + self.clip
        pull = self.clip + self.ridge * 2.0 * self.domain.norm_bound("l2")
        return math.sqrt(pull**2 + slope**2 / len(self.targets))

    @property
    def printed_accuracy(self) -> float:
        """C²/(72λm²), the accuracy of Algorithm 4."""
        return self.clip**2 / (72.0 * self.ridge * len(self.targets) ** 2)

    def iterations(self, accuracy: float) -> int:
        """Return the number of iterations after which Algorithm 3 has halted, from public numbers alone."""
        return predicted_iterations(self.diameter, self.lipschitz, accuracy)

    def value(self, point: ArrayLike) -> float:
        """Return Φ(point)."""
        u = np.asarray(point, dtype=np.float64)
        w, y = u[0], u[1:]
        losses = self.loss.value(np.einsum("ij,ij->i", self.rows, y), self.targets)
        losses = np.where(self.rows.any(axis=1), losses, 0.0) + self.clip * np.linalg.norm(w - y, axis=1)
        return float(losses.mean() + 0.5 * self.ridge * np.sum((w - self.centre) ** 2))

    def subgradient(self, point: FloatMatrix) -> FloatMatrix:
        """Return an element of ∂Φ(point)."""
        w, y = point[0], point[1:]
        away = w - y
        length = np.linalg.norm(away, axis=1)[:, None]
        pull = self.clip * away / np.where(length > 0.0, length, 1.0)
        slopes = self.loss.derivative(np.einsum("ij,ij->i", self.rows, y), self.targets)
        below = (slopes[:, None] * self.rows - pull) / len(y)
        return np.vstack([pull.mean(axis=0) + self.ridge * (w - self.centre), below])

    def project(self, point: FloatMatrix, accuracy: float) -> FloatMatrix:
        """Return a feasible point within `accuracy` of the projection of `point`."""
        below = [self.domain.project(y) for y in point[1:]]
        if self.radius is None:
            return np.stack([self.domain.project(point[0]), *below])
        return np.stack([inexact_projection(self.domain, self.centre, self.radius, point[0], accuracy), *below])

    def minimise(self, accuracy: float | None = None) -> FloatMatrix:
        """Return a feasible point whose value is within `accuracy` of the minimum, by Algorithm 3.

        Refused beyond a public number of iterations. The default accuracy is the printed one.
        """
        return adaptive_subgradient(
            self.subgradient,
            self.project,
            np.tile(self.centre, (len(self.targets) + 1, 1)),
            diameter=self.diameter,
            lipschitz=self.lipschitz,
            accuracy=self.printed_accuracy if accuracy is None else accuracy,
        )
