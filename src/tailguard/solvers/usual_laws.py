"""A histogram that is mostly noise, read as a sum of usual laws.

A single cell of a faint histogram says little. All cells together say much about where a number lies if its law is one
of the usual ones, spread over several cells in a known way: laws at all places are compared with what was released, by
least squares, and averaged as they agree with it.
"""

from functools import cache, lru_cache

import numpy as np
from scipy.special import ndtr
from scipy.stats import t as student

from tailguard.solvers.shifted import gathered
from tailguard.statistics.arrays import FloatMatrix, FloatVector

__all__ = ["OCTAVES", "SPREADS", "WIDE", "best_gain", "smoothed"]

OCTAVES = 128
"""How many octaves are looked at."""

PLACES = 4
"""Places an octave at which a law is tried."""

REACH = 16
"""Octaves to each side of a law's unit beyond which it has no mass."""

SPREADS = (True, True, True, False, False, False, False, True, True)
"""Which laws are those of distances from a middle."""

WIDE = (True, True, True, False, True, True, True, True, True)
"""Which laws are not of numbers that are nearly all of a size: narrow laws of positive ones are, and lie far from 0."""

PARTS = 3
"""The most laws in a sum: zeros beside a median that is not quite 0, ones, and a tail."""


def smoothed(
    mass: FloatVector,
    first: int,
    noise: float,
    threshold: float,
    *,
    last: int = -1,
    room: float = 1.0,
    shifted: bool = False,
) -> FloatVector:
    """Return the masses of octaves as a sum of usual laws that are significant, 0 where none is.

    Parameters
    ----------
    mass : float64 vector
        Released shares of the records, one for each octave, or of the wide cells of shifted histograms.
    first, last : int
        The first octave that counts, and the first of those at the end that do not.
    noise : float
        Deviation of a share.
    threshold : float
        What a cell must hold to be significant; a law must explain as much, in units of its own noise.
    room : float, default=1.0
        The most that all laws may hold together.
    shifted : bool, default=False
        Whether histograms are shifted ones.
    """
    laws, squares = _visible(first, last, shifted)
    octaves, left, unexplained = _laws(OCTAVES), mass, room
    smooth = np.zeros(OCTAVES)
    for _ in range(PARTS):
        amounts, gains = _compared(laws, squares, left, noise, unexplained)
        if 2.0 * float(gains.max()) < (threshold / noise) ** 2:
            break
        weights = np.exp(gains - gains.max())
        weights /= weights.sum()
        part = weights * amounts
        smooth, left = smooth + part @ octaves, left - part @ laws
        unexplained = max(unexplained - float(part.sum()), 0.0)
    smooth[:first] = smooth[last:] = 0.0
    return smooth


def best_gain(mass: FloatVector, noise: float, among: tuple[bool, ...]) -> float:
    """Return the logarithm of the likelihood ratio of the law that explains shifted histograms best, against none.

    Parameters
    ----------
    mass, noise : float64 vector, float
        As in `smoothed`.
    among : tuple of bool
        Which laws are compared: `SPREADS` or `WIDE`.
    """
    laws, squares = _visible(1, -1, True)
    kept = np.repeat(among, len(laws) // len(among))
    return float(_compared(laws[kept], squares[kept], mass, noise, 1.0)[1].max())


def _compared(
    laws: FloatMatrix, squares: FloatVector, mass: FloatVector, noise: float, most: float
) -> tuple[FloatVector, FloatVector]:
    """Return how much of every law there is, if there is no other, and logarithms of likelihood ratios."""
    found = laws @ mass
    amounts = np.clip(found / squares, 0.0, most)
    return amounts, (amounts * found - 0.5 * amounts**2 * squares) / noise**2


@lru_cache(maxsize=16)
def _visible(first: int, last: int, shifted: bool) -> tuple[FloatMatrix, FloatVector]:
    """Return what cells that count hold of every law, and its squared length."""
    laws, counts = _laws(OCTAVES), np.zeros(OCTAVES, bool)
    counts[first:last] = True
    if shifted:
        wide = gathered(OCTAVES)
        laws, counts = laws @ wide.T, ~np.any(wide[:, ~counts] > 0.0, axis=1)
    laws = np.where(counts, laws, 0.0)
    return laws, np.maximum(np.einsum("ij,ij->i", laws, laws), 1e-12)


@cache
def _laws(cells: int) -> FloatMatrix:
    """Return the masses of octaves of every law at every place."""
    edges = PLACES * np.arange(cells + 1) + REACH * PLACES
    at = np.clip(edges - np.arange(cells * PLACES)[:, np.newaxis], 0, 2 * REACH * PLACES)
    return np.concatenate([np.diff(law[at], axis=1) for law in _distribution_functions()])


def _distribution_functions() -> list[FloatVector]:
    """Return distribution functions of magnitudes, of unit scale, at the places within reach.

    They are those of Gaussian, Student's and uniform numbers, of positive ones of several widths, and of the distance
    of such from their median.
    """
    size = np.exp2(np.arange(-REACH * PLACES, REACH * PLACES + 1) / PLACES)
    laws = [2.0 * ndtr(size) - 1.0, 2.0 * student.cdf(size, 3) - 1.0, np.minimum(size, 1.0)]
    laws += [ndtr(np.log(size) / width) for width in (0.3, 0.6, 1.0, 2.0)]
    below = np.log(np.maximum(1.0 - size, 1e-300))
    return laws + [ndtr(np.log1p(size) / width) - ndtr(below / width) for width in (1.0, 2.0)]
