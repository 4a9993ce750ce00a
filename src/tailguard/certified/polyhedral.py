"""Lipschitz extension of a polyhedral loss over a ball, an ellipsoid or a polytope, by a cone program.

The dual variables give a subgradient (Lowy 2026, Proposition D.6), and with the domain's linear minimiser
a bound on its error that does not trust the solver. Proof: extension.md.
"""

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, Self

import clarabel
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tailguard._validate import real, refuse
from tailguard.certified.kernels import FloatMatrix, FloatVector
from tailguard.domains import Box, Ellipsoid, L2Ball, Polytope
from tailguard.domains.base import Domain

__all__ = ["ApproximateSubgradient", "Polyhedral", "polyhedral_extension"]


@dataclass(frozen=True, eq=False, repr=False)
class Polyhedral:
    """The loss of one record, f(w) = max over j of ⟨a_j, w⟩ + b_j.

    Parameters
    ----------
    slopes : array of shape (k, d)
        a_1, …, a_k.
    offsets : array of shape (k,)
        b_1, …, b_k.

    Examples
    --------
    >>> Polyhedral.absolute([1.0, 1.0], -1.0).value([3.0, 0.0])
    2.0
    """

    slopes: FloatMatrix
    offsets: FloatVector

    @classmethod
    def affine(cls, slope: ArrayLike, offset: float) -> Self:
        """Return ⟨slope, w⟩ + offset."""
        return cls(np.atleast_2d(np.asarray(slope, dtype=np.float64)), np.array([offset], dtype=np.float64))

    @classmethod
    def hinge(cls, slope: ArrayLike, offset: float) -> Self:
        """Return max(0, ⟨slope, w⟩ + offset)."""
        a = np.asarray(slope, dtype=np.float64)
        return cls(np.stack([np.zeros_like(a), a]), np.array([0.0, offset]))

    @classmethod
    def absolute(cls, slope: ArrayLike, offset: float) -> Self:
        """Return |⟨slope, w⟩ + offset|."""
        a = np.asarray(slope, dtype=np.float64)
        return cls(np.stack([a, -a]), np.array([offset, -offset], dtype=np.float64))

    def value(self, point: ArrayLike) -> float:
        """Return f(point)."""
        return float((self.slopes @ np.asarray(point, dtype=np.float64) + self.offsets).max())


@dataclass(frozen=True, eq=False, repr=False)
class ApproximateSubgradient:
    """A value v and a vector g with v − error ≤ f_C(w) ≤ v and f_C(u) ≥ v − error + ⟨g, u − w⟩ for all u; ‖g‖ ≤ C."""

    value: float
    vector: FloatVector
    error: float


def polyhedral_extension(loss: Polyhedral, clip: float, domain: Domain, point: ArrayLike) -> ApproximateSubgradient:
    """Return f_C(w) = min over y ∈ W of f(y) + C‖w − y‖ at `point`, with a subgradient and the error of both.

    Parameters
    ----------
    loss : Polyhedral
        f.
    clip : float
        C > 0.
    domain : L2Ball, Ellipsoid, Polytope or Box
        W.
    point : array of shape (d,)
        w.

    Examples
    --------
    >>> loss = Polyhedral.absolute([10.0, 0.0], 0.0)
    >>> found = polyhedral_extension(loss, 1.0, L2Ball(2, radius=2.0), [1.0, 0.0])
    >>> round(found.value, 6), found.vector.round(6), found.error < 1e-6
    (1.0, array([1., 0.]), True)
    """
    w, C = np.asarray(point, dtype=np.float64), real("clip", clip, "polyhedral_extension", above=0.0)
    nearest, weights, vector = _solve(loss, C, _cones(domain), w)
    nearest, weights = domain.project(nearest), np.maximum(weights, 0.0)
    weights = weights / weights.sum() if weights.sum() > 0.0 else np.full(len(weights), 1.0 / len(weights))
    vector = vector * min(1.0, C / max(float(np.linalg.norm(vector)), 1e-300))
    slope = weights @ loss.slopes
    lowest = float((slope - vector) @ domain.linear_minimiser(slope - vector))
    below = float(weights @ loss.offsets + vector @ w) + lowest
    above = min(loss.value(nearest) + C * float(np.linalg.norm(w - nearest)), _on_domain(loss, domain, w))
    return ApproximateSubgradient(above, vector, max(0.0, above - below))


