"""Isotropic Laplace noise that is surely near an ideal real vector, whatever the random bits are.

Floats computed from finitely many bits cannot follow a density far out, and where δ = 0 "far out" cannot be forgotten.
Here every finite sample is one corner of a cell of ideal samples, and the cells are small: proof in
objective_perturbation.md.
"""

import math
from itertools import pairwise

import numpy as np

from tailguard.mechanisms.base import FloatVector, Randomness

__all__ = ["coupling_error", "isotropic_tilt"]

FINEST = 2.0**-50  # cells of an exponential variable
CELLS = 2**105  # of the unit interval, twice over: uniform numbers are odd multiples of 1/CELLS


def isotropic_tilt(dimension: int, scale: float, reach: float, randomness: Randomness) -> FloatVector:
    """Return one vector of density ∝ exp(−‖t‖₂ ÷ scale), within `coupling_error` of its ideal, or longer than `reach`.

    The radius is a sum of `dimension` exponentials, the direction uniform. Where a sample is longer than `reach`, a
    public number like the scale, its ideal may be farther away, and is longer too.
    """
    grain = _grain(scale, reach)
    return scale * grain * _steps(dimension, grain, randomness) * _direction(dimension, randomness)


def coupling_error(dimension: int, scale: float, reach: float) -> float:
    """Return how far a sample can be from its ideal if one of them is not longer than `reach`."""
    return scale * dimension * _grain(scale, reach) + reach * (math.sqrt(dimension) + 64.0) * 2.0**-52


def _grain(scale: float, reach: float) -> float:
    """Return the width of an exponential's cells: a power of two of which 2**62 are still beyond the reach."""
    return max(FINEST, math.ldexp(1.0, math.frexp(reach / scale)[1] - 62))


def _steps(dimension: int, grain: float, randomness: Randomness) -> float:
    """Return the middle of the cell of a sum of exponentials E, in grains.

    Of two-sided geometric noise X, X − 1 for X > 0 and −X otherwise have one and the same law: that of ⌊E ÷ grain⌋.
    """
    noise = randomness.laplace(np.zeros(dimension, np.int64), 1.0 / grain).tolist()
    steps: int = sum(step - 1 if step > 0 else -step for step in noise)
    return steps + 0.5 * dimension


def _direction(dimension: int, randomness: Randomness) -> FloatVector:
    """Return a uniform direction: pairs of coordinates by share and angle, and a height where one is left over.

    The squared lengths of k pairs are distributed as the gaps between k − 1 uniform numbers, and the height h of an odd
    dimension 2k + 1 has density ∝ (1 − h²)^(k−1), as 2m − 1 for the median m of 2k − 1 uniform numbers: no quotient of
    random numbers, so an error in the bits stays as small as it is.
    """
    pairs, odd = divmod(dimension, 2)
    if pairs == 0:
        return np.where(randomness.uniform(1) < 0.5, -1.0, 1.0)
    angles = 2.0 * math.pi * randomness.uniform(pairs)
    lengths = np.array([math.sqrt(gap / CELLS) for gap in _gaps(pairs, randomness)])
    flat = np.column_stack([lengths * np.cos(angles), lengths * np.sin(angles)]).ravel()
    if not odd:
        return flat
    median = sorted(_uniform(2 * pairs - 1, randomness))[pairs - 1]
    width = 2.0 * math.sqrt(median * (CELLS - median) / CELLS**2)
    return np.append(width * flat, (2 * median - CELLS) / CELLS)


def _gaps(count: int, randomness: Randomness) -> list[int]:
    cuts = [0, *sorted(_uniform(count - 1, randomness)), CELLS]
    return [high - low for low, high in pairwise(cuts)]


def _uniform(count: int, randomness: Randomness) -> list[int]:
    """Return uniform numbers as odd integers below `CELLS`, the middles of 2**104 cells."""
    halves = np.floor(np.ldexp(randomness.uniform(2 * count), 52)).astype(np.int64).tolist()
    return [2 * ((high << 52) + low) + 1 for high, low in zip(halves[::2], halves[1::2], strict=True)]
