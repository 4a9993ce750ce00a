"""Where the targets are: a range for predictions, read off the histogram that a target's scale was taken from.

A linear model has no bounds, and a row whose columns are a hundred times larger than all others' is predicted a hundred
times farther off. The histogram shows down to its noise where targets lie. Beyond that its fall is carried on, by all
laws that agree with what was released, and the range is wide enough for nearly all of them: a tail that is cut off
costs more than one that is left too long.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TypeVar

import numpy as np
from scipy.special import ndtri

from tailguard.solvers.base import EVERYWHERE, Estimate, FloatVector, Query, Range, Released, Solve
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Target

__all__ = ["reach", "target_range", "with_range"]

S = TypeVar("S")

TAIL = 3.0
"""Wanted number of records beyond the level."""

SURE = 0.9
"""Weight of the laws that must not have more records beyond it."""

FALSE_ALARM = 1e-4
"""Probability that noise alone makes one of the cells look occupied."""

START, AHEAD = 0.3, 4
"""Laws are compared from the cell beyond whose beginning that share lies, to so many octaves beyond the last cell that
is certain."""

ROUGHNESS = 0.5
"""Relative deviation of a cell's mass from any law."""

FEWEST, LUMP = 3, 0.6
"""Fewer certain cells than that, or more mass in one of them, are atoms: they say nothing of how far others lie."""

MANY = 2.0**62
"""No grid counts more records: whatever was released, numbers stay finite."""

_ORDERS, _BENDS = (
    grid.ravel()
    for grid in np.meshgrid(
        np.append(np.linspace(0.1, 2.0, 20), np.linspace(2.2, 6.0, 20)),
        np.append(0.0, np.geomspace(0.02, 4.0, 20)),
        indexing="ij",
    )
)
"""The laws: x octaves beyond the start there are 2^−(order·x + bend·x²) times as many; power laws have no bend."""


def with_range(solve: Callable[[S], Solve]) -> Callable[[S], Solve]:
    """Make a solver's `solve` return the range of its target with the model, where it asks for "target scale"."""

    @wraps(solve)
    def ranged(self: S) -> Solve:
        return _watched(solve(self))

    return ranged


def _watched(solve: Solve) -> Solve:
    query, found = next(solve), EVERYWHERE
    while True:
        reply = yield query
        if query.step == "target scale":
            found = target_range(query, reply)
        try:
            query = solve.send(reply)
        except StopIteration as stop:
            estimate: Estimate = stop.value
            return estimate if found == EVERYWHERE else replace(estimate, prediction_range=found)


def target_range(query: Query, reply: Released) -> Range:
    """Return where the targets are, by a released histogram of |y − centre|: all numbers where it does not say.

    Parameters
    ----------
    query, reply : Query, Released
        The histogram's question, which holds the centre, and its answer.
    """
    statistic = query.statistic
    assert isinstance(statistic, Octaves)
    assert isinstance(statistic.scalars, Target)
    centre = statistic.scalars.view.target_centre
    noise = reply.noise * (math.sqrt(2.0) if reply.exponential else 1.0)
    width = reach(reply.value, noise, statistic.edges, exponential=reply.exponential)
    return (centre - width, centre + width)


def reach(
    counts: FloatVector,
    noise: float,
    edges: FloatVector,
    *,
    exponential: bool = False,
    substeps: int = 1,
    atoms: bool = True,
) -> float:
    """Return the level beyond which hardly any magnitude lies; infinite where a histogram does not say.

    Parameters
    ----------
    counts : float64 vector
        Noisy counts of cells; the first holds zeros, the last infinities.
    noise : float
        Their deviation.
    edges : float64 vector
        Where the cells begin and end.
    exponential : bool, default=False
        Whether noise has the tails of Laplace's law.
    substeps : int, default=1
        Cells in an octave.
    atoms : bool, default=True
        Whether many magnitudes may be equal.
    """
    counts = np.clip(np.nan_to_num(counts), -MANY, MANY)
    certain = np.flatnonzero(counts > noise * _deviations(counts.size, exponential))
    inner = certain[certain > 0]
    if inner.size < (FEWEST if atoms else 1) or inner[-1] == counts.size - 1:
        return math.inf
    top = int(inner[-1])
    total = float(counts[1 : top + 1].sum())
    if atoms and counts[inner].max() > LUMP * total:
        return math.inf
    above = np.cumsum(counts[top:0:-1])[::-1]  # of the cells from 1 to the top
    start = 1 + int(np.flatnonzero(above >= START * total)[-1])
    octaves = _octaves(counts[start : min(top + 1 + AHEAD * substeps, counts.size - 1)], noise, substeps)
    return float(edges[start] * 2.0 ** min(max(octaves, (top + 1.0 - start) / substeps), float(counts.size)))


def _deviations(cells: int, exponential: bool) -> float:
    """Return how many deviations of noise hardly any of so many cells has."""
    return math.log(cells / (2.0 * FALSE_ALARM)) / math.sqrt(2.0) if exponential else -float(ndtri(FALSE_ALARM / cells))


def _octaves(counts: FloatVector, noise: float, substeps: int) -> float:
    """Return how many octaves beyond the first cell's beginning laws that agree with the counts have `TAIL` records."""
    x = np.arange(counts.size + 1.0) / substeps
    shares = -np.diff(np.exp2(-(np.outer(_ORDERS, x) + np.outer(_BENDS, x**2))))
    precision = 1.0 / (noise**2 + (ROUGHNESS * np.maximum(counts, 0.0)) ** 2 + 1.0)
    amounts = np.maximum((shares * precision) @ counts / (shares**2 @ precision), 1.0)
    misfits = (counts - amounts[:, np.newaxis] * shares) ** 2 @ precision
    weights = np.exp(0.5 * (misfits.min() - misfits))
    wanted = np.log2(np.maximum(amounts / TAIL, 1.0))
    # The positive root of order·x + bend·x² = wanted, in the form that no bend leaves finite.
    far = 2.0 * wanted / (_ORDERS + np.sqrt(_ORDERS**2 + 4.0 * _BENDS * wanted))
    order = np.argsort(far)
    sums = np.cumsum(weights[order])
    return float(far[order][np.searchsorted(sums, SURE * sums[-1])])
