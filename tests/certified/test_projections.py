"""Computed projections are as near to exact ones as certificates assume."""

import mpmath as mp
import numpy as np
import pytest

from tailguard.certified.certificate import projection_error
from tailguard.domains import BallIntersection, Box, Ellipsoid, L1Ball, L2Ball, Polytope, Simplex
from tests.support.exact_projection import onto_ellipsoid, onto_hull


def relative_error(domain, point, exact):
    with mp.workdps(50):
        error = mp.norm(mp.matrix(domain.project(point).tolist()) - exact)
        return float(error / (mp.norm(exact) + mp.norm(mp.matrix(point.tolist()) - exact)))


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6, 1e10])
def test_ellipsoids(condition):
    rng = np.random.default_rng(1)
    for _ in range(10):
        basis = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        matrix = basis @ np.diag(np.geomspace(1.0, condition, 3)) @ basis.T
        matrix = 0.5 * (matrix + matrix.T)
        domain = Ellipsoid(tuple(map(tuple, matrix.tolist())))
        point = rng.standard_normal(3) * 10.0 ** rng.uniform(-1, 2)
        assert relative_error(domain, point, onto_ellipsoid(matrix, point)) <= projection_error(domain)


@pytest.mark.parametrize("flatness", [1.0, 1e-6])
def test_polytopes(flatness):
    rng = np.random.default_rng(2)
    for _ in range(8):
        corners = rng.standard_normal((5, 3)) * [1.0, 1.0, flatness]
        domain, point = Polytope(corners.tolist()), rng.standard_normal(3) * 10.0 ** rng.uniform(-1, 2)
        assert relative_error(domain, point, onto_hull(corners, point)) <= projection_error(domain)


def test_sets_with_corners():
    rng = np.random.default_rng(3)
    crosses = 0.7 * np.vstack([np.eye(3), -np.eye(3)])
    for _ in range(6):
        point = rng.standard_normal(3) * 10.0 ** rng.uniform(-1, 2)
        for domain, corners in ((Simplex(3, 0.7), crosses[:3]), (L1Ball(3, 0.7), crosses)):
            assert relative_error(domain, point, onto_hull(corners, point)) <= projection_error(domain)


def test_balls():
    rng = np.random.default_rng(4)
    for d in (1, 3, 50):
        for _ in range(20):
            centre, radius = rng.standard_normal(d), rng.uniform(0.1, 2.0)
            domain, point = L2Ball(d, radius, tuple(centre)), 5.0 * rng.standard_normal(d)
            with mp.workdps(50):
                away = mp.matrix(point.tolist()) - mp.matrix(centre.tolist())
                exact = mp.matrix(centre.tolist()) + away * min(1, radius / mp.norm(away))
            # The centre's own rounding belongs to the arithmetic around a projection.
            assert relative_error(domain, point, exact) <= projection_error(domain) + 4.0 * 2.0**-53


def test_intersections_inherit():
    box = Box((0.0, 0.0), (1.0, 1.0))
    assert projection_error(box) == 0.0
    thin = Ellipsoid.from_axes([1e-5, 1.0])
    inside = BallIntersection(thin, (0.0, 0.0), 0.5)
    assert projection_error(inside) > projection_error(thin) > projection_error(BallIntersection(box, (0.0, 0.0), 0.5))
