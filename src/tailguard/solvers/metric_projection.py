"""Projection on a domain in the metric of a preconditioner: the step of a constrained Newton method.

min over u in W, b in R of ½ (x − x̂)ᵀ H (x − x̂), x = (u ÷ units, b)

Projecting a preconditioned step in the Euclidean metric would stop at a point that is no constrained minimiser. And
gradient steps in raw units would hardly move where units differ: H is of usual size in scaled units alone. So all of it
happens there, and what is known of a domain says what it is like when its axes are scaled.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from tailguard.domains._hull import nearest_in_hull
from tailguard.domains.base import Domain
from tailguard.domains.box import Box
from tailguard.domains.ellipsoid import Ellipsoid
from tailguard.domains.l1_ball import L1Ball
from tailguard.domains.l2_ball import L2Ball
from tailguard.domains.polytope import Polytope
from tailguard.domains.simplex import Simplex
from tailguard.domains.whole_space import WholeSpace
from tailguard.solvers.base import FloatVector
from tailguard.solvers.preconditioner import Preconditioner

__all__ = ["metric_projection", "scaled_projection"]

ITERATIONS = 2000
"""Accelerated gradient steps at most; everything here is released, so that it may decide when to stop."""

WIDER = 10
"""How often the ends are moved between which a multiplier is sought."""

NEAR = 1e-13
"""Part of a point by which steps that change no more may end."""

FLAT = 1e-9
"""Curvature of columns that have none, as a part of the largest: what they are does not matter, but stays near 0."""

FARTHEST, INSIDE = 1e30, 1e-9
"""No scaled slope is larger; and how far a point may be outside, in sizes of a domain, for rounding."""

Matrix = NDArray[np.float64]
Projection = Callable[[FloatVector], FloatVector]


def metric_projection(point: FloatVector, units: FloatVector, domain: Domain, metric: Preconditioner) -> FloatVector:
    """Return the nearest point, in the metric of the damped Gram matrix, whose slopes in raw units lie in the domain.

    It is exact but for rounding for the domains of this library that are convex, whatever the units; for an
    intersection with a ball, and for domains of others, of which a Euclidean projection is all that is known, only
    where units are not too different.

    Parameters
    ----------
    point : float64 vector
        x̂ in scaled units: one slope for each dimension of the domain, then perhaps an intercept.
    units : float64 vector
        Raw slope = scaled slope × units; 0 for dropped columns.
    domain : Domain
        For the raw slopes.
    metric : Preconditioner
        H.
    """
    if isinstance(domain, WholeSpace):
        return point
    point = np.clip(np.nan_to_num(point), -FARTHEST, FARTHEST)
    d, factors = domain.dimension, np.where(units > 0.0, units, 1.0)
    hessian = (metric.vectors * metric.values) @ metric.vectors.T
    slopes, free = hessian[:d, :d], hessian[d:, d:]
    back = np.linalg.pinv(free) @ hessian[d:, :d]  # how an intercept follows the slopes
    slopes = slopes - hessian[:d, d:] @ back
    diagonal = np.diagonal(slopes)
    least = FLAT * float(diagonal.max(initial=0.0)) or 1.0  # 1 where all columns are dropped
    slopes = slopes + np.diag(np.where(diagonal > least, 0.0, least))
    found = _held(lambda: _nearest(point[:d], slopes, factors, domain), point[:d], factors, domain)
    return np.concatenate([found, point[d:] - back @ (found - point[:d])])


def scaled_projection(point: FloatVector, factors: FloatVector, domain: Domain) -> FloatVector:
    """Return the nearest scaled slopes whose raw slopes, × factors, lie in the domain: the same where H is 1.

    Of an intersection with a ball, of sparse slopes, and of domains of others it is the nearest one in raw units.

    Parameters
    ----------
    point : float64 vector
        Scaled slopes.
    factors : float64 vector
        Positive.
    domain : Domain
        For the raw slopes.
    """
    point = np.clip(np.nan_to_num(point), -FARTHEST, FARTHEST)
    return _held(lambda: _nearest_scaled(point, factors, domain), point, factors, domain)


def _held(find: Callable[[], FloatVector], point: FloatVector, factors: FloatVector, domain: Domain) -> FloatVector:
    """Return what is found, if it lies in the domain, or else what does and is near to it in raw units.

    Rounding spoils what is exact on paper where units differ by more than a float has digits.
    """
    with np.errstate(all="ignore"):
        try:
            found = find()
        except (ArithmeticError, ValueError, IndexError, np.linalg.LinAlgError):
            found = point
        found = found if np.all(np.isfinite(found)) else point
        raw = found * factors
        return found if domain.contains(raw, INSIDE) else np.asarray(domain.project(raw) / factors)


def _nearest_scaled(point: FloatVector, factors: FloatVector, domain: Domain) -> FloatVector:
    if isinstance(domain, L2Ball):
        return _in_ball(point, factors, domain)
    if isinstance(domain, L1Ball | Simplex | Box):
        return _scaled(domain, factors)(point)
    if isinstance(domain, Ellipsoid | Polytope):
        return _nearest(point, np.eye(point.size), factors, domain)
    return np.asarray(domain.project(point * factors) / factors)


def _nearest(centre: FloatVector, hessian: Matrix, factors: FloatVector, domain: Domain) -> FloatVector:
    """Return the scaled slopes that are nearest to these."""
    if isinstance(domain, L2Ball):
        middle = np.zeros(centre.size) if domain.centre is None else np.array(domain.centre)
        shape = np.diag(np.square(factors / domain.radius))
        return _in_ellipsoid(centre, hessian, shape, middle / factors)
    if isinstance(domain, Ellipsoid):
        shape = np.array(domain.matrix) * np.outer(factors, factors)
        return _in_ellipsoid(centre, hessian, shape, np.zeros(centre.size))
    if isinstance(domain, Polytope):
        return _in_hull(centre, hessian, domain.vertices() / factors)
    if isinstance(domain, L1Ball | Simplex | Box):
        return _descended(centre, hessian, _scaled(domain, factors))
    raw = _descended(centre * factors, hessian / np.outer(factors, factors), domain.project)
    return np.asarray(raw / factors)


def _in_ellipsoid(centre: FloatVector, hessian: Matrix, shape: Matrix, middle: FloatVector) -> FloatVector:
    """Return argmin ½(x − centre)ᵀH(x − centre) subject to (x − middle)ᵀA(x − middle) ≤ 1.

    x = middle + (H + tA)⁻¹H(centre − middle), with the one t ≥ 0 that gives 1, or with 0. If L is the length of
    centre − middle, t lies between (L − 1)·μ for the least and the largest eigenvalue μ of A⁻¹H.
    """
    away = centre - middle
    length = math.sqrt(max(float(away @ shape @ away), 0.0))
    if length <= 1.0:
        return centre
    pulled = hessian @ away

    def offset(logarithm: float) -> FloatVector:
        return np.asarray(np.linalg.solve(hessian + np.exp(logarithm) * shape, pulled))

    def slack(logarithm: float) -> float:
        found = offset(logarithm)
        return math.log(max(float(found @ shape @ found), 1e-300))

    (least, *_, most), (thin, *_, thick) = (np.linalg.eigvalsh(matrix)[[0, 0, -1]] for matrix in (hessian, shape))
    return middle + offset(_root(slack, (length - 1.0) * least / thick, (length - 1.0) * most / thin))


def _in_ball(point: FloatVector, factors: FloatVector, ball: L2Ball) -> FloatVector:
    """Return argmin ‖x − point‖₂ over the scaled slopes whose raw slopes lie in a ball; the same in few numbers."""
    middle = np.zeros(point.size) if ball.centre is None else np.array(ball.centre)
    away, squares = factors * point - middle, np.square(factors)
    length = float(np.linalg.norm(away)) / ball.radius
    if length <= 1.0:
        return point

    def slack(logarithm: float) -> float:
        return float(np.log(np.linalg.norm(away / (1.0 + np.exp(logarithm) * squares)) / ball.radius))

    logarithm = _root(slack, (length - 1.0) / squares.max(), (length - 1.0) / squares.min())
    return np.asarray((middle + away / (1.0 + np.exp(logarithm) * squares)) / factors)


def _root(slack: Callable[[float], float], low: float, high: float) -> float:
    """Return the logarithm of the multiplier at which a falling function is 0: between these, but for rounding."""
    start, end = (math.log(min(max(multiplier, 1e-300), 1e300)) for multiplier in (low, high))
    for _ in range(WIDER):
        start -= 0.0 if slack(start) >= 0.0 else 4.0
        end += 0.0 if slack(end) <= 0.0 else 4.0
    return float(brentq(slack, start, end, xtol=1e-13, maxiter=1000))


def _in_hull(centre: FloatVector, hessian: Matrix, vertices: Matrix) -> FloatVector:
    """Return the nearest point of a convex hull: where H = LLᵀ, the nearest one to Lᵀcentre of the hull of Lᵀv."""
    root = np.linalg.cholesky(hessian)
    middle = vertices.mean(axis=0)
    corners = (vertices - middle) @ root
    size = float(np.abs(corners).max()) or 1.0
    nearest = nearest_in_hull(corners / size, (centre - middle) @ root / size)
    return np.asarray(middle + np.linalg.solve(root.T, size * nearest))


def _scaled(domain: L1Ball | Simplex | Box, factors: FloatVector) -> Projection:
    """Return the Euclidean projection on the scaled slopes whose raw slopes lie in a domain."""
    if isinstance(domain, Box):
        low, high = np.array(domain.low) / factors, np.array(domain.high) / factors
        return lambda point: np.clip(point, low, high)
    if isinstance(domain, Simplex):
        return lambda point: _on_plane(point, factors, domain.radius)

    def in_ball(point: FloatVector) -> FloatVector:
        sizes = np.abs(point)
        inside = float(factors @ sizes) <= domain.radius
        return point if inside else np.copysign(_on_plane(sizes, factors, domain.radius), point)

    return in_ball


def _on_plane(point: FloatVector, weights: FloatVector, total: float) -> FloatVector:
    """Return argmin ‖x − point‖₂ subject to x ≥ 0, Σ weights·x = total: max(point − θ·weights, 0) with the right θ."""
    order = np.argsort(-point / weights)
    sums, squares = np.cumsum((weights * point)[order]), np.cumsum(np.square(weights[order]))
    levels = (sums - total) / squares
    above = (point / weights)[order] > levels
    above[0] = True  # it is, whatever rounding makes of it
    found = np.maximum(point - levels[above][-1] * weights, 0.0)
    return np.asarray(found * (total / float(weights @ found)))


def _descended(centre: FloatVector, hessian: Matrix, project: Projection) -> FloatVector:
    """Return argmin ½(x − centre)ᵀH(x − centre) by accelerated gradient steps with restarts."""
    step = 1.0 / max(float(np.linalg.norm(hessian, 2)), 1e-300)
    current = ahead = project(np.array(centre))
    momentum = 1.0
    for _ in range(ITERATIONS):
        following = project(ahead - step * (hessian @ (ahead - centre)))
        moved = following - current
        if float(np.abs(moved).max()) <= NEAR * float(np.abs(following).max()) and momentum < 2.0:
            return following
        if float((ahead - following) @ moved) > 0.0:  # it swings past the answer
            momentum = 1.0
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = following + (momentum - 1.0) / grown * moved
        current, momentum = following, grown
    return current
