"""A private scale for every column from one noisy histogram of octaves.

Quartiles fail where a distribution function is flat: on indicators, on zero-inflated costs, on constant columns. A
histogram of the octaves of |x − centre| does not: its significant bins say where the mass is, a winsorised root
mean square of them is a scale, and no significant bin means that there is nothing to scale. Where it is mostly noise,
usual laws that agree with it take its place. Columns that are mostly 0 are seen together where none is seen alone:
counts of words, indicators of a factor's levels are of the same sizes.
"""

from collections.abc import Callable, Generator
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from tailguard.solvers.base import FloatVector, Query, Released
from tailguard.solvers.usual_laws import smoothed
from tailguard.statistics.octaves import Octaves
from tailguard.statistics.scalars import Scalars

__all__ = ["HIGH", "LOW", "NORMALISER", "faint_scale", "spread"]

LOW, HIGH = -64, 64
"""Octaves of every magnitude we look at: 5e-20 … 2e19."""

FEWEST, MOST, FAR, CALMER = 0.3, 0.8, 2.0**6, 0.6
"""Mass at the distance of 0 from the centre that may be zeros: nearly half of a column at least, or no number next to 0
were its median; and not all of it. They are taken for zeros if the others are that much farther off. As these must be
somewhere, the threshold of their window is lower, unless the histogram is mostly noise."""

ATOM, ALONE, SPARE, NEXT, EASIER = 0.25, 0.35, 0.3, 3, 0.6
"""Least mass of an atom beside the centre; the most that is in the two octaves below it, as a part of it, where a
spread has three quarters or more, and as a part of the threshold; how many octaves it lies below the size of the
centre, and others above it, up to as many above that size; and the part of the threshold at which these are seen, as
they are sought in few cells."""

WINDOWS = (1, 3, 8)
"""Widths in octaves in which significant mass is sought; wide ones see what single bins cannot."""

LEAST, SLACK = 0.01, 0.6
"""Mass below which a window is ignored even when it is significant: it may be a few outliers; and what the mass of a
single bin may be wrong by, as a part of the threshold."""

WINSOR = 0.85
"""Share of the significant mass that is kept as it is; the rest counts as if it lay at that point."""

NORMALISER = 1.15
"""Makes the scale of a Gaussian column its standard deviation."""

FAINT = 0.02
"""Noise of a bin, as a share of the records, from which on usual laws say more than bins do."""

ZEROS, LIKELY, LOUDEST = 0.5, 2.5, 0.05
"""Least share of 0 in a column that may be seen with others, and how many deviations of noise its own mass must be
where theirs is, and none in a window beyond: a column of larger sizes spoils a fit. Where bins have more noise than the
last number, few columns are better than many."""

BESIDE, DOUBT, AROUND = 0.25, 2.0, 4
"""Scale of a column whose centre is an atom, in units of that centre; how many deviations of noise speak for one, as a
scale that is far too small spoils all columns; and in how many octaves it is seen from a centre that was rounded."""

_Scale: TypeAlias = Callable[[FloatVector, float, int], float]


def spread(
    step: str,
    scalars: Scalars,
    centre: FloatVector,
    n: int,
    bits: int,
    resolution: float,
    *,
    rounded: float = 0.0,
    within: bool = False,
    atoms: bool = True,
) -> Generator[Query, Released, FloatVector]:
    """Ask for one octave histogram of |scalar| and return a scale for each, infinite where nothing is significant.

    Parameters
    ----------
    step : str
        The plan's step, a single release.
    scalars : Scalars
        The centred numbers.
    centre : float64 vector
        What was subtracted from them; a deviation below `resolution` × |centre| is rounding of the centre.
    n, bits : int
        Number of records, and bits of the grid of counts.
    resolution : float
        Relative resolution of the centre.
    rounded : float, default=0.0
        The same where such deviations count: they may be those of an atom, and others unseen.
    within : bool, default=False
        Whether such deviations are a scale where there are no others: all numbers lie that near to the centre.
    atoms : bool, default=True
        Whether one size next to the centre, with others far beyond, is an atom and no spread.
    """
    reply = yield Query(step, Octaves(scalars, LOW, HIGH, 1, bits))
    masses = reply.value.reshape(scalars.count, HIGH - LOW) / n
    noise = reply.noise / n * (np.sqrt(2.0) if reply.exponential else 1.0)
    # One false alarm among all windows of all columns in a thousand fits.
    rare = 1e-3 / (len(WINDOWS) * masses.size)
    threshold = noise * float(-np.log(2.0 * rare) / np.sqrt(2.0) if reply.exponential else -ndtri(rare))
    floors = np.log2(np.maximum(np.abs(centre) * resolution, 2.0**LOW)) - LOW
    places = np.clip(np.frexp(centre)[1] - 1 - LOW, 0, HIGH - LOW - 1)
    rows = zip(masses, np.maximum(np.ceil(floors).astype(int), 1).tolist(), places.tolist(), strict=True)
    scale, calmer = (partial(_faint_scale, noise), 1.0) if noise > FAINT else (_scale, CALMER)
    found = []
    for mass, first, place in rows:
        one = _beyond_atom(scale, mass, threshold, first, place) if atoms else scale(mass, threshold, first)
        found.append(_without_zeros(scale, one, mass, threshold, place, calmer))
    if within:
        found = [scale(mass, threshold, 1) if np.isinf(one) else one for mass, one in zip(masses, found, strict=True)]
    seen = _seen_together(masses, np.array(found), noise, threshold)
    return _beside_atoms(masses, noise, seen, np.abs(centre), rounded) if rounded else seen


