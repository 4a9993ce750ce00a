"""Projection on a domain in the metric of a preconditioner: the step of a constrained Newton method.

min over u in W, b in R of ½ (x − x̂)ᵀ H (x − x̂), x = (u ÷ units, b)

Projecting a preconditioned step in the Euclidean metric would stop at a point that is no constrained minimiser.
"""

import numpy as np

from tailguard.domains.base import Domain
from tailguard.domains.whole_space import WholeSpace
from tailguard.solvers.base import FloatVector
from tailguard.solvers.preconditioner import Preconditioner

__all__ = ["metric_projection"]

ITERATIONS = 300
"""Accelerated gradient steps at most; everything here is released, so that it may decide when to stop."""


def metric_projection(point: FloatVector, units: FloatVector, domain: Domain, metric: Preconditioner) -> FloatVector:
    """Return the nearest point, in the metric of the damped Gram matrix, whose slopes in raw units lie in the domain.

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
    d = domain.dimension
    factors = np.concatenate([np.where(units > 0.0, units, 1.0), np.ones(point.size - d)])
    hessian = (metric.vectors * metric.values) @ metric.vectors.T / np.outer(factors, factors)
    centre = point * factors
    step = 1.0 / max(float(np.linalg.norm(hessian, 2)), 1e-300)  # 0 where all columns are dropped
    current = ahead = _feasible(centre, domain)
    momentum = 1.0
    for _ in range(ITERATIONS):
        following = _feasible(ahead - step * (hessian @ (ahead - centre)), domain)
        if np.array_equal(following, ahead) and np.array_equal(following, current):
            break  # every further step would be the same
        grown = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = following + (momentum - 1.0) / grown * (following - current)
        current, momentum = following, grown
    return np.asarray(current / factors)


def _feasible(point: FloatVector, domain: Domain) -> FloatVector:
    d = domain.dimension
    return np.concatenate([domain.project(point[:d]), point[d:]])
