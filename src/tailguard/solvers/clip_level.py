"""A clip level that grows with the sample, from one noisy histogram of norms.

The best level leaves a tail mass beyond it that falls like 1/(n × budget). A released histogram shows where that much
mass lies, down to what its noise resolves; beyond that, the level is carried further out by a power of the tail.
"""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from tailguard.solvers.base import FloatVector, Query, Released, Setting
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Scalars

__all__ = ["CELLS", "ClipLevel", "clip_level"]

SUBSTEPS = 2
CELLS = (HIGH - LOW) * SUBSTEPS
"""Half octaves of every norm we look at."""

FALSE_ALARM = 1e-4
"""Probability that noise alone makes a cell look occupied: the level would be absurdly wide then."""

RESOLVED = 3.0
"""Tail masses below so many noise deviations are not read off the histogram."""


@dataclass(frozen=True)
class ClipLevel(Setting):
    """What mass may lie beyond the level.

    Parameters
    ----------
    tail : float
        Wanted mass beyond the level, as a share of n.
    order : float
        Order p of the tail by which the level is carried beyond what the histogram resolves: where mass a lies beyond
        r, mass b < a is assumed to lie beyond r·(a/b)^(1/p).
    """

    tail: float
    order: float

    def find(self, mass: FloatVector, noise: float) -> float:
        """Return the level for a released histogram of shares with this noise in each cell."""
        edges = np.exp2(LOW + np.arange(CELLS + 1) / SUBSTEPS)
        occupied = np.flatnonzero(mass > noise * -ndtri(FALSE_ALARM / CELLS))
        top = int(occupied[-1]) if occupied.size else int(np.argmax(mass))
        beyond = np.append(np.cumsum(np.maximum(mass[top::-1], 0.0))[::-1], 0.0)
        cell = int(np.flatnonzero(beyond[:-1] >= self.tail)[-1]) if beyond[0] >= self.tail else 0
        part = (beyond[cell] - self.tail) / max(beyond[cell] - beyond[cell + 1], 1e-300)
        level = edges[cell] * 2.0 ** (min(max(part, 0.0), 1.0) / SUBSTEPS)
        return float(level * max(1.0, RESOLVED * noise / self.tail) ** (1.0 / self.order))


def clip_level(step: str, scalars: Scalars, level: ClipLevel, n: int, bits: int) -> Generator[Query, Released, float]:
    """Ask for one histogram of a scalar and return the clip level.

    Parameters
    ----------
    step : str
        The plan's step, a single release of `CELLS` counts.
    scalars : Scalars
        One number per record, for instance the norm of its gradient.
    level : ClipLevel
        What mass may lie beyond.
    n, bits : int
        Number of records, and bits of the grid of counts.
    """
    reply = yield Query(step, Octaves(scalars, LOW, HIGH, SUBSTEPS, bits))
    # Whatever noise does, the level stays in a public range in which no unit overflows.
    return float(np.clip(level.find(reply.value / n, reply.noise / n), 2.0**LOW, 2.0**HIGH))
