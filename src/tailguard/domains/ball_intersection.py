"""A convex domain cut by a Euclidean ball around one of its points."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from tailguard._validate import refuse
from tailguard.domains._parameters import length, vector
from tailguard.domains.base import LARGEST, Domain, FloatVector, polar
from tailguard.domains.l2_ball import L2Ball

__all__ = ["BallIntersection"]

ACCURACY = 1e-13  # of the radius, or of the distance at which the solution is found if that is larger
MOST_STEPS = 200  # never reached: a dozen halvings of the exponent, then one per bit
REACH = 5e7  # balances the error 1/(2·REACH) of the linear minimiser against rounding at that distance


@dataclass(frozen=True)
class BallIntersection(Domain):
    """The set {w ∈ W : ‖w − c‖₂ ≤ r}, for a convex W that has a projection and a centre c ∈ W.

    The projection solves minimise ‖w − y‖₂ subject to w ∈ W, ‖w − c‖₂ ≤ r. Its solution is Π_W(c + s (y − c))
    for some s ∈ [0, 1], and the distance of that point from c grows with s, so s is found by bisection (Lowy
    et al. 2026, Lemma C.6) with a certified error: see `certified_projection`. The linear minimiser is the
    projection of a point far along −g, within 2e-8 · r‖g‖₂ of the minimum. The norm bound is an upper bound:
    the smaller of that of W and that of the ball.

    Parameters
    ----------
    domain : Domain
        W, convex.
    centre : sequence of float
        c, a point of W.
    radius : float
        r > 0.

    Examples
    --------
    >>> from tailguard.domains import Simplex
    >>> half = BallIntersection(Simplex(2), centre=(1.0, 0.0), radius=0.5**0.5)
    >>> half.project([0.0, 1.0]).round(9)
    array([0.5, 0.5])
    """

    domain: Domain
    centre: tuple[float, ...]
    radius: float

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain) or not self.domain.convex:
            raise refuse("domain", "BallIntersection", "a convex domain", self.domain)
        centre = vector("centre", self.centre, "BallIntersection", self.domain.dimension)
        if not self.domain.contains(centre):
            raise refuse("centre", "BallIntersection", "a point of the domain", self.centre)
        self._set(centre=centre, radius=length("radius", self.radius, "BallIntersection"))

    @cached_property
    def dimension(self) -> int:
        """Number of coefficients."""
        return self.domain.dimension

    @cached_property
    def _centre(self) -> FloatVector:
        """The centre, moved into W by the rounding that `contains` forgives."""
        return self.domain.project(self.centre)

    def certified_projection(self, point: ArrayLike) -> tuple[FloatVector, float]:
        """Return a point of the set and a bound on its distance from the projection of `point`.

        Guarantee
        ---------
        Along the ray z(t) = c + t·u from the centre towards `point`, t ↦ Π_W(z(t)) moves at most as fast as
        z, and its distance from c never falls. So the solution lies between the last t known to be inside the
        ball and the first known to be outside, and the width of that interval bounds the error, up to
        rounding.
        """
        target = self._vector("point", point)
        with np.errstate(all="ignore"):
            nearest = self.domain.project(target)
            if self._distance(nearest) <= self.radius:
                return nearest, 0.0
            direction, distance = polar(target - self._centre)
            return self._bisect(direction, min(distance, LARGEST))

    def _bisect(self, direction: FloatVector, outside: float) -> tuple[FloatVector, float]:
        inside, outside = self.radius, max(outside, self.radius)
        nearest = self.domain.project(self._centre + inside * direction)
        for _ in range(MOST_STEPS):
            if outside - inside <= ACCURACY * self.radius + 2.0 * np.finfo(float).eps * outside:
                break
            middle = _between(inside, outside)
            candidate = self.domain.project(self._centre + middle * direction)
            if self._distance(candidate) <= self.radius:
                inside, nearest = middle, candidate
            else:
                outside = middle
        # Rounding may leave a point of W just outside the ball; the segment from it to c stays in W.
        return self._ball.project(nearest), outside - inside

    def _distance(self, point: FloatVector) -> float:
        return polar(point - self._centre)[1]

    def _project(self, point: FloatVector) -> FloatVector:
        return self.certified_projection(point)[0]

    def _linear_minimiser(self, gradient: FloatVector) -> FloatVector:
        direction, _ = polar(gradient)
        return self._project(self._centre - REACH * self.radius * direction)

    @cached_property
    def _ball(self) -> L2Ball:
        return L2Ball(self.dimension, self.radius, tuple(self._centre.tolist()))

    def _l1_bound(self) -> float:
        return min(self.domain.norm_bound("l1"), self._ball.norm_bound("l1"))

    def _l2_bound(self) -> float:
        return min(self.domain.norm_bound("l2"), self._ball.norm_bound("l2"))

    def _contains(self, point: FloatVector, tolerance: float) -> bool:
        return self.domain.contains(point, tolerance) and self._ball.contains(point, tolerance)


def _between(low: float, high: float) -> float:
    """Midpoint of an interval, geometric while its ends differ by orders of magnitude."""
    return math.sqrt(low) * math.sqrt(high) if high > 4.0 * low else 0.5 * low + 0.5 * high
