"""Functions of a coordinatewise sum that are no sums themselves: scores to pick from, and shifted sums.

Each takes the exact integers g of an inner statistic and returns integers that move by no more than g does. Proofs:
scores.md.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tailguard._validate import integer, real, refuse
from tailguard.errors import ParameterError
from tailguard.statistics.arrays import FloatVector, IntVector, public_vector
from tailguard.statistics.base import MAX_BITS, Kernel, Norm, Source, Statistic, register, root_above
from tailguard.statistics.catoni import Catoni
from tailguard.statistics.coordinatewise import Clamped, Truncated
from tailguard.statistics.shrunken import Shrunken
from tailguard.statistics.sparse_rows import AnyRows

__all__ = ["Magnitudes", "Nearest", "Opposed", "Shifted", "Signed", "Vertices", "signed_coordinate"]

Coordinatewise: TypeAlias = Clamped | Truncated | Shrunken | Catoni
COORDINATEWISE = (Clamped, Truncated, Shrunken, Catoni)

CORNER_BITS = 16
EXCLUDED = -(2**62)
LARGEST_SHIFT = 2.0**61


@dataclass(frozen=True, eq=False)
class _Scored(Statistic):
    norms: ClassVar[tuple[Norm, ...]] = ("linf",)

    inner: Coordinatewise

    def __post_init__(self) -> None:
        if type(self.inner) not in COORDINATEWISE:  # a subclass would bring a kernel that nothing is proved about
            names = ", ".join(kind.__name__ for kind in COORDINATEWISE)
            raise refuse("inner", type(self).__name__, f"one of {names}", type(self.inner).__name__)

    @property
    def dimension(self) -> int:
        """Length of the integer vector."""
        return self.inner.dimension

    @property
    def bits(self) -> int:  # type: ignore[override]
        """No integer moves by more than 2L, L = 2**bits."""
        return self.inner.bits

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.inner.unit

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size

    def evaluate(self, source: Source) -> IntVector:
        """Return the exact integers over these records: a function of the inner sum."""
        if source.size * 2**self.bits > 2**62:
            raise ParameterError(f"{self.bits} bits could overflow a sum over {source.size} records.")
        return self._of(source.total(self.kernel()))

    def kernel(self) -> Kernel:
        """Return the kernel of the inner sum."""
        return self.inner.kernel()

    def _block(self, X: AnyRows, y: FloatVector | None) -> NDArray[np.float64 | np.int64]:
        return self.inner._block(X, y)

    @abstractmethod
    def _of(self, total: IntVector) -> IntVector:
        """Return the integers that are made of the inner sum."""


@register
@dataclass(frozen=True, eq=False)
class Opposed(_Scored):
    """−g: the score of vertex e_j of a simplex as a direction of descent.

    Parameters
    ----------
    inner : Clamped, Truncated, Shrunken or Catoni
        Gives g.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L.
    """

    kind: ClassVar[str] = "opposed scores"

    def _of(self, total: IntVector) -> IntVector:
        return -total


@register
@dataclass(frozen=True, eq=False)
class Signed(_Scored):
    """(−g, g): the scores of the vertices ±e_j of an ℓ1 ball as directions of descent.

    Entry r < d is −g_r and belongs to the vertex e_r; entry d + r is g_r and belongs to −e_r; see `signed_coordinate`.

    Parameters
    ----------
    inner : Clamped, Truncated, Shrunken or Catoni
        Gives g, of length d.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L.
    """

    kind: ClassVar[str] = "signed scores"

    @property
    def dimension(self) -> int:
        """Length of the integer vector, 2d."""
        return 2 * self.inner.dimension

    def _of(self, total: IntVector) -> IntVector:
        return np.concatenate([-total, total])


def signed_coordinate(index: int, dimension: int) -> tuple[int, float]:
    """Return coordinate and sign of the vertex that an entry of `Signed` belongs to, d = dimension.

    Examples
    --------
    >>> signed_coordinate(2, 5), signed_coordinate(7, 5)
    ((2, 1.0), (2, -1.0))
    """
    length = integer("dimension", dimension, "signed_coordinate")
    position = integer("index", index, "signed_coordinate", at_least=0, at_most=2 * length - 1)
    return position % length, 1.0 if position < length else -1.0


@register
@dataclass(frozen=True, eq=False)
class Vertices(_Scored):
    """−⟨v, g⟩ for the vertices v of a polytope: their scores as directions of descent.

    The vertices are divided by the largest ℓ1 norm among them and rounded towards 0 to multiples of 2⁻¹⁶, so that every
    score is an exact integer and moves by no more than 2L.

    Parameters
    ----------
    inner : Clamped, Truncated, Shrunken or Catoni
        Gives g, of length d; its bits are 16 fewer than those of the scores.
    corners : (k, d) matrix
        The vertices, public; the largest ℓ1 norm is between 1e-120 and 1e120.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L, L = 2**(inner.bits + 16).
    *Accuracy.* The score of a vertex is off by at most 2⁻¹⁶ of the largest ℓ1 norm times ‖g‖₁.
    """

    kind: ClassVar[str] = "vertex scores"

    corners: ArrayLike
    _steps: NDArray[np.int64] = field(init=False, repr=False)
    _length: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        corners, d = np.array(self.corners, dtype=np.float64), self.inner.dimension
        if self.inner.bits > MAX_BITS - CORNER_BITS:
            raise refuse("inner", "Vertices", f"of at most {MAX_BITS - CORNER_BITS} bits", self.inner.bits)
        if corners.ndim != 2 or corners.shape[1] != d or len(corners) < 1:
            raise refuse("corners", "Vertices", f"a matrix of {d} columns", corners.shape)
        with np.errstate(over="ignore"):
            length = float(np.abs(corners).sum(axis=1).max())
        if not 1e-120 <= length <= 1e120:
            raise refuse("corners", "Vertices", "such that the largest ℓ1 norm is between 1e-120 and 1e120", length)
        object.__setattr__(self, "_length", length)
        object.__setattr__(self, "_steps", np.trunc(corners / length * 2.0**CORNER_BITS).astype(np.int64))

    @property
    def dimension(self) -> int:
        """Number of vertices."""
        return len(self._steps)

    @property
    def bits(self) -> int:  # type: ignore[override]
        """No integer moves by more than 2L, L = 2**bits."""
        return self.inner.bits + CORNER_BITS

    @property
    def unit(self) -> float:
        """What one grid step is worth."""
        return self.inner.unit * self._length * 2.0**-CORNER_BITS

    def _of(self, total: IntVector) -> IntVector:
        return -(self._steps @ total)


@register
@dataclass(frozen=True, eq=False)
class Magnitudes(_Scored):
    """|g|, and a constant that cannot win in the coordinates that are out of the question.

    Parameters
    ----------
    inner : Clamped, Truncated, Shrunken or Catoni
        Gives g.
    excluded : vector of int, default=()
        Coordinates that must not be picked, public or released. Their entry is −2⁶²: with Gumbel noise of a scale of at
        most 2⁵⁵ grid steps no source of noise picks one while others are left (scores.md).

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L.
    """

    kind: ClassVar[str] = "magnitudes"

    excluded: ArrayLike = ()
    _excluded: IntVector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        excluded, d = np.array(self.excluded), self.inner.dimension
        whole = excluded.size == 0 or excluded.dtype.kind in "iu"
        if excluded.ndim != 1 or not whole or not np.all((excluded >= 0) & (excluded < d)):
            raise refuse("excluded", "Magnitudes", f"a vector of integers from 0 to {d - 1}", self.excluded)
        object.__setattr__(self, "_excluded", excluded.astype(np.int64))

    def _of(self, total: IntVector) -> IntVector:
        scores = np.abs(total)
        scores[self._excluded] = EXCLUDED
        return scores


@register
@dataclass(frozen=True, eq=False)
class Nearest(_Scored):
    """−|g + shift|: the best score belongs to the coordinate that is nearest to −shift.

    Parameters
    ----------
    inner : Clamped, Truncated, Shrunken or Catoni
        Gives g, for instance the slope of a risk at several points, of which the flattest is sought.
    shift : float, default=0.0
        Public or released, in the units of g; beyond ±2⁶¹ grid steps it is held there.

    Notes
    -----
    *Guarantee.* Replacing one record by any other changes each integer by at most 2L.
    """

    kind: ClassVar[str] = "nearest sums"

    shift: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        real("shift", self.shift, "Nearest")

    def _of(self, total: IntVector) -> IntVector:
        return -np.abs(total + int(min(max(round(self.shift / self.unit), -LARGEST_SHIFT), LARGEST_SHIFT)))


@register
@dataclass(frozen=True, eq=False)
class Shifted(_Scored):
    """g + shift: a sum to which a public vector is added before it is released.

    A mechanism that looks at magnitudes, such as peeling, then sees the shifted ones: w − η·gradient for a step of
    descent. The value is the inner sum plus the shift, to the nearest grid step.

    Parameters
    ----------
    inner : Clamped, Truncated, Shrunken or Catoni
        Gives g.
    shift : vector
        Public or released, finite, as long as g and in the same units; beyond ±2⁶¹ grid steps it is held there.

    Notes
    -----
    *Guarantee.* The sensitivities of the inner sum. With at most `grid_bits(n)` bits, no integer passes 2⁶² + 2⁶¹, so
    int64 cannot overflow; with a bit less none passes 2⁶², where peeling would cap it.
    """

    kind: ClassVar[str] = "shifted sum"
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

    shift: FloatVector
    _steps: IntVector = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        shift = public_vector(self.shift, self.inner.dimension)
        if shift is None or not np.all(np.isfinite(shift)):
            raise refuse("shift", "Shifted", f"a vector of {self.inner.dimension} finite numbers", self.shift)
        with np.errstate(over="ignore"):
            steps = np.clip(np.rint(shift / self.unit), -LARGEST_SHIFT, LARGEST_SHIFT)
        object.__setattr__(self, "shift", shift)
        object.__setattr__(self, "_steps", steps.astype(np.int64))

    @classmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:  # noqa: ARG003
        return 2.0 * size * {"linf": 1.0, "l2": root_above(dimension), "l1": float(dimension)}[norm]

    def _of(self, total: IntVector) -> IntVector:
        return total + self._steps
