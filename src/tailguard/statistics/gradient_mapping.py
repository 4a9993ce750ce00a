"""How far each point of a net is from a minimiser, by its clipped gradient mapping. Proof: gradient_mapping.md."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailguard._validate import integer, real, refuse
from tailguard.domains.box import Box
from tailguard.domains.l2_ball import L2Ball
from tailguard.errors import ParameterError
from tailguard.losses.base import Loss, RecordLoss
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector, frozen
from tailguard.statistics.base import Kernel, Norm, Source, Statistic, checked_bits, checked_scale, register
from tailguard.statistics.clipped import Clipped, inner_bound
from tailguard.statistics.fields import RecordGradient, point_of
from tailguard.statistics.net_kernels import add_clipped, products
from tailguard.statistics.sparse_rows import AnyRows
from tailguard.statistics.view import View

__all__ = ["CELLS", "GradientMapping", "Region", "net_of", "zeros_for"]

Region: TypeAlias = Box | L2Ball

FAR = 2.0**61
"""Public numbers of the score are held inside ±FAR grid steps, so that no sum of them overflows."""

CELLS = 2**17
"""Records × points that are in memory at once."""

LONGEST = 2**62
"""So is a score: a shorter one is no more sensitive."""


@register
@dataclass(frozen=True, eq=False)
class GradientMapping(Statistic):
    """−size·‖w − Π_W(w − γ·(ḡ(w) + λ(w − c)))‖/γ for every point w of a net (Lowy 2026, Algorithm 5).

    ḡ is the mean of the gradients at w, each clipped to the threshold in ℓ2. The score is 0 exactly at the minimiser of
    the clipped, regularised objective over W, if there is one, and with Gumbel noise the largest score is the
    exponential mechanism over the net.

    Parameters
    ----------
    view : View
        Makes z and t.
    loss : Loss or RecordLoss
        Gives the gradients.
    points : (N, k) matrix
        The net, public or released.
    threshold : float
        C, where gradients are clipped; public or released.
    bits : int
        C is L = 2**bits grid steps.
    size : int
        Number of records, public.
    region : Box or L2Ball
        W, of dimension k.
    step : float
        γ, public: Lowy 2026, Proposition E.4 takes it from the data, which is not private.
    ridge : float, default=0.0
        λ.
    centre : vector or None, default=None
        c, public or released; None is 0.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L + 2.
    """

    kind: ClassVar[str] = "gradient mapping scores"
    norms: ClassVar[tuple[Norm, ...]] = ("linf",)

    view: View
    loss: Loss | RecordLoss
    points: ArrayLike
    threshold: float
    bits: int
    size: int
    region: Region
    step: float
    ridge: float = 0.0
    centre: ArrayLike | None = None
    _points: FloatMatrix = field(init=False, repr=False)
    _centre: FloatVector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        owner, k = type(self).__name__, self.region.dimension
        if type(self.region) not in (Box, L2Ball):  # a subclass would bring a projection that nothing is proved about
            raise refuse("region", owner, "a Box or an L2Ball", type(self.region).__name__)
        object.__setattr__(self, "_points", net_of(self.points, k, owner))
        object.__setattr__(self, "_centre", point_of(zeros_for(self.centre, k), k, owner))
        if isinstance(self.loss, Loss) and self.view.dimension != k:
            raise refuse("region", owner, f"of dimension {self.view.dimension}", k)
        checked_bits(self.bits, k, owner)
        checked_scale("threshold", self.threshold, owner)
        checked_scale("step", self.step, owner)
        real("ridge", self.ridge, owner, at_least=0.0, at_most=1e120)
        integer("size", self.size, owner)

    @property
    def dimension(self) -> int:
        """Number of points."""
        return len(self._points)

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.threshold * 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size + 2.0

    def evaluate(self, source: Source) -> IntVector:
        """Return the exact integers over these records: a function of the clipped gradient sums."""
        if source.size * 2**self.bits > 2**62:
            raise ParameterError(f"{self.bits} bits could overflow a sum over {source.size} records.")
        return self._of(source.total(self.kernel()))

    def kernel(self) -> Kernel:
        """Return the kernel of the clipped gradient sums, point after point."""
        return self._gradients.kernel()

    @cached_property
    def _gradients(self) -> "_Gradients":
        return _Gradients(self.view, self.loss, self._points, self.threshold, self.bits)

    def _block(self, X: AnyRows, y: FloatVector | None) -> NDArray[np.float64 | np.int64]:
        return self._gradients._block(X, y)

    def _of(self, total: IntVector) -> IntVector:
        sums = total.reshape(self._points.shape) + self._steps(self.ridge * (self._points - self._centre))
        if isinstance(self.region, Box):
            low, high = np.array(self.region.low), np.array(self.region.high)
            ends = (self._steps((self._points - end) / self.step) for end in (high, low))
            moved = np.clip(sums, *ends)
            return np.array([-min(_length(row), LONGEST) for row in moved.tolist()], np.int64)
        places = self._steps((self._points - zeros_for(self.region.centre, sums.shape[1])) / self.step)
        radius = int(self._steps(np.array(self.region.radius / self.step)))
        lengths = (_length_in_ball(*pair, radius) for pair in zip(sums.tolist(), places.tolist(), strict=True))
        return np.array([-min(length, LONGEST) for length in lengths], np.int64)

    def _steps(self, values: NDArray[np.float64]) -> IntVector:
        """Return public numbers of a mean as grid steps of a sum."""
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.clip(np.rint(values * (self.size / self.unit)), -FAR, FAR)
        return np.asarray(np.nan_to_num(steps).astype(np.int64))


@dataclass(frozen=True, eq=False)
class _Gradients(Statistic):
    """Clipped gradient sums at many points, one after the other; each is a `Clipped` sum with its sensitivity."""

    kind: ClassVar[str] = "clipped sums at many points"
    norms: ClassVar[tuple[Norm, ...]] = ()

    view: View
    loss: Loss | RecordLoss
    points: FloatMatrix
    threshold: float
    bits: int

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return int(self.points.size)

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.threshold * 2.0**-self.bits

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return math.inf  # never released itself: it offers no norm

    def _width(self, d: int) -> int:  # noqa: ARG002
        return self.view.dense_width

    def _block(self, X: AnyRows, y: FloatVector | None) -> FloatVector:
        if isinstance(self.loss, Loss):
            return self._of_predictions(self.loss, X, y)
        fields = (RecordGradient(self.view, self.loss, point) for point in self.points)
        return np.concatenate([Clipped(field, self.threshold, self.bits)._block(X, y) for field in fields])

    def _of_predictions(self, loss: Loss, X: AnyRows, y: FloatVector | None) -> FloatVector:
        """Return the same for a loss of predictions, for many points in one pass."""
        rows, targets = self.view.dense(X), self.view.target(y)[:, None]
        squares, bound = passes.squares(rows), inner_bound(rows.shape[1], self.bits)
        sums, most = [], max(1, CELLS // max(1, len(rows)))
        for start in range(0, len(self.points), most):
            predictions = products(rows, self.points[start : start + most])
            slopes = loss.derivative(predictions, targets)
            if slopes.shape != predictions.shape:
                raise ParameterError("A loss must return one derivative per record, and a record has one target.")
            sums.append(add_clipped(rows, squares, frozen(slopes), self.unit, bound).ravel())
        return np.concatenate(sums)


def net_of(points: ArrayLike, dimension: int, owner: str) -> FloatMatrix:
    """Return a net as a read-only matrix, or refuse it."""
    net = np.array(points, dtype=np.float64)
    if net.ndim != 2 or net.shape[1] != dimension or not len(net) or not np.all(np.isfinite(net)):
        raise refuse("points", owner, f"a matrix of {dimension} columns of finite numbers", net.shape)
    return frozen(net)


def zeros_for(vector: ArrayLike | None, length: int) -> FloatVector:
    """Return a vector that may be left out."""
    return np.zeros(length) if vector is None else np.asarray(vector, dtype=np.float64)


def _length(row: list[int]) -> int:
    """Return ⌊‖row‖₂⌋ exactly."""
    return math.isqrt(sum(entry * entry for entry in row))


def _length_in_ball(sums: list[int], place: list[int], radius: int) -> int:
    """Return ‖a − Π(a − v)‖₂ for v = sums, a = place and the ball of this radius around 0, rounded to a neighbour.

    ‖a − ρy/‖y‖‖² = ‖a‖² + ρ² − 2ρ⟨a, y⟩/‖y‖ with y = a − v; the quotient is rounded down once its divisor is known to
    200 bits below the point.
    """
    target = [a - v for a, v in zip(place, sums, strict=True)]
    square = sum(entry * entry for entry in target)
    if square <= radius * radius:
        return _length(sums)
    product = 2 * radius * sum(a * y for a, y in zip(place, target, strict=True))
    quotient = (product << 200) // math.isqrt(square << 400)
    return math.isqrt(max(0, sum(a * a for a in place) + radius * radius - quotient))
