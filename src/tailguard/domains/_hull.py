"""The point of a convex hull that is nearest to a given point, by an active set of vertices.

The method keeps a convex combination of affinely independent vertices. It adds the vertex that lies farthest
in the direction of the residual, moves to the nearest point of the affine hull of the kept ones, and drops
what that would give a negative weight (Wolfe 1976, "Finding the nearest point in a polytope"). Each set of
vertices occurs at most once, so the method ends; the cap below only guards against rounding. Every iterate is
a convex combination of vertices, so the result lies in the hull whatever happens.
"""

import numpy as np

from tailguard.domains.base import FloatMatrix, FloatVector

__all__ = ["nearest_in_hull"]

ROUNDING = 1e-14
STEPS_PER_VERTEX = 20


def nearest_in_hull(vertices: FloatMatrix, point: FloatVector) -> FloatVector:
    """Return argmin ‖w − point‖₂ over the convex hull of the rows of `vertices`; their size should be 1."""
    kept = [int(np.argmax(vertices @ point - 0.5 * np.square(vertices).sum(axis=1)))]
    weights = np.ones(1)
    nearest: FloatVector = vertices[kept[0]]
    for _ in range(STEPS_PER_VERTEX * len(vertices)):
        residual = _orthogonal(vertices[kept], point - nearest)
        gains = (vertices - nearest) @ residual
        gains[kept] = 0.0
        best, least = int(np.argmax(gains)), ROUNDING * float(np.abs(residual).sum())
        if gains[best] <= least:
            break
        kept, weights = _descend(vertices, point, [*kept, best], np.append(weights, 0.0))
        before, nearest = nearest, weights @ vertices[kept]
        if (nearest - before) @ residual <= 0.1 * least:
            break  # all that is left is rounding
    return nearest


def _descend(
    vertices: FloatMatrix, point: FloatVector, kept: list[int], weights: FloatVector
) -> tuple[list[int], FloatVector]:
    """Move towards the nearest point of the affine hull, dropping a vertex at each wall on the way."""
    while True:
        goal = _affine_weights(vertices[kept], point)
        if goal.min() > ROUNDING or len(kept) == 1:
            return kept, np.maximum(goal, 0.0) / np.maximum(goal, 0.0).sum()
        falling = goal <= ROUNDING
        steps = np.where(falling, weights / np.maximum(weights - goal, np.finfo(float).tiny), np.inf)
        wall = int(np.argmin(steps))
        weights = np.maximum(weights + min(1.0, steps[wall]) * (goal - weights), 0.0)
        weights = np.delete(weights, wall)
        del kept[wall]
        weights /= weights.sum()


def _affine_weights(corners: FloatMatrix, point: FloatVector) -> FloatVector:
    """Weights, summing to one, of the projection of `point` onto the affine hull of `corners`."""
    rest = np.linalg.lstsq((corners[1:] - corners[0]).T, point - corners[0], rcond=None)[0]
    return np.concatenate([[1.0 - rest.sum()], rest])


def _orthogonal(corners: FloatMatrix, residual: FloatVector) -> FloatVector:
    """Remove what rounding left of the residual along the affine hull of `corners`: it would hide a thin hull."""
    edges = (corners[1:] - corners[0]).T
    return np.asarray(residual - edges @ np.linalg.lstsq(edges, residual, rcond=None)[0])
