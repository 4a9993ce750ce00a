"""Moments of heavy-tailed laws in closed form."""

import math

from scipy.special import gamma


def student_moment(freedom: float, order: float) -> float:
    """Return E|t|^order of Student's t, for order < freedom."""
    top = freedom ** (order / 2) * gamma((order + 1) / 2) * gamma((freedom - order) / 2)
    return float(top / (math.sqrt(math.pi) * gamma(freedom / 2)))
