"""Minimiser of Newton's quadratic model over a domain."""

import math
from itertools import islice

import numpy as np
from scipy.optimize import brentq

from tailguard.certified.accelerated import accelerated
from tailguard.certified.kernels import FloatMatrix, FloatVector
from tailguard.domains import L2Ball, WholeSpace
from tailguard.domains.base import Domain, polar

__all__ = ["model_minimiser"]

MOST_STEPS = 3000


def model_minimiser(
    hessian: FloatMatrix, gradient: FloatVector, point: FloatVector, length: float, domain: Domain | None
) -> FloatVector:
    """Return the v that minimises ⟨gradient, v⟩ + ½⟨v, hessian v⟩/length subject to point + v ∈ W.

    It is exact without a domain, where the domain does not bind, and on a ball; else approximate.
    """
    free = np.asarray(-length * np.linalg.solve(hessian, gradient))
    if domain is None or isinstance(domain, WholeSpace):
        return free
    landed = point + free
    if np.array_equal(domain.project(landed), landed):
        return free
    if isinstance(domain, L2Ball):
        return _on_sphere(hessian, length * gradient, point, domain)
    return _projected(hessian, length * gradient, point, domain)


def _on_sphere(hessian: FloatMatrix, gradient: FloatVector, point: FloatVector, ball: L2Ball) -> FloatVector:
    """Solve (H + ν)u = −b with ‖u‖ = r around the ball's centre; 1/‖u‖ is nearly linear in ν."""
    centre = np.zeros_like(point) if ball.centre is None else np.array(ball.centre)
    eigenvalues, basis = np.linalg.eigh(hessian)
    linear = basis.T @ (gradient - hessian @ (point - centre))

    def slack(multiplier: float) -> float:
        return float(ball.radius / np.linalg.norm(linear / (eigenvalues + multiplier)) - 1.0)

    highest = float(np.linalg.norm(linear)) / ball.radius
    if slack(0.0) >= 0.0 or highest <= 0.0:
        multiplier = 0.0
    else:
        multiplier, _ = brentq(slack, 0.0, highest, xtol=1e-30, rtol=1e-15, full_output=True, disp=False)
    direction, _ = polar(basis @ (-linear / (eigenvalues + multiplier)))
    return np.asarray(centre + ball.radius * direction - point)


def _projected(hessian: FloatMatrix, gradient: FloatVector, point: FloatVector, domain: Domain) -> FloatVector:
    eigenvalues = np.linalg.eigvalsh(hessian)
    lowest, highest = float(eigenvalues[0]), float(eigenvalues[-1])
    steps = int(min(MOST_STEPS, 40.0 * math.sqrt(highest / lowest)))
    slope = gradient - hessian @ point
    iterates = accelerated(lambda w: slope + hessian @ w, domain.project, point, highest, lowest)
    return np.asarray(next(islice(iterates, steps, None)) - point)
