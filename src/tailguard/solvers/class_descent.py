"""Multinomial logistic regression: one clipped gradient of all classes at once, preconditioned in rows and in classes.

K fits of one class against the rest would each see every record, so that each of them had 1/K of the budget. A
record's gradient for all classes at once, (p − e_t) ⊗ z, is hardly longer than that of a single one: ‖p − e_t‖ < √2. So
K classes cost about the noise of two.
"""

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tailguard.losses.multinomial import Multinomial
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Setting, Solve, Solver
from tailguard.solvers.clip_level import ClipLevel, clip_level
from tailguard.solvers.preconditioner import Preconditioner, preconditioner
from tailguard.solvers.preparation import Preparation, prepare_features, units
from tailguard.statistics.classes import ClassGradient, Membership
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.fields import Rows
from tailguard.statistics.scalars import Norm
from tailguard.statistics.view import View

__all__ = ["ClassDescent", "ClassEstimate", "ClassSteps"]

TRUST = 3.0
"""Longest step in scaled units: a released gradient that asks for more is noise."""

MOMENTUM = 0.8
"""Part of the last step that is taken again: curvature falls far below its bound where classes are well apart."""

RARE = 0.1
"""Least share of a class that is believed, as a part of an equal share."""

LEAST = 0.05
"""Part of the largest possible gradient below which no clip level is believed."""


@dataclass(frozen=True, eq=False)
class ClassEstimate(Estimate):
    """A model of several classes in raw units: a row of coefficients and an offset for each of them."""

    offsets: FloatVector = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True)
class ClassSteps(Setting):
    """How the steps go.

    Parameters
    ----------
    n, bits : int
        Number of records, bits of the grid.
    row, gradient : ClipLevel
        How rows (for the Gram matrix) and gradients are clipped.
    ridge : float
        Smallest eigenvalue of the Gram matrix that is believed.
    steps, refreshes : int
        Number of steps, and how often the gradients' clip level is sought again, at equal distances.
    """

    n: int
    bits: int
    row: ClipLevel
    gradient: ClipLevel
    ridge: float
    steps: int
    refreshes: int

    def refreshed(self, step: int) -> bool:
        """Return whether the clip level is sought again before this step."""
        return step in {number * self.steps // self.refreshes for number in range(self.refreshes)}


@dataclass(frozen=True)
class ClassDescent(Solver):
    """Private preparation of all columns, then a descent on all classes.

    Parameters
    ----------
    loss : Multinomial
        The loss.
    d : int
        Number of features.
    intercept : bool
        Whether intercepts are fitted.
    preparation : Preparation
        How medians are sought.
    descent : ClassSteps
        How the model is fitted then.
    """

    loss: Multinomial
    d: int
    intercept: bool
    preparation: Preparation
    descent: ClassSteps

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        setting, n, bits = self.descent, self.descent.n, self.descent.bits
        view = View(self.d, intercept=self.intercept)
        view = yield from prepare_features(view, self.preparation, n, bits)
        reply = yield Query("class shares", Clipped(Membership(view, self.loss), 1.0, bits))
        shares = _shares(reply.value)
        radius = yield from clip_level("row level", Norm(Rows(view)), setting.row, n, bits)
        inverse = yield from preconditioner("gram", view, radius, setting.ridge, n, bits)
        point = np.zeros((self.loss.classes, view.dimension))
        if self.intercept:
            point[:, -1] = np.log(shares) - np.mean(np.log(shares))
        point = yield from self._descend(view, radius, _Metric(inverse, _curved(shares)), point)
        return self._raw(view, point)

    def _descend(
        self, view: View, radius: float, metric: "_Metric", point: NDArray[np.float64]
    ) -> Generator[Query, Released, NDArray[np.float64]]:
        setting, level, kept, weights = self.descent, 1.0, [], []
        bound, speed = np.sqrt(2.0) * radius, np.zeros_like(point)
        for step in range(setting.steps):
            gradient = ClassGradient(view, self.loss, point.ravel(), radius)
            if setting.refreshed(step):
                found = yield from clip_level(
                    "gradient level", Norm(gradient), setting.gradient, setting.n, setting.bits
                )
                level = min(max(found, LEAST * bound), bound)
            reply = yield Query("gradient", Clipped(gradient, level, setting.bits))
            speed = MOMENTUM * speed - metric.step(reply.value.reshape(point.shape) / setting.n)
            point = point + speed
            kept.append(point)
            weights.append(reply.noise**-2 if reply.noise > 0.0 else 1.0)
        half = setting.steps // 2
        return np.asarray(np.average(kept[half:], axis=0, weights=weights[half:]))

    def _raw(self, view: View, point: NDArray[np.float64]) -> ClassEstimate:
        """Return the model in raw units."""
        centre, scale = units(view)
        slopes = point[:, : self.d] / scale
        offsets = point[:, self.d] - slopes @ centre if self.intercept else np.zeros(len(point))
        return ClassEstimate(slopes, offsets=offsets)


@dataclass(frozen=True, eq=False)
class _Metric:
    """The preconditioner of rows, and that of classes."""

    rows: Preconditioner
    classes: NDArray[np.float64]

    def step(self, gradient: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a step that is not too long; the classes' scores keep their sum, which the loss does not see."""
        change = self.classes @ np.stack([self.rows.apply(one) for one in gradient])
        return change * min(1.0, TRUST / max(float(np.linalg.norm(change)), 1e-300))


def _shares(counts: FloatVector) -> FloatVector:
    """Return shares of classes, none of them too small to take a step by."""
    shares = np.maximum(counts, 0.0) / max(float(np.sum(np.maximum(counts, 0.0))), 1e-300)
    return np.asarray(np.maximum(shares, RARE / counts.size))


def _curved(shares: FloatVector) -> NDArray[np.float64]:
    """Return the inverse, on scores of sum 0, of diag(q) − qqᵀ: no model with these shares has a larger curvature."""
    shares = shares / shares.sum()
    return np.asarray(np.linalg.pinv(np.diag(shares) - np.outer(shares, shares), hermitian=True))
