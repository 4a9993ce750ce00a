"""Minimisers of an average loss over a domain, without privacy: the references of the figures."""

from collections.abc import Callable

import numpy as np

from tailguard.domains import Domain, L2Ball, Sparse
from tailguard.reproduction.objectives import Objective
from tailguard.solvers.base import Estimate
from tailguard.statistics.arrays import FloatVector

__all__ = ["accelerated", "minimise"]

TOLERANCE = 1e-6
"""The projected gradient at the answer, relative to the gradient at 0."""

MOST_STEPS, MOST_SUPPORTS = 3000, 30


def minimise(objective: Objective, domain: Domain) -> Estimate:
    """Return argmin of the objective over w in the domain, with a free intercept.

    Over a convex domain by accelerated projected gradients. Over sparse vectors by hard-thresholding pursuit: one
    gradient step chooses the support, the loss is minimised on it, until the support stays. That finds a minimiser on a
    support, and on well-conditioned designs the best one.

    Parameters
    ----------
    objective : Objective
        What is minimised.
    domain : Domain
        Where the coefficients lie.
    """
    if not isinstance(domain, Sparse):
        return objective.model(accelerated(objective, domain.project))
    w, support = np.zeros(domain.dimension), np.zeros(0, dtype=np.int64)
    ball = None if domain.radius is None else L2Ball(domain.sparsity, domain.radius)
    for _ in range(MOST_SUPPORTS):
        moved = w - objective.gradient(w) / objective.smoothness
        chosen = np.sort(np.argsort(-np.abs(moved), kind="stable")[: domain.sparsity])
        if np.array_equal(chosen, support):
            break
        support, w = chosen, np.zeros_like(w)
        w[support] = accelerated(objective.restricted(support), (lambda v: v) if ball is None else ball.project)
    return objective.model(w)


def accelerated(objective: Objective, project: Callable[[FloatVector], FloatVector]) -> FloatVector:
    """Return the minimiser by Nesterov's method with restarts, from 0."""
    w = ahead = np.zeros(objective.dimension)
    weight, smoothness = 1.0, objective.smoothness
    enough = TOLERANCE * float(np.linalg.norm(objective.gradient(w)))
    for _ in range(MOST_STEPS):
        new = project(ahead - objective.gradient(ahead) / smoothness)
        if smoothness * float(np.linalg.norm(new - ahead)) <= enough:
            return new
        if float((ahead - new) @ (new - w)) > 0.0:  # the momentum points uphill
            weight = 1.0
        larger = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * weight * weight))
        ahead = new + (weight - 1.0) / larger * (new - w)
        w, weight = new, larger
    return w
