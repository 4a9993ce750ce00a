"""Disjoint blocks of records, fixed by row numbers alone.

A block is an arc of a circle on which neighbouring rows are a golden section apart, so that every block is
spread evenly over the file and nothing about a record decides where it goes.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import integer, refuse
from tailguard.statistics.base import block_size

__all__ = ["WHOLE", "Block"]

LARGEST_N = 2**31
"""Row numbers times the multiplier of the permutation must fit an int64."""


@dataclass(frozen=True)
class Block:
    """Block `index` of `count` disjoint blocks that cover all rows.

    Row i of n sits at p(i) = a·i mod n, a near n/φ and coprime to n, and belongs to block ⌊p(i)·count/n⌋.
    Sizes are ⌊n/count⌋ or ⌈n/count⌉.

    Parameters
    ----------
    index : int
        0 ≤ index < count.
    count : int
        Number of blocks.
    columns : tuple of int or None, default=None
        The features that a statistic on the block sees, in this order; None is all of them.

    Examples
    --------
    >>> Block(0, 3).rows(10), Block(1, 3).rows(10), Block(2, 3).rows(10)
    (array([0, 3, 6, 9]), array([2, 5, 8]), array([1, 4, 7]))
    """

    index: int
    count: int
    columns: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        integer("count", self.count, "Block")
        integer("index", self.index, "Block", at_least=0, at_most=self.count - 1)

    def arc(self, n: int) -> tuple[int, int]:
        """Return the first position of the block and the first beyond it."""
        return -(-self.index * n // self.count), -(-(self.index + 1) * n // self.count)

    def size(self, n: int) -> int:
        """Return how many of n rows the block has."""
        return block_size(n, self.index, self.count)

    def rows(self, n: int) -> NDArray[np.int64]:
        """Return the row numbers of the block in ascending order, from its own positions alone."""
        first, end = self.arc(n)
        step = pow(_multiplier(n), -1, n) if n > 1 else 1
        return np.sort(np.arange(first, end, dtype=np.int64) * step % n)

    def mask(self, start: int, stop: int, n: int) -> NDArray[np.bool_]:
        """Return which of the rows start, …, stop − 1 belong to the block."""
        first, end = self.arc(n)
        position = np.arange(start, stop, dtype=np.int64) * _multiplier(n) % n
        return (first <= position) & (position < end)


WHOLE = Block(0, 1)
"""All records."""


@lru_cache(maxsize=64)  # thousands of groups of the same records ask for it
def _multiplier(n: int) -> int:
    """Return the number coprime to n that is nearest to n/φ."""
    if n > LARGEST_N:
        raise refuse("n", "a partition into blocks", f"at most {LARGEST_N}", n)
    middle = round(n * (math.sqrt(5) - 1) / 2)
    candidates = (a for distance in range(n + 1) for a in (middle + distance, middle - distance))
    return next(a for a in candidates if 1 <= a <= n and math.gcd(a, n) == 1)
