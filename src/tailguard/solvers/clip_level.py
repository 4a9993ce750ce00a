"""A clip level that grows with the sample, from one noisy histogram of norms.

The best level leaves a tail mass beyond it that falls like 1/(n × budget). A released histogram shows where that much
mass lies, down to what its noise resolves; beyond that, the level follows the power law of the last resolved octave.
"""

import math
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
"""More mass than so many noise deviations would have been seen."""

LIGHTEST = 8.0
"""Largest tail order that is read off a histogram: beyond it the level hardly moves any more."""


@dataclass(frozen=True)
class ClipLevel(Setting):
    """What mass may lie beyond the level.

    Parameters
    ----------
    tail : float
        Wanted mass beyond the level, as a share of n.
    order : float
        Least tail order to believe. Beyond what the histogram resolves, the level is carried out by the power law that
        its last resolved octave shows: where mass a lies beyond r, mass b < a is taken to lie beyond r·(a/b)^(1/order).
    cap : float
        The level is at most so many medians. Without a mean, noise has no tail mass that is small enough.
    """

    tail: float
    order: float = 2.0
    cap: float = math.inf

    def find(self, mass: FloatVector, noise: float) -> float:
        """Return the level for a released histogram of shares with this noise in each cell."""
        level = self._beyond(mass, noise, self.tail)
        return level if self.cap == math.inf else min(level, self.cap * self._beyond(mass, noise, 0.5))

    def _beyond(self, mass: FloatVector, noise: float, tail: float) -> float:
        """Return beyond what this share of the mass lies."""
        edges = np.exp2(LOW + np.arange(CELLS + 1) / SUBSTEPS)
        mass = mass[:-1]  # the last cell holds infinities, which contribute nothing
        occupied = np.flatnonzero(mass > noise * -ndtri(FALSE_ALARM / CELLS))
        top = int(occupied[-1]) if occupied.size else int(np.argmax(mass))
        beyond = np.append(np.cumsum(np.maximum(mass[top::-1], 0.0))[::-1], 0.0)
        if beyond[top] > tail:
            order = min(max(np.log2(beyond[max(top - SUBSTEPS, 0)] / beyond[top]), self.order), LIGHTEST)
            unseen = min(beyond[top] * 2.0 ** (-order / SUBSTEPS), RESOLVED * noise)
            return float(edges[top + 1] * max(1.0, unseen / tail) ** (1.0 / order))
        enough = np.flatnonzero(beyond[:top] >= tail)
        cell = int(enough[-1]) if enough.size else 0
        part = (beyond[cell] - tail) / max(beyond[cell] - beyond[cell + 1], 1e-300)
        return float(edges[cell] * 2.0 ** (min(max(part, 0.0), 1.0) / SUBSTEPS))


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
