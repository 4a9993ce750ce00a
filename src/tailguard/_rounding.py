"""Floats on the safe side of an exact rational number."""

import math
from fractions import Fraction

__all__ = ["above", "below"]


def above(exact: Fraction) -> float:
    """Return the least float that is not smaller than a rational number.

    Examples
    --------
    >>> Fraction(above(Fraction(1, 10))) >= Fraction(1, 10), above(Fraction(1, 4))
    (True, 0.25)
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def below(exact: Fraction) -> float:
    """Return the greatest float that is not larger than a rational number.

    Examples
    --------
    >>> Fraction(below(Fraction(1, 10))) <= Fraction(1, 10), below(Fraction(1, 4))
    (True, 0.25)
    """
    return -above(-exact)
