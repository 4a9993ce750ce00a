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

__all__ = ["OCTAVES", "best_gain", "smoothed"]

OCTAVES = 128
"""How many octaves are looked at."""

PLACES = 4
"""Places an octave at which a law is tried."""

REACH = 16
"""Octaves to each side of a law's unit beyond which it has no mass."""

PARTS = 3
"""The most laws in a sum: zeros beside a median that is not quite 0, ones, and a tail."""


def smoothed(
    mass: FloatVector,
    first: int,
    noise: float,
    threshold: float,
    *,
    last: int = -1,
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
    shifted : bool, default=False
        Whether histograms are shifted ones.
    """
    laws, (counts, squares) = _counted(shifted), _visible(first, last, shifted)
    octaves, left, unexplained = _laws(), mass * counts, 1.0
    smooth = np.zeros(OCTAVES)
    for _ in range(PARTS):
        amounts, gains = _compared(laws, squares, left, noise, unexplained)
        if 2.0 * float(gains.max()) < (threshold / noise) ** 2:
            break
        weights = np.exp(gains - gains.max())
        weights /= weights.sum()
        part = weights * amounts
        smooth, left = smooth + part @ octaves, left - counts * (part @ laws)
        unexplained = max(unexplained - float(part.sum()), 0.0)
    smooth[:first] = smooth[last:] = 0.0
    return smooth


def best_gain(mass: FloatVector, noise: float) -> float:
    """Return the logarithm of the likelihood ratio of the law that explains shifted histograms best, against none.

    The law of numbers that are nearly all of one size is left out.

    Parameters
    ----------
    mass, noise : float64 vector, float
        As in `smoothed`.
    """
    counts, squares = _visible(1, -1, True)
    gains = _compared(_counted(True), squares, mass * counts, noise, 1.0)[1]
    return float(gains[: -OCTAVES * PLACES].max())


def _compared(
    laws: FloatMatrix, squares: FloatVector, mass: FloatVector, noise: float, most: float
) -> tuple[FloatVector, FloatVector]:
    """Return how much of every law there is, if there is no other, and logarithms of likelihood ratios."""
    found = laws @ mass
    amounts = np.clip(found / squares, 0.0, most)
    return amounts, (amounts * found - 0.5 * amounts**2 * squares) / noise**2


@lru_cache(maxsize=256)
def _visible(first: int, last: int, shifted: bool) -> tuple[FloatVector, FloatVector]:
    """Return which cells count, and the squared length of what they hold of every law."""
    octaves = np.zeros(OCTAVES)
    octaves[first:last] = 1.0
    counts = (gathered(OCTAVES) @ (1.0 - octaves) == 0.0).astype(float) if shifted else octaves
    return counts, np.maximum(_squared(shifted) @ counts, 1e-12)


@cache
def _squared(shifted: bool) -> FloatMatrix:
    return np.asarray(_counted(shifted) ** 2)


@cache
def _counted(shifted: bool) -> FloatMatrix:
    """Return what is counted of every law at every place."""
    return np.ascontiguousarray(_laws() @ gathered(OCTAVES).T) if shifted else _laws()


@cache
def _laws() -> FloatMatrix:
    """Return the masses of octaves of every law at every place."""
    edges = PLACES * np.arange(OCTAVES + 1) + REACH * PLACES
    at = np.clip(edges - np.arange(OCTAVES * PLACES)[:, np.newaxis], 0, 2 * REACH * PLACES)
    return np.concatenate([np.diff(law[at], axis=1) for law in _distribution_functions()])


def _distribution_functions() -> list[FloatVector]:
    """Return distribution functions of magnitudes, of unit scale, at the places within reach.

    They are those of Gaussian, Student's and uniform numbers, of the distance of positive ones from their median, and
    of positive ones of several widths. The narrowest is the last: all of these are nearly of one size.
    """
    size = np.exp2(np.arange(-REACH * PLACES, REACH * PLACES + 1) / PLACES)
    below = np.log(np.maximum(1.0 - size, 1e-300))
    laws = [2.0 * ndtr(size) - 1.0, 2.0 * student.cdf(size, 3) - 1.0, np.minimum(size, 1.0)]
    laws += [ndtr(np.log1p(size) / width) - ndtr(below / width) for width in (1.0, 2.0)]
    return laws + [ndtr(np.log(size) / width) for width in (2.0, 1.0, 0.6, 0.3)]
