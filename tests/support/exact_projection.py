"""Projections in 50 digits, from the definition of the set: the reference for the accuracy that certificates assume."""

from itertools import combinations

import mpmath as mp

DIGITS = 50


def onto_ellipsoid(matrix, point):
    """Nearest point with ⟨x, Ax⟩ ≤ 1: (I + νA)x = y, with ν by bisection."""
    with mp.workdps(DIGITS):
        A, y = mp.matrix(matrix.tolist()), mp.matrix(point.tolist())

        def solution(multiplier):
            return mp.lu_solve(mp.eye(len(point)) + multiplier * A, y)

        def outside(x):
            return (x.T * A * x)[0] > 1

        if not outside(y):
            return y
        low, high = mp.mpf(0), mp.mpf(1)
        while outside(solution(high)):
            high *= 2
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (middle, high) if outside(solution(middle)) else (low, middle)
        return solution(high)


def onto_hull(corners, point):
    """Nearest point of a convex hull: the best of the projections onto faces that fall inside them."""
    with mp.workdps(DIGITS):
        y = mp.matrix(point.tolist())
        d = len(point)
        found = []
        for count in range(1, d + 2):
            for face in combinations(corners.tolist(), count):
                x = _onto_face(list(map(mp.matrix, face)), y)
                if x is not None:
                    found.append((mp.norm(x - y), x))
        return min(found, key=lambda pair: pair[0])[1]


def _onto_face(face, y):
    first, others = face[0], face[1:]
    if not others:
        return first
    edges = mp.matrix(len(y), len(others))
    for j, corner in enumerate(others):
        edges[:, j] = corner - first
    gram = edges.T * edges
    if abs(mp.det(gram)) < mp.mpf(10) ** -30:
        return None
    weights = mp.lu_solve(gram, edges.T * (y - first))
    return first + edges * weights if min(weights) >= 0 and sum(weights) <= 1 else None
