"""A second opinion on domains: the same problems as cone programs, solved by Clarabel.

Each domain is written as A·(w, u) + s = b, s ∈ K, with auxiliary variables u where it needs them. A new
domain adds one `model`.
"""

from dataclasses import dataclass
from functools import singledispatch
from itertools import combinations

import clarabel
import numpy as np
from scipy import sparse

from tailguard import domains


@dataclass(frozen=True)
class Block:
    """Rows of A and b whose slack s lies in one cone."""

    rows: np.ndarray
    bounds: np.ndarray
    cone: type


@dataclass(frozen=True)
class Model:
    """A domain as a cone program in its d coefficients and `extra` more variables."""

    extra: int
    blocks: tuple[Block, ...]


def conic_projection(domain, point):
    """argmin ½‖w − point‖² over the domain; for sparse vectors the best over all supports."""
    if isinstance(domain, domains.Sparse):
        return _sparse_projection(domain, point)
    return _solve(model(domain), 1.0, -np.asarray(point))


def conic_minimum(domain, gradient):
    """min ⟨gradient, w⟩ over a bounded convex domain."""
    return float(gradient @ _solve(model(domain), 0.0, np.asarray(gradient)))


def _solve(problem, curvature, slope):
    """argmin ½·curvature·‖w‖² + ⟨slope, w⟩, solved once, then once more around the first answer.

    An interior-point method places a solution only to the square root of its tolerance; in the second round
    lengths are a thousand times larger.
    """
    d, size = len(slope), len(slope) + problem.extra
    rows = np.concatenate([np.zeros((0, size))] + [block.rows for block in problem.blocks])
    bounds = np.concatenate([np.zeros(0)] + [block.bounds for block in problem.blocks])
    cones = [block.cone(len(block.bounds)) for block in problem.blocks]
    quadratic = np.r_[np.full(d, curvature), np.zeros(problem.extra)]
    linear = np.r_[slope, np.zeros(problem.extra)]
    answer = np.zeros(size)
    for unit in (1.0, 1e-3):
        gradient = (quadratic * answer + linear) / unit
        scale = 1.0 / max(1.0, float(np.linalg.norm(gradient)))
        slack = (bounds - rows @ answer) / unit
        answer = answer + unit * _clarabel(scale * quadratic, scale * gradient, rows, slack, cones)
    return answer[:d]


def _clarabel(quadratic, linear, rows, bounds, cones):
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    settings.static_regularization_constant = 1e-11
    hessian, constraints = sparse.diags_array(quadratic).tocsc(), sparse.csc_array(rows)
    solution = clarabel.DefaultSolver(hessian, linear, constraints, bounds, cones, settings).solve()
    assert str(solution.status) in ("Solved", "AlmostSolved", "InsufficientProgress"), solution.status
    return np.array(solution.x)


def _sparse_projection(domain, point):
    def on_support(support):
        off = np.delete(np.eye(domain.dimension), support, axis=0)
        blocks = (Block(off, np.zeros(len(off)), clarabel.ZeroConeT),)
        if domain.radius is not None:
            blocks += (_ball(domain.dimension, np.zeros(domain.dimension), domain.radius),)
        return _solve(Model(0, blocks), 1.0, -np.asarray(point))

    supports = combinations(range(domain.dimension), domain.sparsity)
    return min(map(on_support, map(list, supports)), key=lambda w: np.linalg.norm(w - point))


def _ball(dimension, centre, radius, extra=0):
    """‖w − centre‖ ≤ radius."""
    rows = np.zeros((dimension + 1, dimension + extra))
    rows[1:, :dimension] = -np.eye(dimension)
    return Block(rows, np.r_[radius, -np.asarray(centre)], clarabel.SecondOrderConeT)


@singledispatch
def model(domain) -> Model:
    raise TypeError(f"No conic model of {type(domain).__name__}: register one here, beside the domain.")


@model.register
def _(domain: domains.WholeSpace):
    return Model(0, ())


@model.register
def _(domain: domains.L2Ball):
    centre = np.zeros(domain.dimension) if domain.centre is None else domain.centre
    return Model(0, (_ball(domain.dimension, centre, domain.radius),))


@model.register
def _(domain: domains.L1Ball):
    d = domain.dimension
    one = np.eye(d)
    rows = np.block([[one, -one], [-one, -one], [np.zeros((1, d)), np.ones((1, d))]])
    return Model(d, (Block(rows, np.r_[np.zeros(2 * d), domain.radius], clarabel.NonnegativeConeT),))


@model.register
def _(domain: domains.Simplex):
    d = domain.dimension
    total = Block(np.ones((1, d)), np.array([domain.radius]), clarabel.ZeroConeT)
    return Model(0, (total, Block(-np.eye(d), np.zeros(d), clarabel.NonnegativeConeT)))


@model.register
def _(domain: domains.Box):
    one = np.eye(domain.dimension)
    rows, bounds = np.concatenate([one, -one]), np.r_[domain.high, -np.array(domain.low)]
    return Model(0, (Block(rows, bounds, clarabel.NonnegativeConeT),))


@model.register
def _(domain: domains.Ellipsoid):
    factor = np.linalg.cholesky(np.array(domain.matrix)).T
    rows = np.concatenate([np.zeros((1, domain.dimension)), -factor])
    return Model(0, (Block(rows, np.r_[1.0, np.zeros(domain.dimension)], clarabel.SecondOrderConeT),))


@model.register
def _(domain: domains.Polytope):
    corners = np.array(domain.corners)
    count, d = corners.shape
    hull = np.block([[np.eye(d), -corners.T], [np.zeros((1, d)), np.ones((1, count))]])
    weights = np.concatenate([np.zeros((count, d)), -np.eye(count)], axis=1)
    return Model(
        count,
        (
            Block(hull, np.r_[np.zeros(d), 1.0], clarabel.ZeroConeT),
            Block(weights, np.zeros(count), clarabel.NonnegativeConeT),
        ),
    )


@model.register
def _(domain: domains.BallIntersection):
    inner = model(domain.domain)
    ball = _ball(domain.dimension, domain.centre, domain.radius, inner.extra)
    return Model(inner.extra, (*inner.blocks, ball))
