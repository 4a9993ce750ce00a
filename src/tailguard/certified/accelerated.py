"""Accelerated projected gradient on a strongly convex function (minimise.md, Theorem 2)."""

import math
from collections.abc import Callable

from tailguard.certified.kernels import FloatVector

__all__ = ["accelerated"]


def accelerated(
    gradient: Callable[[FloatVector], FloatVector],
    project: Callable[[FloatVector], FloatVector],
    point: FloatVector,
    highest: float,
    lowest: float,
    steps: int,
) -> FloatVector:
    """Return the last of `steps` iterates from `point`, for curvatures between `lowest` and `highest`."""
    share = math.sqrt(lowest / highest)
    x = project(point - gradient(point) / highest)
    z = x
    for _ in range(steps):
        y = (x + share * z) / (1.0 + share)
        following = project(y - gradient(y) / highest)
        x, z = following, x + (following - x) / share
    return x
