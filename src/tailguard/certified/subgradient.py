"""The adaptive projected subgradient method with inexact projections (Lowy 2026, Algorithm 3).

As printed: it is the reference for tiny problems. What it would take elsewhere is `predicted_iterations`, and
beyond a public number it refuses. `minimise` solves the same kind of problem in a handful of Newton steps.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from tailguard._validate import real, refuse
from tailguard.certified.kernels import FloatVector
from tailguard.domains.base import Domain
from tailguard.errors import ParameterError

__all__ = ["MOST_ITERATIONS", "adaptive_subgradient", "inexact_projection", "predicted_iterations"]

MOST_ITERATIONS = 2_000_000

Oracle = Callable[[FloatVector], FloatVector]
InexactProjection = Callable[[FloatVector, float], FloatVector]


def predicted_iterations(diameter: float, lipschitz: float, accuracy: float) -> int:
    """Return T = ⌈(3DL/α)²⌉, after which Algorithm 3 has halted (Proposition 2.9).

    Examples
    --------
    >>> predicted_iterations(diameter=2.0, lipschitz=1.0, accuracy=0.01)
    360000
    """
    return math.ceil((3.0 * diameter * lipschitz / accuracy) ** 2 * (1.0 - 1e-12))


def adaptive_subgradient(
    subgradient: Oracle,
    project: InexactProjection,
    start: ArrayLike,
    *,
    diameter: float,
    lipschitz: float,
    accuracy: float,
) -> FloatVector:
    """Return a point of K at which a convex function is within `accuracy` of its minimum over K.

    Parameters
    ----------
    subgradient : callable
        x ↦ an element of ∂Φ(x), of norm at most `lipschitz`.
    project : callable
        (y, ξ) ↦ a point of K within ξ of the projection of y.
    start : array
        A point of K.
    diameter, lipschitz : float
        D ≥ diam(K) and L, public: they bound the number of iterations and nothing else.
    accuracy : float
        α > 0.

    Raises
    ------
    ParameterError
        If T = ⌈(3DL/α)²⌉ exceeds `MOST_ITERATIONS`; the message tells T.
    """
    D, alpha = (real(k, v, "Algorithm 3", above=0.0) for k, v in (("diameter", diameter), ("accuracy", accuracy)))
    most = predicted_iterations(D, real("lipschitz", lipschitz, "Algorithm 3", above=0.0), alpha)
    if most > MOST_ITERATIONS:
        raise ParameterError(
            f"Algorithm 3 may take {most:.1e} iterations to reach an accuracy of {alpha:.1e}, "
            f"more than the {MOST_ITERATIONS:.0e} allowed: use 'minimise'."
        )
    x = np.array(start, dtype=np.float64)
    mean, squares = np.zeros_like(x), 0.0
    for count in range(1, most + 1):
        g = subgradient(x)
        if not g.any():
            return x
        mean += (x - mean) / count
        squares += float(np.vdot(g, g))
        step = D / math.sqrt(squares)
        if 3.0 * D * math.sqrt(squares) <= alpha * count:
            break
        x = project(x - step * g, min(D, alpha * step / (6.0 * D)))
    return mean


def inexact_projection(
    domain: Domain, centre: ArrayLike, radius: float, point: ArrayLike, accuracy: float
) -> FloatVector:
    """Return a point of W₀ = {w ∈ W : ‖w − centre‖ ≤ radius} within `accuracy` of the projection of `point`.

    Bisection of the multiplier λ in Π_W((y + λ·centre)/(1 + λ)) (Lowy 2026, Lemma 2.8). The centre must be
    a point of W.

    Examples
    --------
    >>> from tailguard.domains import Box
    >>> inexact_projection(Box((0.0, 0.0), (1.0, 1.0)), [0.0, 0.0], 0.5, [3.0, 0.0], 1e-9).round(6)
    array([0.5, 0. ])
    """
    c, y = np.asarray(centre, dtype=np.float64), np.asarray(point, dtype=np.float64)
    if not domain.contains(c):
        raise refuse("centre", "inexact_projection", "a point of the domain", centre)
    nearest, distance = domain.project(y), float(np.linalg.norm(y - c))
    if np.linalg.norm(nearest - c) <= radius:
        return nearest
    low, high = 0.0, distance / radius
    nearest = domain.project((y + high * c) / (1.0 + high))
    for _ in range(math.ceil(math.log2(1.0 + distance**2 / (radius * accuracy)))):
        middle = 0.5 * (low + high)
        candidate = domain.project((y + middle * c) / (1.0 + middle))
        if np.linalg.norm(candidate - c) <= radius:
            high, nearest = middle, candidate
        else:
            low = middle
    return nearest
