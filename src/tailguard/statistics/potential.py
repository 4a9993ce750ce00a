"""The loss of each point of a net, with slopes held down, compared to an anchor. Proof: potential.md."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailguard._validate import integer, real, refuse
from tailguard.errors import ParameterError
from tailguard.losses.base import Loss
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector
from tailguard.statistics.base import Norm, Source, Statistic, checked_bits, checked_scale, register
from tailguard.statistics.fields import point_of
from tailguard.statistics.gradient_mapping import CELLS, net_of, zeros_for
from tailguard.statistics.kernels import LARGEST_SQUARE, SMALLEST_SQUARE
from tailguard.statistics.net_kernels import products
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["Potential", "clipped_loss", "slope_range"]

FAR = 2.0**61
"""The regulariser is held inside ±FAR grid steps, so that no sum overflows."""

_LAST = int(np.float64(np.finfo(np.float64).max).view(np.int64))  # number of the largest float


@register
@dataclass(frozen=True, eq=False)
class Potential(Statistic):
    """−Σ (f_C(w) − f_C(u)) − size·(λ/2)·(‖w − c‖² − ‖u − c‖²) for every point w of a net (Lowy 2026, Algorithms 6, 7).

    f_C is a record's loss with its slope held so that ‖∇f_C‖ ≤ C: the largest convex function below the loss that is
    C-Lipschitz over R^k. The anchor u changes no difference of two scores; measured from it, a record counts boundedly.

    Parameters
    ----------
    view : View
        Makes z and t.
    loss : Loss
        Convex.
    points : (N, k) matrix
        The net, public or released.
    clip : float
        C, public or released.
    bits : int
        C·max ‖w − u‖ is L = 2**bits grid steps.
    size : int
        Number of records, public.
    anchor : vector
        u, public or released; not the only point of the net.
    ridge : float, default=0.0
        λ.
    centre : vector or None, default=None
        c, public or released; None is 0.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L.
    """

    kind: ClassVar[str] = "potential scores"
    norms: ClassVar[tuple[Norm, ...]] = ("linf",)

    view: View
    loss: Loss
    points: ArrayLike
    clip: float
    bits: int
    size: int
    anchor: ArrayLike
    ridge: float = 0.0
    centre: ArrayLike | None = None
    _points: FloatMatrix = field(init=False, repr=False)
    _anchor: FloatVector = field(init=False, repr=False)
    _centre: FloatVector = field(init=False, repr=False)
    _reach: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        owner, k = type(self).__name__, self.view.dimension
        if not isinstance(self.loss, Loss) or not self.loss.convex:
            raise refuse("loss", owner, "a convex Loss", type(self.loss).__name__)
        object.__setattr__(self, "_points", net_of(self.points, k, owner))
        object.__setattr__(self, "_anchor", point_of(zeros_for(self.anchor, k), k, owner))
        object.__setattr__(self, "_centre", point_of(zeros_for(self.centre, k), k, owner))
        with np.errstate(over="ignore"):
            reach = float(np.linalg.norm(self._points - self._anchor, axis=1).max())
        object.__setattr__(self, "_reach", checked_scale("points", reach, owner))
        checked_bits(self.bits, 1, owner)
        checked_scale("clip", self.clip, owner)
        real("ridge", self.ridge, owner, at_least=0.0, at_most=1e120)
        integer("size", self.size, owner)

    @property
    def dimension(self) -> int:
        """Number of points."""
        return len(self._points)

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.clip * self._reach * 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size

    def evaluate(self, source: Source) -> IntVector:
        """Return the exact integers over these records: a sum and a public shift."""
        if source.size * 2**self.bits > 2**62:
            raise ParameterError(f"{self.bits} bits could overflow a sum over {source.size} records.")
        return source.total(self.kernel()) - self._shift

    @property
    def _shift(self) -> IntVector:
        squares = [np.square(np.atleast_2d(at) - self._centre).sum(axis=1) for at in (self._points, self._anchor)]
        with np.errstate(over="ignore", invalid="ignore"):
            steps = 0.5 * self.ridge * (squares[0] - squares[1]) * (self.size / self.unit)
        return np.asarray(np.nan_to_num(np.clip(np.rint(steps), -FAR, FAR)).astype(np.int64))

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.view.dense_width

    def _block(self, X: AnyRows, y: FloatVector | None) -> NDArray[np.float64 | np.int64]:
        rows, targets = self.view.dense(X), self.view.target(y)
        squares = passes.squares(rows)
        counts = (squares >= SMALLEST_SQUARE) & (squares <= LARGEST_SQUARE)
        limits = self.clip / np.sqrt(np.where(counts, squares, 1.0))
        low, high = slope_range(self.loss, limits, targets)
        total, most = np.zeros(self.dimension), max(1, CELLS // max(1, len(rows)))

        def losses(points: FloatMatrix) -> FloatMatrix:
            bounds = (part[:, None] for part in (limits, low, high, targets))
            return clipped_loss(self.loss, products(rows, points), *bounds)

        base = losses(np.atleast_2d(self._anchor))
        for start in range(0, self.dimension, most):
            part = slice(start, start + most)
            steps = np.clip((base - losses(self._points[part])) / self.unit, -(2.0**self.bits), 2.0**self.bits)
            known = counts[:, None] & np.isfinite(steps)
            total[part] = np.rint(np.where(known, steps, 0.0)).sum(axis=0)
        return total


def slope_range(loss: Loss, limits: FloatVector, targets: FloatVector) -> tuple[FloatVector, FloatVector]:
    """Return for each record the smallest and largest prediction at which the slope of a convex loss is within ±limit.

    Found by bisection over all floats, to the last bit; ±1.8e308 where there is no end.
    """
    low = _last(lambda p: loss.derivative(p, targets) < -limits, limits.size)
    high = _last(lambda p: loss.derivative(p, targets) <= limits, limits.size)
    return low, high


def clipped_loss(
    loss: Loss, predictions: FloatMatrix, limits: FloatMatrix, low: FloatMatrix, high: FloatMatrix, targets: FloatMatrix
) -> FloatMatrix:
    """Return φ between `low` and `high` and its tangent of slope ±limit beyond."""
    inside = np.clip(predictions, low, high)
    return np.asarray(loss.value(inside, targets) + limits * np.abs(predictions - inside))


def _last(holds: Callable[[FloatVector], NDArray[np.bool_]], size: int) -> FloatVector:
    """Return in each place the last float for which a condition holds that holds up to some float and not beyond."""
    yes, no = np.full(size, -_LAST), np.full(size, _LAST)
    for _ in range(64):
        middle = yes // 2 + no // 2 + (yes & no & 1)
        up = holds(_number(middle))
        yes, no = np.where(up, middle, yes), np.where(up, no, middle)
    return np.where(holds(_number(no)), _number(no), _number(yes))


def _number(order: IntVector) -> FloatVector:
    """Return the floats of these numbers in the order of all floats, in which 0 is number 0."""
    return np.copysign(np.abs(order).view(np.float64), order)
