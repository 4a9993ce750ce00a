"""Quantiles by one pick each from a fine grid: of magnitudes, and of signed numbers."""

from collections.abc import Generator

import numpy as np

from tailguard.solvers.base import Query, Released
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.ranks import LEVEL_BITS, Ranks
from tailguard.statistics.scalars import Scalars
from tailguard.statistics.signed_ranks import Halves, SignedRanks

__all__ = [
    "FINE",
    "FINELY_SIGNED",
    "HIGHEST",
    "MAGNITUDES",
    "SIGNED",
    "STEP",
    "SUBSTEPS",
    "magnitude",
    "signed_median",
]

SUBSTEPS, FINE = 16, 64
"""Cells an octave; those of units have 1 % of what is in them."""

STEP = 2.0 ** (0.5 / SUBSTEPS)
"""From the middle of a cell to its end, as a factor."""

MAGNITUDES, SIGNED, FINELY_SIGNED = (HIGH - LOW) * SUBSTEPS - 1, 2 * (HIGH - LOW) * SUBSTEPS, 2 * (HIGH - LOW) * FINE
"""How many entries a magnitude and a signed number are picked from."""

HIGHEST = 1.0 - 2.0 ** (1 - LEVEL_BITS)
"""Highest quantile that is sought. The next but one on the grid of levels is 1: every cell beyond the largest magnitude
is as good as its own then, and one of them is picked."""


def magnitude(step: str, scalars: Scalars, level: float, n: int, bits: int) -> Generator[Query, Released, float]:
    """Ask for the `level`-quantile of a scalar's magnitude and return it, or 0 where hardly any record has one.

    The plan's step is one pick of `MAGNITUDES` rank distances. Zeros and infinities do not count.
    """
    ranks = Ranks(Octaves(scalars, LOW, HIGH, SUBSTEPS, bits), min(level, HIGHEST), n)
    reply = yield Query(step, ranks)
    index = int(np.clip(reply.value[0], 0, MAGNITUDES - 1))
    return 0.0 if index == MAGNITUDES - 1 else float(ranks.magnitudes[index])


def signed_median(
    step: str, scalars: Scalars, n: int, bits: int, substeps: int = SUBSTEPS, prior: float = 0.0
) -> Generator[Query, Released, float]:
    """Ask for the median of a scalar and return it.

    The plan's step is one pick of `SIGNED` rank distances, or of `FINELY_SIGNED` for `FINE` cells an octave. Every
    other number must be `prior` records ahead of 0.
    """
    ranks = SignedRanks(Octaves(Halves(scalars), LOW, HIGH, substeps, bits), 0.5, n, prior)
    reply = yield Query(step, ranks)
    index = int(np.clip(reply.value[0], 0, ranks.dimension - 1))
    return float(np.append(ranks.points, 0.0)[index])
