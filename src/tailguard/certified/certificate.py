"""How far a point can be from the exact minimiser, with every rounding error counted (minimise.md, Theorem 1)."""

import math

import numpy as np

from tailguard.certified.anchor import CHUNK
from tailguard.certified.kernels import FloatVector
from tailguard.certified.newton import State
from tailguard.domains import L2Ball, WholeSpace
from tailguard.domains.base import Domain, polar

__all__ = ["ROUNDING", "certified", "gradient_error", "inexactness"]

ROUNDING = 2.0**-53
PROJECTION = 64.0 * ROUNDING  # relative error of a projection onto a domain
TINY = 1e-150  # covers what underflow loses


def certified(state: State, domain: Domain | None) -> tuple[FloatVector, float]:
    """Return a point of the domain near `state`, and a bound on its distance from the exact minimiser."""
    length = state.anchor.objective.length
    if domain is None or isinstance(domain, WholeSpace):
        found, residual, shift = state, state.gradient, 0.0
    elif isinstance(domain, L2Ball):
        found, residual, shift = _in_ball(state, domain)
    else:
        found, residual, shift = _projected(state, domain)
    norm = float(np.linalg.norm(residual)) * (1.0 + CHUNK * ROUNDING) + gradient_error(found)
    slack = inexactness(found, shift)
    point = found.point
    rounding = 2.0 * ROUNDING * float(np.linalg.norm(point)) + shift
    return point, length * 0.5 * (norm + math.sqrt(norm * norm + 4.0 * slack)) + rounding


def gradient_error(state: State) -> float:
    """Return a bound on the error of the gradient, in units of the clip, once the slopes are given."""
    objective = state.anchor.objective
    count = len(state.slopes)
    adding = (CHUNK + count / CHUNK + 8.0) * float(np.abs(state.slopes).sum()) / objective.size
    centre = float(np.linalg.norm(objective.centre)) + 3.0 * float(np.linalg.norm(objective.pulled_centre))
    lengths = centre + 4.0 * float(np.linalg.norm(state.shift)) + 4.0 * float(np.linalg.norm(state.anchor.point))
    steepest = math.sqrt(float(objective.curvature or 0.0) / float(objective.loss.smoothness or 1.0)) / objective.clip
    evaluating = 8.0 * (1.0 + steepest * (objective.loss.lipschitz or 0.0))
    return ROUNDING * (adding + lengths / objective.length + evaluating)


def inexactness(state: State, shift: float) -> float:
    """Return ε such that the records' part of the gradient is an ε-subgradient within `shift` of the point.

    Both in units: ε of clip²/ridge, the shift of coefficients.
    """
    objective, records = state.anchor.objective, state.anchor.objective.records
    d = objective.dimension
    moved = shift + (d + 4.0) * ROUNDING * float(np.linalg.norm(state.shift))
    moved += (4.0 * d + 16.0) * ROUNDING**2 * float(np.linalg.norm(state.anchor.point))
    errors = (
        ROUNDING * (2.0 * np.abs(state.predictions) + 2.0 * np.abs(state.anchor.base)) + records.norms * moved + TINY
    )
    change = state.anchor.slopes(state.predictions + errors) - state.anchor.slopes(state.predictions - errors)
    reach = np.where(records.norms > 0.0, errors / np.where(records.norms > 0.0, records.norms, 1.0), 0.0)
    return float(change @ reach) / (objective.size * objective.length) * (1.0 + 1e-9)


def _in_ball(state: State, ball: L2Ball) -> tuple[State, FloatVector, float]:
    """Residual g + νn with n the outward normal and ν ≥ 0; a point near the sphere stands for one on it."""
    centre = np.zeros(ball.dimension) if ball.centre is None else np.array(ball.centre)
    inside = ball.project(state.point)
    found = state if np.array_equal(inside, state.point) else state.moved(inside - state.anchor.point)
    normal, distance = polar(found.point - centre)
    slack = 8.0 * ROUNDING * (ball.radius + float(np.linalg.norm(centre)))
    if distance < ball.radius - slack:
        return found, found.gradient, slack
    multiplier = max(0.0, -float(normal @ found.gradient))
    return found, found.gradient + multiplier * normal, abs(distance - ball.radius) + slack


def _projected(state: State, domain: Domain) -> tuple[State, FloatVector, float]:
    """Residual at p = Π_W(w − tg), with the normal vector (w − tg − p)/t of W at p."""
    objective = state.anchor.objective
    step = objective.length / state.anchor.stiffness(state.predictions)
    target = state.point - step * state.gradient
    point = domain.project(target)
    found = state.moved(point - state.anchor.point)
    slack = PROJECTION * (float(np.linalg.norm(point)) + float(np.linalg.norm(target - point)))
    residual = found.gradient + (target - point) / step
    norm = float(np.linalg.norm(residual))
    extra = slack / step
    return found, residual * (1.0 + extra / norm) if norm > 0.0 else np.full_like(residual, extra), slack
