"""Regularised and extended losses as cone programs: a second opinion on certified minimisers and extensions.

A program collects variables and constraints b − A·x ∈ K and is solved by Clarabel. Losses are written by their
definitions: a clipped loss is the smallest φ(q) + limit·|p − q|, a smoothed kink an infimal convolution, the logistic
loss two exponential cones.
"""

import clarabel
import numpy as np
from scipy import sparse

from tests.support.conic import model


class Program:
    """minimise ½Σ quadratic·x² + ⟨linear, x⟩ subject to bounds − rows·x ∈ cones."""

    def __init__(self):
        self.quadratic, self.linear, self.entries, self.bounds, self.cones = [], [], [], [], []

    def variables(self, count, quadratic=0.0, linear=0.0):
        first = len(self.linear)
        self.quadratic += list(np.broadcast_to(quadratic, count).astype(float))
        self.linear += list(np.broadcast_to(linear, count).astype(float))
        return np.arange(first, first + count)

    def require(self, cone, bounds, *terms):
        """bounds − Σ matrix·variables ∈ cone, for terms (variables, matrix)."""
        bounds = np.atleast_1d(np.asarray(bounds, dtype=float))
        for variables, matrix in terms:
            matrix = np.asarray(matrix, dtype=float).reshape(len(bounds), len(variables))
            for i, j in zip(*np.nonzero(matrix), strict=True):
                self.entries.append((len(self.bounds) + i, variables[j], matrix[i, j]))
        self.bounds += bounds.tolist()
        self.cones.append(cone(len(bounds)) if cone is not clarabel.ExponentialConeT else cone())

    def solve(self):
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
        i, j, v = zip(*self.entries, strict=True)
        shape = (len(self.bounds), len(self.linear))
        rows = sparse.csc_array((v, (i, j)), shape=shape)
        hessian = sparse.diags_array(self.quadratic).tocsc()
        solution = clarabel.DefaultSolver(
            hessian, np.array(self.linear), rows, np.array(self.bounds), self.cones, settings
        ).solve()
        assert str(solution.status) in ("Solved", "AlmostSolved", "InsufficientProgress"), solution.status
        return np.array(solution.x), float(solution.obj_val)


def inside(program, point, domain):
    """point ∈ domain."""
    shape = model(domain)
    extra = program.variables(shape.extra)
    for block in shape.blocks:
        program.require(block.cone, block.bounds, (np.r_[point, extra], block.rows))


def distance(program, weight, left, right=None, offset=0.0):
    """Charge weight·‖left − right − offset‖."""
    d = len(left)
    (t,) = bound = program.variables(1, linear=weight)
    offset = np.broadcast_to(offset, d)
    terms = [(bound, -np.eye(d + 1, 1)), (left, np.vstack([np.zeros(d), -np.eye(d)]))]
    if right is not None:
        terms.append((right, np.vstack([np.zeros(d), np.eye(d)])))
    program.require(clarabel.SecondOrderConeT, np.r_[0.0, -offset], *terms)
    return t


def charge(program, loss, weight, target):
    """Charge weight·φ(q, target) for a new variable q, and return it."""
    q = program.variables(1)
    if loss.name == "squared":
        residual = program.variables(1, quadratic=weight)
        program.require(clarabel.ZeroConeT, target, (q, [[1.0]]), (residual, [[-1.0]]))
    elif loss.name in ("huber", "absolute"):
        width = loss.threshold if loss.name == "huber" else loss.smoothing
        top = width if loss.name == "huber" else 1.0
        near = program.variables(1, quadratic=weight * top / width)
        far = program.variables(2, linear=weight * top)
        program.require(clarabel.ZeroConeT, target, (q, [[1.0]]), (near, [[-1.0]]), (far, [[-1.0, 1.0]]))
        program.require(clarabel.NonnegativeConeT, [0.0, 0.0], (far, -np.eye(2)))
    elif loss.name == "hinge":
        near = program.variables(1, quadratic=weight / loss.smoothing)
        far = program.variables(1, linear=weight)
        sign = 2.0 * target - 1.0  # far ≥ 1 − sign·q − near
        program.require(clarabel.NonnegativeConeT, -1.0, (q, [[-sign]]), (near, [[-1.0]]), (far, [[-1.0]]))
        program.require(clarabel.NonnegativeConeT, 0.0, (far, [[-1.0]]))
    else:
        _logistic(program, q, weight, 2.0 * target - 1.0)
    return q


