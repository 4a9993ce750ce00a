"""Quantiles of magnitudes by one pick each: what a budget of pure ε can afford, where counts drown in noise."""

from collections.abc import Generator

import numpy as np

from tailguard.solvers.base import Query, Released
from tailguard.solvers.clip_level import CELLS, SUBSTEPS
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.ranks import Ranks
from tailguard.statistics.scalars import Scalars

__all__ = ["CANDIDATES", "rank_level"]

CANDIDATES = CELLS - 1
"""Number of entries that are picked from: half octaves, and none of them."""


def rank_level(
    step: str, scalars: Scalars, level: float, n: int, bits: int, *, otherwise: float, rare: int = 3
) -> Generator[Query, Released, float]:
    """Ask for the `level`-quantile of a scalar's magnitude and return the middle of its half octave.

    Parameters
    ----------
    step : str
        The plan's step, one pick from `CANDIDATES`.
    scalars : Scalars
        One number per record. Zeros and infinities do not count.
    level : float
        Between 0 and 1.
    n, bits : int
        Number of records, and bits of the grid of counts.
    otherwise : float
        What to return where hardly any record counts; public or released.
    rare : int, default=3
        How few are hardly any, as in `Ranks`.
    """
    ranks = Ranks(Octaves(scalars, LOW, HIGH, SUBSTEPS, bits), level, n, rare)
    reply = yield Query(step, ranks)
    index = int(np.clip(reply.value[0], 0, CANDIDATES - 1))
    return otherwise if index == CANDIDATES - 1 else float(ranks.magnitudes[index])
