"""Every domain that the contract suite is run on. A new domain gets its tests by being added here."""

from dataclasses import dataclass

import numpy as np

from tailguard.domains import (
    BallIntersection,
    Box,
    Domain,
    Ellipsoid,
    L1Ball,
    L2Ball,
    Polytope,
    Simplex,
    Sparse,
    WholeSpace,
)


@dataclass(frozen=True)
class DomainCase:
    """A domain, and whether its norm bounds are attained or only upper bounds."""

    domain: Domain
    attained: bool = True

    def __str__(self) -> str:
        return f"{type(self.domain).__name__}-{self.domain.dimension}"


_rng = np.random.default_rng(20240607)


def _rotated(eigenvalues):
    basis, _ = np.linalg.qr(_rng.standard_normal((len(eigenvalues), len(eigenvalues))))
    array = (basis * eigenvalues) @ basis.T
    return Ellipsoid(0.5 * (array + array.T))


_CUBE = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
_CLOUD = Polytope(_rng.standard_normal((30, 4)) + 2.0)
_ELLIPSOID = _rotated([0.2, 1.0, 9.0])

DOMAINS = [
    DomainCase(WholeSpace(3)),
    DomainCase(L2Ball(1, 2.0)),
    DomainCase(L2Ball(4, 0.3)),
    DomainCase(L2Ball(3, 2.0, centre=(1.0, -4.0, 0.0))),
    DomainCase(L1Ball(1, 3.0)),
    DomainCase(L1Ball(5, 1.0)),
    DomainCase(L1Ball(12, 7.5)),
    DomainCase(Simplex(1, 2.0)),
    DomainCase(Simplex(4)),
    DomainCase(Simplex(10, 4.0)),
    DomainCase(Box((-1.0, 0.0, 2.0), (1.0, 0.0, 5.0))),
    DomainCase(Box(low=[-1.0] * 20, high=[0.5] * 20)),
    DomainCase(Ellipsoid.from_axes((3.0, 0.1, 1.0))),
    DomainCase(Ellipsoid(((4.0,),))),
    DomainCase(_ELLIPSOID),
    DomainCase(_rotated(np.logspace(-3.0, 3.0, 6))),
    DomainCase(_rotated(np.linspace(0.5, 2.0, 20)), attained=False),
    DomainCase(Polytope([(0.0, 0.0), (2.0, 0.0), (0.0, 2.0)])),
    DomainCase(Polytope([(1.0, 2.0, 3.0)])),
    DomainCase(Polytope([(0.0, 0.0, 1.0), (1.0, 1.0, 0.0)])),  # a segment: no interior
    DomainCase(Polytope([*_CUBE, (0.5, 0.5, 0.5), (0.5, 0.0, 0.0), (1.0, 1.0, 1.0)])),  # redundant corners
    DomainCase(_CLOUD),
    DomainCase(Sparse(5, 2)),
    DomainCase(Sparse(5, 2, radius=1.0)),
    DomainCase(Sparse(4, 4, radius=0.5)),
    DomainCase(BallIntersection(WholeSpace(3), (1.0, 0.0, 2.0), 0.5)),
    DomainCase(BallIntersection(Simplex(4), (0.25, 0.25, 0.25, 0.25), 0.4), attained=False),
    DomainCase(BallIntersection(L1Ball(3, 1.0), (1.0, 0.0, 0.0), 0.7), attained=False),
    DomainCase(BallIntersection(Box((0.0, 0.0), (1.0, 1.0)), (1.0, 1.0), 1.2), attained=False),
    DomainCase(BallIntersection(_ELLIPSOID, (0.0, 0.0, 0.0), 0.8), attained=False),
    DomainCase(BallIntersection(_CLOUD, tuple(np.mean(_CLOUD.corners, axis=0)), 1.0), attained=False),
    DomainCase(BallIntersection(BallIntersection(L2Ball(2, 1.0), (1.0, 0.0), 1.0), (0.5, 0.0), 0.6), attained=False),
]