def _logistic(program, q, weight, sign):
    """ln(1 + exp(−sign·q)) ≤ s  ⟺  exp(−sign·q − s) + exp(−s) ≤ 1."""
    s, parts = program.variables(1, linear=weight), program.variables(2)
    one = np.array([0.0, 1.0, 0.0])
    columns = np.array([[1.0], [0.0], [0.0]]), np.array([[0.0], [0.0], [-1.0]])
    program.require(clarabel.ExponentialConeT, one, (q, sign * columns[0]), (s, columns[0]), (parts[:1], columns[1]))
    program.require(clarabel.ExponentialConeT, one, (s, columns[0]), (parts[1:], columns[1]))
    program.require(clarabel.NonnegativeConeT, 1.0, (parts, [[1.0, 1.0]]))


def conic_minimiser(rows, targets, loss, clip, ridge, centre, size, tilt=None, curvature=None, domain=None):
    """argmin of an `Objective`, from the definition of the clipped loss."""
    program, d = Program(), rows.shape[1]
    tilt = np.zeros(d) if tilt is None else np.asarray(tilt)
    w = program.variables(d, quadratic=ridge, linear=tilt / size - ridge * np.asarray(centre))
    for x, t in zip(rows, targets, strict=True):
        square = float(x @ x)
        rho = min(1.0, curvature / (loss.smoothness * square)) if curvature else 1.0
        q = charge(program, loss, rho / size, t)
        gap = program.variables(2, linear=clip / (np.sqrt(square) * size))
        program.require(clarabel.ZeroConeT, 0.0, (w, [x]), (q, [[-1.0]]), (gap, [[-1.0, 1.0]]))
        program.require(clarabel.NonnegativeConeT, [0.0, 0.0], (gap, -np.eye(2)))
    if domain is not None:
        inside(program, w, domain)
    return program.solve()[0][w]


def conic_extension(row, target, loss, clip, domain, point):
    """min over y ∈ W of φ(⟨row, y⟩, target) + clip·‖point − y‖."""
    program = Program()
    y = program.variables(len(row))
    q = charge(program, loss, 1.0, target)
    program.require(clarabel.ZeroConeT, 0.0, (y, [row]), (q, [[-1.0]]))
    distance(program, clip, y, offset=np.asarray(point))
    inside(program, y, domain)
    return program.solve()[1]


def conic_polyhedral(slopes, offsets, clip, domain, point):
    """min over y ∈ W of max_j ⟨a_j, y⟩ + b_j + clip·‖point − y‖."""
    program = Program()
    y, s = program.variables(slopes.shape[1]), program.variables(1, linear=1.0)
    program.require(clarabel.NonnegativeConeT, -offsets, (y, slopes), (s, -np.ones((len(offsets), 1))))
    distance(program, clip, y, offset=np.asarray(point))
    inside(program, y, domain)
    return program.solve()[1]


def conic_joint(rows, targets, loss, clip, ridge, centre, domain, radius=None):
    """Minimiser w and minimum of the joint problem (Lowy 2026, (10)), without its constant."""
    program, (m, d) = Program(), rows.shape
    w = program.variables(d, quadratic=ridge, linear=-ridge * np.asarray(centre))
    inside(program, w, domain)
    if radius is not None:
        ball = np.vstack([np.zeros(d), -np.eye(d)])
        program.require(clarabel.SecondOrderConeT, np.r_[radius, -np.asarray(centre)], (w, ball))
    for x, t in zip(rows, targets, strict=True):
        y, q = program.variables(d), charge(program, loss, 1.0 / m, t)
        program.require(clarabel.ZeroConeT, 0.0, (y, [x]), (q, [[-1.0]]))
        distance(program, clip / m, w, y)
        inside(program, y, domain)
    x, value = program.solve()
    return x[w], value + 0.5 * ridge * float(np.dot(centre, centre))
