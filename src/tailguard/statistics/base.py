"""What a statistic is: a sum over records of bounded contributions, exact on a public grid of integers.

Fields of a statistic are public or released numbers; the arguments of its kernel are records. For any two
data sets that differ in one record, with any values at all, the integer sums differ by at most
`sensitivity(norm)`. A few statistics are no sums (medians of groups, minimisers); the same holds for their integers.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import choice, integer, real, refuse
from tailguard.errors import ParameterError
from tailguard.statistics import passes
from tailguard.statistics.arrays import FloatMatrix, FloatVector, IntVector
from tailguard.statistics.kernels import MAX_ROWS
from tailguard.statistics.sparse_rows import AnyRows

__all__ = [
    "BLOCK_BYTES",
    "MAX_BITS",
    "Kernel",
    "Norm",
    "Source",
    "Statistic",
    "block_size",
    "grid_bits",
    "register",
    "statistic_type",
]

Norm = Literal["l1", "l2", "linf", "tilt"]
Kernel: TypeAlias = Callable[[AnyRows, FloatVector | None], IntVector]
S = TypeVar("S", bound="type[Statistic]")

MAX_BITS = 40
BLOCK_BYTES = 2**21
"""Bytes of rows that a kernel sees at once: small enough for the cache, where its second pass should find them, and
large enough to outweigh a dozen microseconds of Python a block. Measured best from 1 to 2 MiB."""

_kinds: dict[str, type["Statistic"]] = {}


def grid_bits(n: int) -> int:
    """Return how many bits a contribution may have, so that n of them never overflow an int64.

    Examples
    --------
    >>> grid_bits(20_000), grid_bits(10**9)
    (40, 32)
    """
    count = integer("n", n, "grid_bits", at_most=2**61)
    return min(MAX_BITS, 62 - (count - 1).bit_length())


def block_size(n: int, index: int, count: int) -> int:
    """Return the size of block `index` when n rows are cut into `count` blocks: ⌊n/count⌋ or ⌈n/count⌉."""
    return -(-(index + 1) * n // count) + (-index * n // count)


class Source(Protocol):
    """Records that a statistic can be summed over, and that can be split without looking at them."""

    @property
    def size(self) -> int:
        """Number of records; public."""

    def total(self, kernel: Kernel) -> IntVector:
        """Return the sum of a kernel over the records."""

    def split(self, count: int) -> "Sequence[Source]":
        """Return disjoint parts that cover the records; sizes differ by at most one."""

    def gather(self) -> tuple[FloatMatrix, FloatVector | None]:
        """Return all records at once, for statistics that are no sums."""


def register(statistic: S) -> S:
    """Make a statistic known by its kind (a class decorator); no kind can be taken over."""
    known = _kinds.setdefault(statistic.kind, statistic)
    if (known.__module__, known.__qualname__) != (statistic.__module__, statistic.__qualname__):
        raise refuse("kind", statistic.__name__, "a name that no other statistic has", statistic.kind)
    _kinds[statistic.kind] = statistic
    return statistic


def statistic_type(kind: str) -> type["Statistic"]:
    """Return the statistic of this kind."""
    return _kinds[choice("kind", kind, "statistic_type", sorted(_kinds))]


def root_above(number: int) -> float:
    """Return √number, rounded up where it is no float."""
    root = math.sqrt(number)
    return root if math.isqrt(number) ** 2 == number else math.nextafter(root, math.inf)


class Statistic(ABC):
    """A bounded sum over records. Subclasses are frozen dataclasses, final, and registered.

    Attributes
    ----------
    kind : str
        Unique name, by which plans refer to the class.
    norms : tuple of {"l1", "l2", "linf", "tilt"}
        Norms in which a sensitivity is offered. "tilt" measures linear terms of an objective (`PerturbedMinimiser`).
    bits : int
        A contribution has at most L = 2**bits grid units; from 1 to 40, and at most `grid_bits(n)` for n
        records.
    """

    kind: ClassVar[str]
    norms: ClassVar[tuple[Norm, ...]]
    bits: int

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length of the integer vector."""

    @property
    @abstractmethod
    def unit(self) -> float:
        """What one grid step is worth: value = integers × unit."""

    @property
    def parts(self) -> int:
        """Number of equal parts of the integer vector in which a record counts once each; mostly 1."""
        return 1

    @classmethod
    @abstractmethod
    def _sensitivity(cls, norm: Norm, dimension: int, size: int, parts: int) -> float:
        """Return the sensitivity for L = size, in a norm that is offered."""

    @classmethod
    def sensitivity_of(cls, norm: Norm, dimension: int, bits: int, parts: int | None = None) -> float:
        """Return the sensitivity in grid units for replacing one record by any other.

        Parameters
        ----------
        norm : {"l1", "l2", "linf", "tilt"}
            One of `norms`.
        dimension : int
            Length of the integer vector.
        bits : int
            L = 2**bits.
        parts : int, optional
            `Statistic.parts`. Only counts of octaves and of cells depend on it; None stands for the largest it can be.
        """
        offered = choice("norm", norm, f"the {cls.kind}", cls.norms)
        length = integer("dimension", dimension, f"the {cls.kind}")
        size = 2 ** integer("bits", bits, f"the {cls.kind}", at_most=MAX_BITS)
        count = length if parts is None else integer("parts", parts, f"the {cls.kind}", at_most=length)
        return cls._sensitivity(offered, length, size, count)  # type: ignore[arg-type]

    def sensitivity(self, norm: Norm) -> float:
        """Return the sensitivity in grid units for replacing one record by any other."""
        return self.sensitivity_of(norm, self.dimension, self.bits, self.parts)

    def evaluate(self, source: Source) -> IntVector:
        """Return the exact integers over these records; mostly the sum of the kernel."""
        return source.total(self.kernel())

    def kernel(self) -> Kernel:
        """Return the function that sums the contributions of a chunk of raw records (X, y)."""
        return self._sum

    def _sum(self, X: AnyRows, y: FloatVector | None) -> IntVector:
        row_bytes = 8 * max(1, passes.width(X, self._width(X.shape[1])))
        step = min(MAX_ROWS, max(1, BLOCK_BYTES // row_bytes))
        X = passes.guarded(X)
        total: IntVector | None = None
        with np.errstate(all="ignore"):  # a warning would tell of a value
            for start in range(0, len(X), step):
                part = slice(start, start + step)
                added = self._block(X[part], None if y is None else y[part]).astype(np.int64, copy=False)
                # The first block's own array: a histogram of many columns should not be in memory twice.
                total = added if total is None else np.add(total, added, out=total)
        return np.zeros(self.dimension, np.int64) if total is None else total

    def _width(self, d: int) -> int:
        """Return how many floats a sparse record of d features becomes on the way; 0 where it stays sparse."""
        return d

    def _block(self, X: AnyRows, y: FloatVector | None) -> NDArray[np.float64 | np.int64]:  # noqa: ARG002
        """Return the integer sum over at most `MAX_ROWS` records, in a new array."""
        raise ParameterError(f"The {self.kind} is no sum over records.")


def checked_bits(bits: int, dimension: int, owner: str) -> int:
    """Return `bits` if 2**bits is at least √dimension: then rounding costs at most half of a contribution."""
    number = integer("bits", bits, owner, at_most=MAX_BITS)
    if 4**number < dimension:
        raise refuse("bits", owner, f"such that 4**bits is at least the dimension {dimension}", bits)
    return number


def checked_scale(name: str, value: float, owner: str) -> float:
    """Return a threshold or radius for which no quotient of a kernel leaves the range of normal floats."""
    return real(name, value, owner, at_least=1e-120, at_most=1e120)
