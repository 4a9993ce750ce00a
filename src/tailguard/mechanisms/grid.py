"""Arithmetic on the grid: scales and multipliers rounded the safe way, sums that saturate and never wrap.

Every number of this module but `value` and `noise` is public.
"""

import math

import numpy as np

from tailguard._validate import integer, real, refuse
from tailguard.mechanisms.base import FloatVector, IntVector

__all__ = ["add", "multiplier_of", "noise_scale"]

# Squares of scales between these stay far from the ends of the floats.
SMALLEST, LARGEST = 2.0**-256, 2.0**256


def noise_scale(
    owner: str,
    multiplier: float,
    sensitivity: float,
    *,
    copies: int = 1,
    at_least: float = SMALLEST,
    at_most: float = LARGEST,
) -> float:
    """Return the least float s ≥ multiplier × sensitivity × √copies, in grid units.

    Parameters
    ----------
    owner : str
        The mechanism that asks, for the error's sentence.
    multiplier, sensitivity : float
        Positive; their exact product is rounded up, so the noise is never smaller than promised.
    copies : int, default=1
        c in the factor √c between two norms.
    at_least, at_most : float
        Limits of the scale, known from public numbers alone.

    Examples
    --------
    >>> noise_scale("Laplace", 3.0, 0.5)
    1.5
    """
    m = real("multiplier", multiplier, owner, above=0.0)
    delta = real("sensitivity", sensitivity, owner, above=0.0)
    c = integer("copies", copies, owner)
    guess = m * delta * math.sqrt(c)
    if not at_least <= guess <= at_most:
        rule = f"such that the noise scale in grid units is between {at_least:g} and {at_most:g}"
        raise refuse("multiplier", owner, rule, multiplier)
    (top, bottom), (times, over) = m.as_integer_ratio(), delta.as_integer_ratio()
    return _root_above(guess, c * (top * times) ** 2, (bottom * over) ** 2)


def multiplier_of(scale: float, sensitivity: float, *, copies: int = 1) -> float:
    """Return the greatest float q with q × sensitivity × √copies ≤ scale: what noise of this scale is worth.

    It is at least the multiplier from which `noise_scale` made the scale.

    Examples
    --------
    >>> multiplier_of(noise_scale("Laplace", 0.1, 3.0), 3.0) >= 0.1
    True
    """
    (top, bottom), (times, over) = float(scale).as_integer_ratio(), float(sensitivity).as_integer_ratio()
    square = (top * over) ** 2, int(copies) * (bottom * times) ** 2
    above = _root_above(scale / (sensitivity * math.sqrt(copies)), *square)
    return above if _compared(above, *square) == 0 else math.nextafter(above, 0.0)


def add(value: IntVector, noise: FloatVector) -> IntVector:
    """Return value + round(noise), saturated at the ends of int64.

    Examples
    --------
    >>> add(np.array([2**62, -5]), np.array([1e19, 2.4])).tolist()
    [9223372036854775807, -3]
    """
    # The largest float below 2**63; a cast from beyond it is undefined.
    limit = math.nextafter(2.0**63, 0.0)
    steps = np.clip(np.rint(noise), -limit, limit).astype(np.int64)
    total = value + steps
    wrapped = ((value ^ total) & (steps ^ total)) < 0
    ends = np.iinfo(np.int64)
    return np.where(wrapped, np.where(value < 0, ends.min, ends.max), total)


def _root_above(guess: float, top: int, bottom: int) -> float:
    """Return the least float whose square is at least top ÷ bottom, from a guess a few roundings away."""
    while _compared(guess, top, bottom) < 0:
        guess = math.nextafter(guess, math.inf)
    while _compared(below := math.nextafter(guess, 0.0), top, bottom) >= 0:
        guess = below
    return guess


def _compared(root: float, top: int, bottom: int) -> int:
    """Return a number with the sign of root² − top ÷ bottom; integers, because a search for noise asks often."""
    numerator, denominator = root.as_integer_ratio()
    return numerator * numerator * bottom - top * denominator * denominator
