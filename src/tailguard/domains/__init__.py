"""Domains: where the coefficients must lie. Plain public numbers in the fields."""

from tailguard.domains.ball_intersection import BallIntersection
from tailguard.domains.base import Domain
from tailguard.domains.box import Box
from tailguard.domains.ellipsoid import Ellipsoid
from tailguard.domains.l1_ball import L1Ball
from tailguard.domains.l2_ball import L2Ball
from tailguard.domains.polytope import Polytope
from tailguard.domains.simplex import Simplex
from tailguard.domains.sparse import Sparse
from tailguard.domains.whole_space import WholeSpace

__all__ = [
    "BallIntersection",
    "Box",
    "Domain",
    "Ellipsoid",
    "L1Ball",
    "L2Ball",
    "Polytope",
    "Simplex",
    "Sparse",
    "WholeSpace",
]