def _beside_atoms(
    masses: FloatVector, noise: float, scale: FloatVector, centre: FloatVector, rounded: float
) -> FloatVector:
    """Return larger scales for columns that may have an atom away from 0, and other numbers that are not seen.

    Numbers that lie within the rounding of the centre may all be the same. The fewer of the records they are, and the
    more are between that and the size of the centre, the nearer a scale is to that size, which spoils no other column:
    there where these make up a quarter of the records, as it was where they make up an eighth.
    """
    cells = np.arange(masses.shape[1])
    level, place = (np.log2(np.maximum(size, 2.0**LOW))[:, np.newaxis] - LOW for size in (rounded * centre, centre))
    near = (cells <= level) & (cells > level - AROUND)
    far = (cells > level) & (cells <= place + 1.0)
    all_near = (np.where(near, masses, 0.0) - np.where(far, masses, 0.0)).sum(axis=1)
    all_near = all_near - DOUBT * noise * np.sqrt((near | far).sum(axis=1))
    part = np.clip(4.0 * all_near - 2.0, 0.0, 1.0)
    small, beside = scale <= 2.0 * rounded * centre, BESIDE * centre
    return np.where(small, np.where(small, scale, 1.0) ** part * beside ** (1.0 - part), scale)


def faint_scale(mass: FloatVector, noise: float, deviations: float, first: int = 1, last: int = -1) -> float:
    """Return the scale of one column from released shares of the records in shifted histograms of octaves.

    It is infinite where nothing is seen.

    Parameters
    ----------
    mass : float64 vector
        The shares.
    noise : float
        Their deviation.
    deviations : float
        How many of them something must outweigh to be seen.
    first, last : int
        The octaves that count.
    """
    return _scale(smoothed(mass, first, noise, deviations * noise, last=last, shifted=True), 0.0, first)


def _beyond_atom(scale: _Scale, mass: FloatVector, threshold: float, first: int, place: int) -> float:
    """Return the scale of a column, or of what lies beyond an atom next to the centre, which lies in the cell `place`.

    Between two values of an indicator or a count every number has nearly the same rank, so that noise in ranks leaves a
    centre of 0.99 where most records are 1. All of these lie at one distance then, in one octave, as if they were a
    spread, and the others far beyond. Numbers that spread about a centre are in the next octaves below, too.
    """
    near = mass[1 : max(place - NEXT + 1, 1)]
    cell = 1 + int(np.argmax(near)) if near.size else 0
    below, beyond = mass[max(cell - 2, 1) : cell], mass[cell + NEXT : place + NEXT + 1]
    single = cell and mass[cell] > max(ATOM, threshold) and below.sum() < ALONE * mass[cell] + SPARE * threshold
    # Where the atom leaves nothing, nothing is beyond: all records are the same, and a window of noise is no spread.
    others_left = 1.0 - float(mass[cell]) > max(0.5 * EASIER * threshold, LEAST)
    if not single or not others_left or not _significant(beyond, EASIER * threshold).any():
        return scale(mass, threshold, first)
    cells = np.arange(mass.size)
    others = scale(np.where(cells > cell, mass, 0.0), threshold, first)
    if np.isfinite(others):
        return others
    return scale(np.where((cells > cell) & (cells <= place + NEXT), mass, 0.0), EASIER * threshold, first)


