"""How far a point can be from the exact minimiser, with every rounding error counted (minimise.md, Theorem 1)."""

import math

import numpy as np
from numpy.linalg import norm

from tailguard.certified.anchor import CHUNK
from tailguard.certified.kernels import FloatVector
from tailguard.certified.newton import State
from tailguard.certified.objective import Objective
from tailguard.domains import BallIntersection, Box, Ellipsoid, L2Ball, Polytope, WholeSpace
from tailguard.domains.base import Domain, polar
from tailguard.losses.base import ResidualLoss

__all__ = ["ROUNDING", "certified", "evaluation_error", "gradient_error", "projection_error"]

ROUNDING = 2.0**-53
UNDERFLOW = 1e-200  # more than predictions lose by underflow, in units of their rows
SEARCHED = 1e-12  # relative error of a projection found by a search


def certified(state: State, domain: Domain | None) -> tuple[FloatVector, float]:
    """Return a point of the domain at or near `state`, and a bound on its distance from the exact minimiser."""
    if domain is None or isinstance(domain, WholeSpace):
        found, residual, shift = state, float(norm(state.gradient)), 0.0
    elif isinstance(domain, L2Ball):
        found, residual, shift = _in_ball(state, domain)
    else:
        found, residual, shift = _projected(state, domain)
    d = len(state.shift)
    total = residual * (1.0 + (d + 4.0) * ROUNDING) + gradient_error(found)
    point = found.point
    bound = 0.5 * (total + math.sqrt(total * total + 4.0 * _inexactness(found, shift)))
    return point, found.anchor.objective.length * bound + shift + 2.0 * ROUNDING * float(norm(point))


def gradient_error(state: State) -> float:
    """Return a bound on the error of the gradient, in units of the clip, once the predictions are given."""
    objective = state.anchor.objective
    adding = (CHUNK + 4.0) * float(np.abs(state.slopes).sum()) / objective.size
    pulling = 4.0 * float(norm(state.anchor.pull) + norm(state.shift) / objective.length)
    centring = 4.0 * float(norm(objective.centre) + norm(objective.pulled_centre)) / objective.length
    return ROUNDING * (adding + pulling + centring) + evaluation_error(objective)


def evaluation_error(objective: Objective) -> float:
    """Return a bound on the mean error of the slopes, in units of the clip, that comes from evaluating the loss.

    It includes a relative error of four roundings in the prediction: a loss of residuals answers it by a
    relative error of its slope, and a loss of margins by an absolute one.
    """
    smoothness = float(objective.loss.smoothness or 1.0)
    steepest = math.sqrt(float(objective.curvature or 0.0) * smoothness) / objective.clip
    absolute = 0.0 if isinstance(objective.loss, ResidualLoss) else (1.0 + 1.0 / smoothness) * steepest
    return 16.0 * ROUNDING * (1.0 + absolute)


def projection_error(domain: Domain) -> float:
    """Return a bound on the error of a computed projection, in units of the lengths of result and displacement."""
    if isinstance(domain, Box):
        return 0.0
    if isinstance(domain, L2Ball):
        return (0.5 * domain.dimension + 6.0) * ROUNDING
    if isinstance(domain, Ellipsoid):
        return SEARCHED + 4.0 * domain.dimension * ROUNDING * float(np.linalg.cond(np.array(domain.matrix)))
    if isinstance(domain, BallIntersection):
        return SEARCHED + projection_error(domain.domain)
    return SEARCHED if isinstance(domain, Polytope) else 8.0 * (domain.dimension + 8.0) * ROUNDING


def _inexactness(state: State, shift: float) -> float:
    """Return ε such that the records' gradient is an ε-subgradient at every point within `shift` of the state.

    It is in units of clip²/ridge.
    """
    objective, norms = state.anchor.objective, state.anchor.objective.records.norms
    d = objective.dimension
    reach = shift + UNDERFLOW + ROUNDING * (d + 8.0) * float(norm(state.shift))
    reach += ROUNDING**2 * (4.0 * d + 16.0) * float(norm(state.anchor.point))
    highest = state.anchor.slopes(state.predictions + norms * reach)
    lowest = state.anchor.slopes(state.predictions - norms * reach)
    change = float((highest - lowest).sum()) / objective.size + 2.0 * evaluation_error(objective)
    return 1.001 * change * reach / objective.length


def _in_ball(state: State, ball: L2Ball) -> tuple[State, float, float]:
    """Return a state, ‖g + νn‖ with n the outward normal and ν ≥ 0, and how far the state is from the ball.

    A state within rounding of the sphere stands for the point of the sphere in the same direction.
    """
    centre = np.zeros(ball.dimension) if ball.centre is None else np.array(ball.centre)
    inside = ball.project(state.point)
    found = state if np.array_equal(inside, state.point) else state.moved(inside - state.anchor.point)
    normal, distance = polar(found.point - centre)
    slack = 8.0 * ROUNDING * (ball.radius + float(norm(centre)))
    if distance < ball.radius - slack:
        return found, float(norm(found.gradient)), 0.0
    multiplier = max(0.0, -float(normal @ found.gradient))
    skew = (ball.dimension + 8.0) * ROUNDING * multiplier
    return found, float(norm(found.gradient + multiplier * normal)) + skew, abs(distance - ball.radius) + slack


def _projected(state: State, domain: Domain) -> tuple[State, float, float]:
    """Return a state p = Π_W(w − tg), ‖g(p) + n‖ with the normal vector n = (w − tg − p)/t of W, and its error."""
    step = state.anchor.objective.length / state.anchor.stiffness(state.predictions)
    target = state.point - step * state.gradient
    point = domain.project(target)
    found = state.moved(point - state.anchor.point)
    moved = float(norm(point) + norm(target - point))
    error = (projection_error(domain) + 2.0 * ROUNDING) * moved + ROUNDING * float(norm(found.shift))
    return found, float(norm(found.gradient + (target - point) / step)) + error / step, error
