"""A box: an interval for each coefficient."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from tailguard._validate import refuse
from tailguard.domains._parameters import vector
from tailguard.domains.base import Domain, FloatMatrix, FloatVector, polar

__all__ = ["Box"]

MOST_LISTED = 16  # dimensions of a box whose 2^d corners are still listed


@dataclass(frozen=True)
class Box(Domain):
    """The box {w : low_j ≤ w_j ≤ high_j}.

    The projection solves minimise ‖w − y‖₂ subject to low ≤ w ≤ high: each coordinate is clamped. The linear
    minimiser takes high_j where g_j < 0 and low_j elsewhere.

    Parameters
    ----------
    low, high : sequence of float
        Lower and upper ends, of equal length; an interval may be a single number.

    Examples
    --------
    >>> Box(low=(0.0, -1.0), high=(1.0, 1.0)).project([3.0, -0.5])
    array([ 1. , -0.5])
    """

    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        low = vector("low", self.low, "Box")
        high = vector("high", self.high, "Box", len(low))
        if any(a > b for a, b in zip(low, high, strict=True)):
            raise refuse("high", "Box", "at least 'low' in every coordinate", self.high)
        self._set(low=low, high=high)

    @cached_property
    def dimension(self) -> int:
        """Number of coefficients."""
        return len(self.low)

    @cached_property
    def _low(self) -> FloatVector:
        return np.array(self.low)

    @cached_property
    def _high(self) -> FloatVector:
        return np.array(self.high)

    def vertices(self) -> FloatMatrix | None:
        """Return the 2^d corners in lexicographic order, low before high, or None for d > 16."""
        if self.dimension > MOST_LISTED:
            return None
        return np.array(list(product(*zip(self.low, self.high, strict=True))))

    def _project(self, point: FloatVector) -> FloatVector:
        return np.clip(point, self._low, self._high)

    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:
        return np.where(gradient < 0.0, self._high, self._low)

    @cached_property
    def _farthest(self) -> FloatVector:
        return np.maximum(np.abs(self._low), np.abs(self._high))

    def _l1_bound(self) -> float:
        return float(self._farthest.sum())

    def _l2_bound(self) -> float:
        return polar(self._farthest)[1]

    def _contains(self, point: FloatVector, tolerance: float) -> bool:
        slack = tolerance * self.norm_bound("l2")
        return bool((point >= self._low - slack).all() and (point <= self._high + slack).all())
