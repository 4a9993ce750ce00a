"""Polytopes as Frank–Wolfe needs them: a score for every vertex, and the vertex that was picked.

The vertices of an ℓ1 ball and of a simplex are never listed. Those of a polytope are measured from their mean: a common
shift of all scores changes no pick, and the scores of a polytope far from the origin would otherwise drown in noise.
"""

from typing import TypeAlias

import numpy as np
from scipy.spatial.distance import pdist

from tailguard._validate import refuse
from tailguard.domains.base import Domain
from tailguard.domains.l1_ball import L1Ball
from tailguard.domains.polytope import Polytope
from tailguard.domains.simplex import Simplex
from tailguard.solvers.base import FloatVector
from tailguard.statistics.scores import CORNER_BITS, Coordinatewise, Opposed, Signed, Vertices, signed_coordinate

__all__ = [
    "Hull",
    "ScoreType",
    "first_point",
    "hull",
    "l1_diameter",
    "l1_reach",
    "score_count",
    "score_type",
    "scores",
    "sum_bits",
    "vertex",
]

Hull: TypeAlias = L1Ball | Simplex | Polytope
ScoreType: TypeAlias = type[Signed] | type[Opposed] | type[Vertices]


def hull(domain: Domain, owner: str) -> Hull:
    """Return a domain whose vertices can be picked from, or raise."""
    if not isinstance(domain, L1Ball | Simplex | Polytope) or l1_reach(domain) == 0.0:
        raise refuse("domain", owner, "an L1Ball, a Simplex or a Polytope of at least two different corners", domain)
    return domain


def score_type(domain: Hull) -> ScoreType:
    """Return the statistic that holds the scores of the vertices."""
    if isinstance(domain, L1Ball):
        return Signed
    return Opposed if isinstance(domain, Simplex) else Vertices


def score_count(domain: Hull) -> int:
    """Return the number of vertices."""
    if isinstance(domain, L1Ball):
        return 2 * domain.dimension
    return domain.dimension if isinstance(domain, Simplex) else len(domain.corners)


def sum_bits(domain: Hull, bits: int) -> int:
    """Return the bits of the gradient whose scores have `bits`; products with corners take some of them."""
    return bits - CORNER_BITS if isinstance(domain, Polytope) else bits


def scores(domain: Hull, gradient: Coordinatewise) -> Signed | Opposed | Vertices:
    """Return −⟨v, gradient⟩ for every vertex v, up to a common factor and a common shift."""
    if isinstance(domain, L1Ball):
        return Signed(gradient)
    return Opposed(gradient) if isinstance(domain, Simplex) else Vertices(gradient, _centred(domain))


def vertex(domain: Hull, index: float) -> FloatVector:
    """Return the vertex of a released index."""
    number = int(np.clip(index, 0, score_count(domain) - 1))
    if isinstance(domain, Polytope):
        return np.array(domain.corners[number])
    corner = np.zeros(domain.dimension)
    coordinate, sign = signed_coordinate(number, domain.dimension) if isinstance(domain, L1Ball) else (number, 1.0)
    corner[coordinate] = sign * domain.radius
    return corner


def first_point(domain: Hull) -> FloatVector:
    """Return 0 where it lies in the domain, else the mean of the vertices: where a walk starts that is told nothing."""
    if domain.contains(np.zeros(domain.dimension)):
        return np.zeros(domain.dimension)
    if isinstance(domain, Polytope):
        return np.asarray(domain.vertices().mean(axis=0))
    return np.full(domain.dimension, domain.radius / domain.dimension)


def l1_reach(domain: Hull) -> float:
    """Return the ℓ1 norm by which a score counts a gradient's largest change: max ‖v‖₁, from where v is measured."""
    return float(np.abs(_centred(domain)).sum(axis=1).max()) if isinstance(domain, Polytope) else domain.radius


def l1_diameter(domain: Hull) -> float:
    """Return ‖W‖₁ = max ‖u − v‖₁, as Hu et al. 2022 define it."""
    return float(pdist(domain.vertices(), "cityblock").max()) if isinstance(domain, Polytope) else 2.0 * domain.radius


def _centred(domain: Polytope) -> FloatVector:
    corners = domain.vertices()
    return np.asarray(corners - corners.mean(axis=0))
