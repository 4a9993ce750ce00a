"""Accelerated projected gradient on a strongly convex function (minimise.md, Theorem 2)."""

import math
from collections.abc import Callable, Iterator

from tailguard.certified.kernels import FloatVector

__all__ = ["accelerated"]


def accelerated(
    gradient: Callable[[FloatVector], FloatVector],
    project: Callable[[FloatVector], FloatVector],
    point: FloatVector,
    highest: float,
    lowest: float,
) -> Iterator[FloatVector]:
    """Yield the iterates from `point`, without end, for curvatures between `lowest` and `highest`."""
    share = math.sqrt(lowest / highest)
    x = project(point - gradient(point) / highest)
    z = x
    while True:
        yield x
        y = (x + share * z) / (1.0 + share)
        following = project(y - gradient(y) / highest)
        x, z = following, x + (following - x) / share