def _without_zeros(
    scale: _Scale, found: float, mass: FloatVector, threshold: float, place: int, calmer: float
) -> float:
    """Return the scale that was found, or none, if it is the distance of the zeros in the cell `place` from the centre.

    Where half of a column is 0, every number from there to the next value is a median, however small. Then nothing is
    nearer to it than the zeros, which are no spread, and all others are far beyond.
    """
    cells = np.arange(mass.size)
    nearer = _significant(np.where(cells < place, mass, 0.0), threshold).any()
    if not max(FEWEST, threshold) < mass[place] < MOST or nearer or np.isinf(found):
        return found
    beyond = np.where(cells > place, mass, 0.0)
    others, away = scale(beyond, threshold, place + 1), False
    if np.isinf(others):  # spread too thinly, perhaps; but they must be somewhere: in a window with most of them
        near = np.abs(cells - place) <= np.log2(FAR)
        away = bool(1.0 - mass[near].sum() > CALMER * threshold * np.sqrt(np.count_nonzero(near)))
        sums = _window_sums(beyond[:-1], WINDOWS[-1])
        window = cells - int(np.argmax(sums))
        if sums.max() > 0.5 * (1.0 - mass[place]):
            inside = np.where((window >= 0) & (window < WINDOWS[-1]), beyond, 0.0)
            others = scale(inside, calmer * threshold, place + 1)
    if FAR * 2.0 ** (LOW + place) < others < np.inf:
        return others
    return np.inf if away else found  # zeros are no scale, whatever the others are


def _seen_together(masses: FloatVector, scales: FloatVector, noise: float, threshold: float) -> FloatVector:
    """Return the scales, also of columns without one that together have significant mass, and some of it each.

    A column has the root mean square of all that was seen, and as much of it as its own mass tells.
    """
    lost = np.isinf(scales) & (masses[:, 0] > ZEROS)
    if noise > LOUDEST or np.count_nonzero(lost) < 2:
        return scales
    mean = masses[lost].mean(axis=0)
    mean[[0, -1]] = 0.0
    seen = _significant(mean, threshold / np.sqrt(np.count_nonzero(lost)))
    if not 0 < np.count_nonzero(seen) <= WINDOWS[-1]:  # nothing, or not of the same sizes
        return scales
    own, least = masses[:, seen].sum(axis=1), LIKELY * noise
    likely = lost & (own > least * np.sqrt(np.count_nonzero(seen)))
    beyond = masses[:, np.flatnonzero(seen)[-1] + 1 : -1]
    larger = [_window_sums(mass, WINDOWS[-1]).max(initial=0.0) > least * np.sqrt(WINDOWS[-1]) for mass in beyond]
    likely &= ~np.array(larger)
    size = _scale(np.where(seen, mean, 0.0) / max(float(mean[seen].sum()), 1e-9), 0.0, 1)
    return np.where(likely, size * np.sqrt(np.where(likely, own, 1.0)), scales)


def _faint_scale(noise: float, mass: FloatVector, threshold: float, first: int) -> float:
    """Return the scale of the usual laws that a histogram with so much noise is made of."""
    return _scale(smoothed(mass, first, noise, threshold), 0.0, first)


def _scale(mass: FloatVector, threshold: float, first: int) -> float:
    # The first cell holds the zeros: an indicator that is mostly 0 must not be scaled by them. The last one holds
    # infinities, for which no scale is large enough. What lies below the floor goes before significance is judged, or a
    # wide window would carry the noise beside it.
    cells = np.arange(mass.size)
    room = max(1.0 - float(mass[:first].max()), 0.0)
    mass = np.where((cells < first) | (cells == mass.size - 1), 0.0, mass)
    keep = _significant(mass, threshold, room)
    if not keep.any():
        return np.inf
    cumulative = np.maximum.accumulate(np.maximum(np.cumsum(np.where(keep, mass, 0.0)), 0.0))
    total = cumulative[-1]
    if total <= 0.0:
        return np.inf
    mass = np.diff(cumulative, prepend=0.0)
    cell = int(np.searchsorted(cumulative, WINSOR * total))
    below = cumulative[cell - 1] if cell else 0.0
    cut = 2.0 ** (LOW + cell + min(1.0, (WINSOR * total - below) / max(mass[cell], 1e-9)))
    middles = np.exp2(LOW + 0.5 + np.arange(mass.size))
    return float(NORMALISER * np.sqrt(np.sum(mass * np.minimum(middles, cut) ** 2) / max(total, 1.0)))


def _significant(mass: FloatVector, threshold: float, room: float = 1.0) -> NDArray[np.bool_]:
    """Return which bins lie in a window whose released mass is no accident.

    A wide window counts the mass that narrower ones have not explained, or it would carry along the noise beside a
    single occupied bin. No window holds more than the others leave, `room`: where nearly all records are 0, what fills
    eight bins is noise, and would be a scale of any size.
    """
    keep = np.zeros(mass.size, bool)
    for width in WINDOWS:
        least = threshold * np.sqrt(width)
        if least > room + SLACK * threshold:
            continue
        sums = _window_sums(np.where(keep, 0.0, mass), width)
        for start in np.flatnonzero((sums > least) & (sums > LEAST)):
            keep[start : start + width] = True
    return keep


def _window_sums(mass: FloatVector, width: int) -> FloatVector:
    return np.convolve(mass, np.ones(width), "valid") if mass.size >= width else np.zeros(0)
