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

PULL = 0.25
"""How much less likely a magnitude is for each octave, in logarithms, where one is likely."""


def rank_level(
    step: str,
    scalars: Scalars,
    level: float,
    n: int,
    bits: int,
    *,
    otherwise: float,
    rare: int = 3,
    near: float = 1.0,
    noise: float = 0.0,
    missing: float | None = None,
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
    near : float, default=1.0
        A likely magnitude, public or released.
    noise : float, default=0.0
        The noise of the pick, in records; that many times `PULL` an octave farther from it must win. 0 for no such
        preference.
    missing : float or None, default=None
        What to return where more than half of the records have no number, or an infinite one. None for not to ask: else
        the plan's step has one candidate more.
    """
    histogram = Octaves(scalars, LOW, HIGH, SUBSTEPS, bits)
    ranks = Ranks(histogram, level, n, rare, near, min(PULL * noise, float(n)), missing is not None)
    reply = yield Query(step, ranks)
    index = int(np.clip(reply.value[0], 0, ranks.dimension - 1))
    if missing is not None and index == CANDIDATES:
        return missing
    return otherwise if index == CANDIDATES - 1 else float(ranks.magnitudes[index])
