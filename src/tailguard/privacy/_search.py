"""Two searches on a line, used by the accountants."""

import math
from collections.abc import Callable

__all__ = ["crossing", "smallest"]


def smallest(holds: Callable[[float], bool], low: float, high: float, tolerance: float = 1e-12) -> float:
    """Return the smallest point of [low, high] at which a monotone condition holds, by bisection of the logarithm.

    The condition holds at the point returned, which is at most a factor 1 + `tolerance` too large, and is assumed to
    hold at `high`.
    """
    if holds(low):
        return low
    below, above = math.log(low), math.log(high)
    best = high
    while above - below > tolerance:
        middle = 0.5 * (below + above)
        point = math.exp(middle)
        if holds(point):
            best, above = point, middle
        else:
            below = middle
    return best


def crossing(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Return where a decreasing function crosses zero in [low, high], or the end that is nearest to it."""
    from scipy.optimize import brentq  # a tenth of a second to import

    if function(low) <= 0.0:
        return low
    if function(high) >= 0.0:
        return high
    return float(brentq(function, low, high, xtol=tolerance))