def _on_domain(loss: Polyhedral, domain: Domain, point: FloatVector) -> float:
    return loss.value(point) if domain.contains(point, tolerance=0.0) else np.inf


@dataclass(frozen=True, eq=False, repr=False)
class _Cones:
    """W = {y : bounds − rows·y − more·u ∈ cones for some u}."""

    rows: FloatMatrix
    more: FloatMatrix
    bounds: FloatVector
    cones: tuple[Any, ...]


def _solve(loss: Polyhedral, clip: float, domain: _Cones, point: FloatVector) -> tuple[FloatVector, ...]:
    """Minimise s + C·t over (y, s, t, u): s ≥ every piece, t ≥ ‖w − y‖, y ∈ W; return y and the two duals."""
    k, d = loss.slopes.shape
    extra = domain.more.shape[1]
    scales = np.maximum(1.0, np.maximum(np.linalg.norm(loss.slopes, axis=1), np.abs(loss.offsets)))
    pieces = np.hstack([loss.slopes, -np.ones((k, 1)), np.zeros((k, 1 + extra))]) / scales[:, None]
    cone = np.zeros((d + 1, d + 2 + extra))
    cone[0, d + 1] = -1.0
    cone[1:, :d] = np.eye(d)
    inside = np.hstack([domain.rows, np.zeros((len(domain.rows), 2)), domain.more])
    rows = sparse.csc_array(np.vstack([pieces, cone, inside]))
    bounds = np.concatenate([-loss.offsets / scales, [0.0], point, domain.bounds])
    linear = np.concatenate([np.zeros(d), [1.0, clip], np.zeros(extra)])
    cones = [clarabel.NonnegativeConeT(k), clarabel.SecondOrderConeT(d + 1), *domain.cones]
    quadratic = sparse.csc_array((len(linear), len(linear)))
    solution = clarabel.DefaultSolver(quadratic, linear, rows, bounds, cones, _settings()).solve()
    x, z = np.nan_to_num(np.array(solution.x)), np.nan_to_num(np.array(solution.z))
    return x[:d], z[:k] / scales, -z[k + 1 : k + 1 + d]


def _settings() -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    return settings


@singledispatch
def _cones(domain: Domain) -> _Cones:
    raise refuse("domain", "polyhedral_extension", "an L2Ball, an Ellipsoid, a Polytope or a Box", domain)


@_cones.register
def _(domain: L2Ball) -> _Cones:
    d = domain.dimension
    centre = np.zeros(d) if domain.centre is None else np.array(domain.centre)
    rows = np.vstack([np.zeros(d), -np.eye(d)])
    return _Cones(rows, np.zeros((d + 1, 0)), np.r_[domain.radius, -centre], (clarabel.SecondOrderConeT(d + 1),))


@_cones.register
def _(domain: Ellipsoid) -> _Cones:
    d = domain.dimension
    rows = np.vstack([np.zeros(d), -np.linalg.cholesky(np.array(domain.matrix)).T])
    return _Cones(rows, np.zeros((d + 1, 0)), np.r_[1.0, np.zeros(d)], (clarabel.SecondOrderConeT(d + 1),))


@_cones.register
def _(domain: Polytope) -> _Cones:
    corners = np.array(domain.corners)
    count, d = corners.shape
    rows = np.vstack([np.eye(d), np.zeros((1 + count, d))])
    more = np.vstack([-corners.T, np.ones((1, count)), -np.eye(count)])
    bounds = np.r_[np.zeros(d), 1.0, np.zeros(count)]
    return _Cones(rows, more, bounds, (clarabel.ZeroConeT(d + 1), clarabel.NonnegativeConeT(count)))


@_cones.register
def _(domain: Box) -> _Cones:
    d = domain.dimension
    rows = np.vstack([np.eye(d), -np.eye(d)])
    bounds = np.r_[np.array(domain.high), -np.array(domain.low)]
    return _Cones(rows, np.zeros((2 * d, 0)), bounds, (clarabel.NonnegativeConeT(2 * d),))
