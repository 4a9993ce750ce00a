"""Searches on a line, used by the accountants."""

import math
from collections.abc import Callable

__all__ = ["Inside", "crossing", "smallest"]

_SECANTS, _LEAP = 12, 6.0  # a few are enough; one moves by no more than this in the logarithm


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


class Inside:
    """Whether a decreasing cost is at most a target, computed only where earlier answers do not imply it.

    Parameters
    ----------
    cost : callable
        Maps a scale to a cost that does not grow with it; it may be infinite.
    target : float
        The largest cost that counts as inside.
    """

    def __init__(self, cost: Callable[[float], float], target: float) -> None:
        self._cost, self._target = cost, target
        self._outside, self._inside = 0.0, math.inf

    def __call__(self, scale: float) -> bool:
        """Return whether the cost at the scale is at most the target."""
        if self._outside < scale < self._inside:
            self._ask(scale)
        return scale >= self._inside

    def approach(self, least: float, greatest: float, near: float) -> None:
        """Come near the smallest scale inside, by secants of the logarithms, and ask on both sides of it.

        It decides nothing but how much a bisection has left to ask: where it fails, the bisection asks more.
        """
        scale = last = min(max(1.0, least), greatest)
        power, last_gap = 1.0, math.nan
        for _ in range(_SECANTS):
            gap = self._gap(scale)
            if math.isfinite(gap + last_gap) and scale != last:
                power = min(max((last_gap - gap) / math.log(scale / last), 0.5), 4.0)
            last, last_gap = scale, gap
            move = gap / power if math.isfinite(gap) else math.copysign(_LEAP, gap)
            scale = min(max(scale * math.exp(min(max(move, -_LEAP), _LEAP)), least), greatest)
            if abs(move) < near or scale == last:
                break
        for side in (1.0 - near, 1.0 + near):
            self(min(max(scale * side, least), greatest))

    def _gap(self, scale: float) -> float:
        """Return ln(cost ÷ target)."""
        ratio = self._ask(scale) / self._target
        return math.log(ratio) if ratio > 0.0 else -math.inf

    def _ask(self, scale: float) -> float:
        cost = self._cost(scale)
        if cost <= self._target:
            self._inside = min(self._inside, scale)
        else:
            self._outside = max(self._outside, scale)
        return cost
