"""The strongly convex objective whose minimiser is released: slope-clipped, curvature-capped, regularised.

Proofs: minimise.md.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from tailguard._validate import integer, real, refuse
from tailguard.certified.anchor import Anchor
from tailguard.certified.kernels import LARGEST, FloatMatrix, FloatVector
from tailguard.certified.records import Records, prepare
from tailguard.certified.value import clipped_values
from tailguard.errors import DataError
from tailguard.losses.base import Loss

__all__ = ["SHARPEST", "STEEPEST", "Objective"]

SHARPEST = 10.0  # times the number of records: the curvature, in units of the ridge, at which kinks are rounded
STEEPEST = 1e9  # the largest curvature, in units of the ridge, that float64 resolves


@dataclass(frozen=True, eq=False, repr=False)
class Objective:
    """F(w) = (1/size) Σ ρ_i φ_i(⟨x_i, w⟩, y_i) + ½ ridge ‖w − centre‖² + ⟨tilt, w⟩/size.

    φ_i is the loss with its slope clipped so that ρ_i |φ_i'| ‖x_i‖ ≤ clip, which is the largest convex
    function below the loss whose gradient never exceeds that (Lowy 2026, Lipschitz extension over
    R^d). ρ_i = min(1, curvature/(c ‖x_i‖²)) with c = loss.smoothness, so no record has a curvature above the
    one given. A record with anything not finite contributes nothing.

    Parameters
    ----------
    rows, targets : array of shape (m, d), (m,)
        Exact records. m ≤ size.
    loss : Loss
        Convex, with a bound on its second derivative.
    clip : float
        C > 0, the longest gradient of a record.
    ridge : float
        λ > 0.
    centre : array of shape (d,)
        Where the regulariser is zero. Public or released.
    size : int
        The public number of records, by which their sum is divided.
    tilt : array of shape (d,), optional
        Vector of the linear term; zero if None. What `minimise` guarantees holds for lengths up to 10⁶·clip.
    curvature : float, optional
        H > 0. None stands for 10·size·ridge, which rounds the kink that clipping makes over a tenth of
        clip/(ridge·size). More than 10⁹·ridge counts as 10⁹·ridge.

    Notes
    -----
    *Guarantee*: replacing one record by any other moves the minimiser over R^d, or over any closed convex
    set, by at most 2·clip/(ridge·size). Rows longer than 1e100 and targets beyond it count as not finite,
    rows shorter than 1e-100 as zero, labels other than 0 and 1 of a classification loss as missing.

    Examples
    --------
    >>> from tailguard.losses import Squared
    >>> F = Objective([[1.0], [2.0]], [1.0, 9.0], Squared(), clip=4.0, ridge=1.0, centre=[0.0], size=2)
    >>> F.gradient([0.0])
    array([-2.5])
    """

    rows: FloatMatrix
    targets: FloatVector
    loss: Loss
    clip: float
    ridge: float
    centre: FloatVector
    size: int
    tilt: FloatVector | None = None
    curvature: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.loss, Loss) or not self.loss.convex or self.loss.smoothness is None:
            raise refuse("loss", "Objective", "a convex loss with a bounded second derivative", self.loss)
        size = integer("size", self.size, "Objective")
        rows, targets = _records(self.rows, self.targets, size)
        tilt = None if self.tilt is None else _vector("tilt", self.tilt, rows.shape[1])
        ridge = _scale("ridge", self.ridge)
        wanted = SHARPEST * size * ridge if self.curvature is None else _scale("curvature", self.curvature)
        self._set(rows=rows, targets=targets, size=size, clip=_scale("clip", self.clip), ridge=ridge)
        self._set(centre=_vector("centre", self.centre, rows.shape[1]), tilt=tilt)
        self._set(curvature=min(wanted, STEEPEST * ridge))

    def _set(self, **fields: object) -> None:
        """Store checked fields; a frozen dataclass allows it only by this road."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def dimension(self) -> int:
        """d, the number of coefficients."""
        return int(self.rows.shape[1])

    @property
    def length(self) -> float:
        """clip/ridge, how far the records together can move the minimiser."""
        return self.clip / self.ridge

    @property
    def condition(self) -> float:
        """curvature/ridge, the largest curvature in units of the smallest."""
        return float(self.curvature or 0.0) / self.ridge

    @cached_property
    def pulled_centre(self) -> FloatVector:
        """The minimiser of regulariser and linear term together, centre − tilt/(ridge·size)."""
        return self.centre if self.tilt is None else self.centre - self.tilt / (self.ridge * self.size)

    @cached_property
    def records(self) -> Records:
        """The records as they count. Exact data: for solvers alone."""
        return prepare(self.rows, self.targets, self.loss, float(self.curvature or 0.0))

    def value(self, point: ArrayLike) -> float:
        """Return F(point)."""
        w = _vector("point", point, self.dimension)
        total = math.fsum(clipped_values(self.loss, self.records, self.clip, Anchor(self, w).base))
        linear = 0.0 if self.tilt is None else float(self.tilt @ w)
        return (total + linear) / self.size + 0.5 * self.ridge * float(np.sum((w - self.centre) ** 2))

    def gradient(self, point: ArrayLike) -> FloatVector:
        """Return ∇F(point), within `gradient_error` of the exact one."""
        w = _vector("point", point, self.dimension)
        anchor = Anchor(self, w)
        return self.clip * anchor.gradient(anchor.slopes(anchor.base), np.zeros_like(w))

    def hessian(self, point: ArrayLike) -> FloatMatrix:
        """Return an element of the generalised Hessian of F at `point`."""
        anchor = Anchor(self, _vector("point", point, self.dimension))
        return self.ridge * anchor.hessian(anchor.base)


def _records(rows: ArrayLike, targets: ArrayLike, size: int) -> tuple[FloatMatrix, FloatVector]:
    X = np.ascontiguousarray(rows, dtype=np.float64)
    y = np.ascontiguousarray(targets, dtype=np.float64)
    if X.ndim != 2 or not X.shape[1] or y.shape != X.shape[:1] or len(y) > size:
        raise DataError(f"An objective of {size} records needs a matrix of at most as many rows and a target for each.")
    return X, y


def _scale(name: str, value: float) -> float:
    return real(name, value, "Objective", at_least=1.0 / LARGEST, at_most=LARGEST)


def _vector(name: str, value: ArrayLike, dimension: int) -> FloatVector:
    vector = np.array(value, dtype=np.float64)
    if vector.shape != (dimension,) or not (np.abs(vector) <= LARGEST).all():
        raise refuse(name, "Objective", f"{dimension} finite numbers", vector.shape)
    return vector
