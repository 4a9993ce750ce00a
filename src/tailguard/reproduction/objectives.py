"""Average losses with the best intercept for every w, or with none, so that only w is left to be minimised over.

They see records and are not private: they serve the references of the figures, never a release.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from tailguard.solvers.base import Estimate
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector

__all__ = ["LogLoss", "Objective", "Squares"]

ROWS = 8192
"""Rows that are widened to double precision at once."""

_FARTHEST = 30.0  # an intercept beyond it changes no average that a float can show


class Objective(ABC):
    """F(w) = min over b of the average loss of ⟨x, w⟩ + b, or its value at b = 0: convex, with Lipschitz gradient."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """d, the length of w."""

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """A Lipschitz constant of ∇F."""

    @abstractmethod
    def gradient(self, w: FloatVector) -> FloatVector:
        """Return ∇F(w)."""

    @abstractmethod
    def intercept(self, w: FloatVector) -> float:
        """Return the best b for w."""

    @abstractmethod
    def restricted(self, support: IntVector) -> Self:
        """Return the objective of the columns in `support` alone."""

    @abstractmethod
    def risk(self, model: Estimate) -> float:
        """Return the average loss of a model with its own intercept."""

    def model(self, w: FloatVector) -> Estimate:
        """Return w with its best intercept."""
        return Estimate(w, self.intercept(w))


@dataclass(frozen=True, eq=False)
class Squares(Objective):
    """The average of (⟨x, w⟩ + b − y)², the loss of Hu et al. 2022 (twice that of `losses.Squared`).

    Parameters
    ----------
    covariance : (d, d) array
        Covariance of the features; without an intercept, their second moments.
    cross : (d,) array
        Covariances of features and target, or the mixed moments.
    means : (d,) array
        Means of the features, or 0.
    target_mean, target_variance : float
        Of the target; or 0 and the second moment.
    """

    covariance: FloatMatrix
    cross: FloatVector
    means: FloatVector
    target_mean: float
    target_variance: float

    @classmethod
    def of(cls, X: NDArray[Any], y: FloatVector, *, intercept: bool = True) -> Self:
        """Return the objective of records."""
        n, d = X.shape
        gram, cross = np.zeros((d, d)), np.zeros(d)
        means, target_mean = (X.mean(axis=0, dtype=np.float64), float(y.mean())) if intercept else (np.zeros(d), 0.0)
        for start in range(0, n, ROWS):
            chunk = X[start : start + ROWS].astype(np.float64) - means
            gram += chunk.T @ chunk
            cross += chunk.T @ (y[start : start + ROWS] - target_mean)
        return cls(gram / n, cross / n, means, target_mean, float(((y - target_mean) ** 2).mean()))

    @property
    def dimension(self) -> int:
        """d, the length of w."""
        return len(self.means)

    @cached_property
    def smoothness(self) -> float:
        """Twice the largest eigenvalue of the covariance."""
        return 2.0 * float(np.linalg.eigvalsh(self.covariance)[-1])

    def gradient(self, w: FloatVector) -> FloatVector:
        """Return 2(Σw − c)."""
        return 2.0 * (self.covariance @ w - self.cross)

    def intercept(self, w: FloatVector) -> float:
        """Return what is left of the means."""
        return float(self.target_mean - self.means @ w)

    def restricted(self, support: IntVector) -> Self:
        """Return the objective of the columns in `support` alone."""
        part = self.covariance[np.ix_(support, support)], self.cross[support], self.means[support]
        return type(self)(*part, self.target_mean, self.target_variance)

    def risk(self, model: Estimate) -> float:
        """Return the average square; without an intercept here, for models without one."""
        w = model.coefficients
        off = model.intercept - self.intercept(w)
        return float(w @ self.covariance @ w - 2.0 * self.cross @ w + self.target_variance + off * off)


@dataclass(frozen=True, eq=False)
class LogLoss(Objective):
    """The average of log(1 + eᵖ) − t·p, p = ⟨x, w⟩ + b, plus λ‖w‖²/2.

    Parameters
    ----------
    X : (m, d) array
        Features.
    target : (m,) array
        Labels 0 and 1, or probabilities of a 1: the loss is linear in t, so averages over labels are exact.
    ridge : float
        λ.
    free : bool
        Whether there is an intercept.
    """

    X: NDArray[Any]
    target: FloatVector
    ridge: float = 0.0
    free: bool = True
    _last: list[float] = field(default_factory=lambda: [0.0], repr=False)

    @property
    def dimension(self) -> int:
        """d, the length of w."""
        return int(self.X.shape[1])

    @cached_property
    def smoothness(self) -> float:
        """A quarter of the largest eigenvalue of the covariance (of the second moments), plus λ.

        The best intercept centres the rows with the weights of the curvature, which leaves no more than centring with
        equal weights. Power iteration approaches the eigenvalue from below; a tenth is added.
        """
        means = self.X.mean(axis=0, dtype=np.float64) * self.free
        v = np.ones(self.dimension) / np.sqrt(self.dimension)
        size = 0.0
        for _ in range(30):
            centred = self._predict(v) - means @ v
            v = self._average(centred) - means * centred.mean()
            size = float(np.linalg.norm(v)) or 1.0
            v /= size
        return 0.275 * size + self.ridge

    def gradient(self, w: FloatVector) -> FloatVector:
        """Return the average of (σ(p) − t)·x at the best intercept, plus λw."""
        linear = self._predict(w)
        slope = expit(linear + self._best(linear)) - self.target
        return self._average(slope) + self.ridge * w

    def intercept(self, w: FloatVector) -> float:
        """Return the best b for w."""
        return self._best(self._predict(w))

    def restricted(self, support: IntVector) -> Self:
        """Return the objective of the columns in `support` alone."""
        return type(self)(np.ascontiguousarray(self.X[:, support]), self.target, self.ridge, self.free)

    def risk(self, model: Estimate) -> float:
        """Return the average loss."""
        w, p = model.coefficients, self._predict(model.coefficients) + model.intercept
        return float((np.logaddexp(0.0, p) - self.target * p).mean() + 0.5 * self.ridge * (w @ w))

    def _best(self, linear: FloatVector) -> float:
        """Newton's method in b, from the last answer; steps are bounded because the curvature may vanish."""
        if not self.free:
            return 0.0
        wanted = float(self.target.mean())
        for _ in range(50):
            p = expit(linear + self._last[0])
            step = (wanted - float(p.mean())) / max(float((p * (1.0 - p)).mean()), 1e-12)
            self._last[0] = float(np.clip(self._last[0] + np.clip(step, -2.0, 2.0), -_FARTHEST, _FARTHEST))
            if abs(step) < 1e-9 or abs(self._last[0]) == _FARTHEST:
                break
        return self._last[0]

    def _predict(self, w: FloatVector) -> FloatVector:
        return np.asarray(self.X @ w.astype(self.X.dtype), dtype=np.float64)

    def _average(self, slope: FloatVector) -> FloatVector:
        return np.asarray(self.X.T @ slope.astype(self.X.dtype), dtype=np.float64) / len(slope)
