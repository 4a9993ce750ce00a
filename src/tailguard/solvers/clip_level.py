"""A clip level that grows with the sample: a private high quantile, carried further out by a power of the tail."""

from collections.abc import Generator
from dataclasses import dataclass

from tailguard.solvers.base import Query, Released, Setting
from tailguard.solvers.quantile import LogGrid, quantile
from tailguard.statistics.scalars import Scalars

__all__ = ["NORM_GRID", "ClipLevel", "clip_level"]

NORM_GRID = LogGrid(low=-64, high=64, substeps=2, signed=False)
"""Half octaves of every norm we look at; the growth of the level makes finer steps pointless."""


@dataclass(frozen=True)
class ClipLevel(Setting):
    """Public numbers that fix a clip level up to one private quantile.

    Parameters
    ----------
    tail : float
        The quantile asked for is 1 − tail. It is not below what a noisy count can resolve.
    growth : float
        Factor on the quantile found: (tail ÷ wanted tail)^(1/order).
    """

    tail: float
    growth: float

    @classmethod
    def of(cls, wanted: float, resolved: float, order: float) -> "ClipLevel":
        """Return the level for a wanted tail mass when counts resolve masses down to `resolved`.

        With moments up to `order`, a tail of mass a at r has mass at most a·(r/s)^order at s, so the quantile of a
        smaller mass is reached by a power of the ratio.
        """
        tail = min(max(wanted, resolved), 0.5)
        return cls(tail, (tail / min(wanted, tail)) ** (1.0 / order))


def clip_level(step: str, scalars: Scalars, level: ClipLevel, n: int, bits: int) -> Generator[Query, Released, float]:
    """Ask for the quantile of one scalar and return the clip level."""
    edges = yield from quantile(step, scalars, 1.0 - level.tail, n, bits, NORM_GRID)
    # The smallest edge keeps the level positive when everything sits at 0.
    return max(float(edges[0]), 2.0**NORM_GRID.low) * level.growth
