"""The domains against answers worked by hand, at scales that overflow, and in the corners of their parameters."""

import math
from itertools import product

import numpy as np
import pytest

from tailguard.domains import (
    BallIntersection,
    Box,
    Ellipsoid,
    L1Ball,
    L2Ball,
    Polytope,
    Simplex,
    Sparse,
    WholeSpace,
)
from tailguard.errors import ParameterError
from tests.support.sentences import sentence

LARGEST = np.finfo(float).max


def test_whole_space_saturates_what_overflowed():
    np.testing.assert_array_equal(WholeSpace(2).project([np.inf, -np.inf]), [LARGEST, -LARGEST])


def test_l2_ball_keeps_the_direction_of_a_huge_point():
    np.testing.assert_allclose(L2Ball(2, 1.0).project([3e307, -4e307]), [0.6, -0.8], rtol=1e-15)
    np.testing.assert_allclose(L2Ball(2, 1.0).project([1e308, 1e200]), [1.0, 1e-108], rtol=1e-12)


def test_l2_ball_around_a_centre():
    ball = L2Ball(2, 5.0, centre=(10.0, 0.0))
    np.testing.assert_allclose(ball.project([13.0, 40.0]), [10.0 + 15.0 / math.hypot(3, 40), 200.0 / math.hypot(3, 40)])
    assert ball.norm_bound("l2") == 15.0
    assert ball.norm_bound("l1") == pytest.approx(10.0 + 5.0 * math.sqrt(2.0))


def test_l1_ball_soft_thresholds():
    np.testing.assert_allclose(L1Ball(4, 2.0).project([3.0, -2.0, 0.1, 0.0]), [1.5, -0.5, 0.0, 0.0])


def test_l1_ball_and_simplex_share_ties_at_any_scale():
    np.testing.assert_array_equal(L1Ball(3, 1.0).project([1e308, -1e308, 1e307]), [0.5, -0.5, 0.0])
    np.testing.assert_array_equal(Simplex(3).project([1e308, 1e308, -LARGEST]), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(Simplex(2).project([2.0**53 + 2.0, 2.0**53]), [1.0, 0.0])


def test_l1_ball_of_many_coordinates_has_the_stated_norm():
    point = np.random.default_rng(0).standard_cauchy(100_000)
    assert np.abs(L1Ball(100_000, 3.0).project(point)).sum() == pytest.approx(3.0, rel=1e-14)


def test_vertices_come_in_the_stated_order():
    np.testing.assert_array_equal(L1Ball(2, 3.0).vertices(), [[3, 0], [0, 3], [-3, 0], [0, -3]])
    np.testing.assert_array_equal(Simplex(2, 3.0).vertices(), [[3, 0], [0, 3]])
    np.testing.assert_array_equal(Box((0, 1), (5, 6)).vertices(), [[0, 1], [0, 6], [5, 1], [5, 6]])


def test_boxes_of_many_corners_do_not_list_them():
    assert Box([0.0] * 16, [1.0] * 16).vertices().shape == (65536, 16)
    assert Box([0.0] * 17, [1.0] * 17).vertices() is None


def test_ties_of_a_linear_minimiser_go_to_the_first():
    np.testing.assert_array_equal(L1Ball(3, 1.0).linear_minimiser([1.0, -2.0, 2.0]), [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(Simplex(3).linear_minimiser([1.0, 0.0, 0.0]), [0.0, 1.0, 0.0])


def test_a_round_ellipsoid_is_a_ball():
    rng = np.random.default_rng(1)
    ellipsoid, ball = Ellipsoid.from_axes([2.0] * 5), L2Ball(5, 2.0)
    for point in rng.standard_normal((20, 5)) * 3.0:
        np.testing.assert_allclose(ellipsoid.project(point), ball.project(point), atol=1e-14)
        np.testing.assert_allclose(ellipsoid.linear_minimiser(point), ball.linear_minimiser(point), atol=1e-14)
    assert ellipsoid.norm_bound("l1") == pytest.approx(ball.norm_bound("l1"))


@pytest.mark.parametrize("scale", [1e-90, 1.0, 1e90])
@pytest.mark.parametrize("far", [1.1, 1e10, 1e150])
def test_an_ellipsoid_projects_at_any_scale(scale, far):
    thin, wide = Ellipsoid.from_axes([scale, 1e-5 * scale]), Ellipsoid.from_axes([1.0, 1e-5])
    point = np.array([1.0, 0.3]) * far
    np.testing.assert_allclose(thin.project(point * scale) / scale, wide.project(point), rtol=1e-9)


@pytest.mark.parametrize("dimension", [16, 17])
def test_l1_bound_of_a_diagonal_ellipsoid_is_exact_in_any_dimension(dimension):
    axes = np.arange(1.0, dimension + 1.0)
    assert Ellipsoid.from_axes(axes).norm_bound("l1") == pytest.approx(np.linalg.norm(axes), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_l1_bound_of_a_rotated_ellipsoid_tries_every_sign(seed):
    basis, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((4, 4)))
    matrix = (basis * [0.1, 1.0, 5.0, 20.0]) @ basis.T
    inverse = np.linalg.inv(matrix)
    largest = max(np.array(signs) @ inverse @ signs for signs in product([-1.0, 1.0], repeat=4))
    assert Ellipsoid(matrix).norm_bound("l1") == pytest.approx(math.sqrt(largest), rel=1e-12)


def test_polytope_of_a_cross_is_the_l1_ball():
    ball = L1Ball(6, 1.5)
    polytope = Polytope(ball.vertices())
    rng = np.random.default_rng(2)
    for scale in (0.1, 1.0, 10.0, 1e6):
        for point in scale * rng.standard_normal((10, 6)):
            np.testing.assert_allclose(polytope.project(point), ball.project(point), atol=1e-14 * max(scale, 1.0) * 10)


def test_polytope_with_many_corners_on_a_sphere():
    rng = np.random.default_rng(3)
    corners = rng.standard_normal((400, 5))
    corners /= np.linalg.norm(corners, axis=1)[:, None]
    polytope = Polytope(corners)
    for point in rng.standard_normal((20, 5)) * 2.0:
        projection = polytope.project(point)
        residual = point - projection
        assert ((corners - projection) @ residual).max() <= 1e-12 * np.linalg.norm(residual)


def test_a_paper_thin_polytope_still_contains_its_projections():
    rng = np.random.default_rng(10)
    for _ in range(150):
        corners = rng.standard_normal((25, 6)) * 10.0 ** rng.uniform(-9.0, 0.0, 6)
        polytope = Polytope(corners)
        point = corners.mean(axis=0) + 1e-3 * np.ptp(corners) * rng.standard_normal(6)
        assert polytope.contains(polytope.project(point), tolerance=1e-13)


def test_sparse_keeps_the_largest_and_the_first_among_equals():
    np.testing.assert_array_equal(Sparse(4, 2).project([1.0, -3.0, 3.0, 3.0]), [0.0, -3.0, 3.0, 0.0])
    np.testing.assert_allclose(Sparse(3, 2, radius=1.0).project([3e307, 1.0, -4e307]), [0.6, 0.0, -0.8])


def test_sparse_takes_the_first_of_many_equals():
    point = np.random.default_rng(5).choice([-2.0, -1.0, 1.0, 2.0], 5000)
    twos, ones = np.flatnonzero(np.abs(point) == 2.0), np.flatnonzero(np.abs(point) == 1.0)
    kept = np.flatnonzero(Sparse(5000, twos.size + 900).project(point))
    np.testing.assert_array_equal(kept, np.sort(np.concatenate([twos, ones[:900]])))


def test_sparse_linear_minimiser_uses_the_ball():
    np.testing.assert_allclose(Sparse(3, 2, radius=5.0).linear_minimiser([3.0, 1.0, -4.0]), [-3.0, 0.0, 4.0])


def test_ball_intersection_of_two_discs_is_a_lens():
    lens = BallIntersection(L2Ball(2, 1.0), (1.0, 0.0), 1.0)
    np.testing.assert_allclose(lens.project([0.5, 100.0]), [0.5, math.sqrt(0.75)], atol=1e-12)
    np.testing.assert_allclose(lens.project([-7.0, 0.0]), [0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(lens.project([0.6, 0.1]), [0.6, 0.1])


def test_certified_error_is_tiny_and_true():
    rng = np.random.default_rng(4)
    for radius in (1e-6, 0.3, 0.9):
        whole = BallIntersection(WholeSpace(3), (0.0, 0.5, 0.0), radius)
        ball = L2Ball(3, radius, centre=(0.0, 0.5, 0.0))
        for point in rng.standard_normal((10, 3)):
            found, error = whole.certified_projection(point)
            assert error <= 1e-12 * max(radius, float(np.linalg.norm(found - ball.centre)))
            assert np.linalg.norm(found - ball.project(point)) <= error + 1e-15


def test_certified_error_is_zero_where_the_ball_does_not_bind():
    found, error = BallIntersection(L2Ball(2, 1.0), (0.0, 0.0), 3.0).certified_projection([0.0, 9.0])
    np.testing.assert_allclose(found, [0.0, 1.0])
    assert error == 0.0


def test_linear_minimiser_of_a_ball_intersection_sees_small_slopes():
    square = BallIntersection(Box((0.0, 0.0), (1.0, 1.0)), (0.5, 0.5), 1.0)
    np.testing.assert_allclose(square.linear_minimiser([1.0, -1e-6]), [0.0, 1.0], atol=1e-12)


def test_ball_intersection_mends_a_projection_that_rounds_outward():
    class Outward(WholeSpace):
        def _project(self, point):
            return point + 1e-11 * np.sign(point)

    found = BallIntersection(Outward(2), (0.0, 0.0), 1.0).project([30.0, 40.0])
    assert np.linalg.norm(found) <= 1.0 + 4e-16


def test_ball_intersection_takes_few_projections():
    class Counted(WholeSpace):
        calls = 0

        def _project(self, point):
            Counted.calls += 1
            return point

    BallIntersection(Counted(2), (0.0, 0.0), 1e-3).project([1e308, 1e308])
    assert Counted.calls <= 70


WRONG = [
    (lambda: WholeSpace(0), "dimension", "WholeSpace", "an integer of at least 1"),
    (lambda: L2Ball(True, 1.0), "dimension", "L2Ball", "an integer of at least 1"),
    (lambda: L2Ball(2, 0.0), "radius", "L2Ball", "a finite number at least 1e-100 and at most 1e+100"),
    (lambda: L2Ball(2, math.inf), "radius", "L2Ball", "a finite number at least 1e-100 and at most 1e+100"),
    (lambda: L2Ball(2, 1.0, (1.0,)), "centre", "L2Ball", "a sequence of 2 numbers of size at most 1e+100"),
    (lambda: L2Ball(1, 1.0, (math.nan,)), "centre", "L2Ball", "a sequence of 1 numbers of size at most 1e+100"),
    (lambda: L1Ball(2, "wide"), "radius", "L1Ball", "a finite number at least 1e-100 and at most 1e+100"),
    (lambda: Simplex(2, -1.0), "radius", "Simplex", "a finite number at least 1e-100 and at most 1e+100"),
    (lambda: Simplex(2.5), "dimension", "Simplex", "an integer of at least 1"),
    (lambda: Box((), ()), "low", "Box", "a sequence of numbers of size at most 1e+100"),
    (lambda: Box((0.0, 1.0), (1.0,)), "high", "Box", "a sequence of 2 numbers of size at most 1e+100"),
    (lambda: Box((0.0, 1.0), (1.0, 0.5)), "high", "Box", "at least 'low' in every coordinate"),
    (lambda: Box((0.0,), (math.inf,)), "high", "Box", "a sequence of 1 numbers of size at most 1e+100"),
    (lambda: Polytope([]), "corners", "Polytope", "rows of equal length with numbers of size at most 1e+100"),
    (
        lambda: Polytope([(1.0,), (1.0, 2.0)]),
        "corners",
        "Polytope",
        "rows of equal length with numbers of size at most 1e+100",
    ),
    (lambda: Polytope([("a",)]), "corners", "Polytope", "rows of equal length with numbers of size at most 1e+100"),
    (lambda: Sparse(3, 4), "sparsity", "Sparse", "an integer of at least 1 and at most 3"),
    (lambda: Sparse(3, 1, 0.0), "radius", "Sparse", "a finite number at least 1e-100 and at most 1e+100"),
    (lambda: Ellipsoid.from_axes([1.0, 0.0]), "axes", "Ellipsoid", "numbers of at least 1e-100"),
    (lambda: BallIntersection(Sparse(2, 1), (0.0, 0.0), 1.0), "domain", "BallIntersection", "a convex domain"),
    (lambda: BallIntersection("ball", (0.0,), 1.0), "domain", "BallIntersection", "a convex domain"),
    (lambda: BallIntersection(L2Ball(2, 1.0), (2.0, 0.0), 1.0), "centre", "BallIntersection", "a point of the domain"),
    (
        lambda: BallIntersection(L2Ball(1, 1.0), (0.0,), 0.0),
        "radius",
        "BallIntersection",
        "a finite number at least 1e-100 and at most 1e+100",
    ),
]


@pytest.mark.parametrize(("build", "name", "owner", "rule"), WRONG)
def test_wrong_parameters_are_refused_in_one_sentence(build, name, owner, rule):
    with pytest.raises(ParameterError, match=sentence(name, owner, rule)):
        build()


@pytest.mark.parametrize(
    "matrix",
    [
        [[1.0, 0.0]],
        [[1.0, 0.5], [0.4, 1.0]],
        [[1.0, 2.0], [2.0, 1.0]],
        [[1.0, 1.0], [1.0, 1.0]],
        [[1.0, 0.0], [0.0, 1e-13]],
        [[0.0]],
        [[-1.0]],
    ],
)
def test_an_ellipsoid_needs_a_positive_definite_matrix(matrix):
    rule = "symmetric and positive definite, with condition number at most 1e12"
    with pytest.raises(ParameterError, match=sentence("matrix", "Ellipsoid", rule)):
        Ellipsoid(matrix)


def test_fields_accept_arrays_and_become_plain():
    assert Box(np.zeros(2), np.ones(2)) == Box((0, 0), (1, 1)) == Box([0, 0], [1, 1])
    assert Polytope(np.eye(2)) == Polytope([[1, 0], [0, 1]])
    assert L2Ball(np.int64(2), np.float32(1.0), np.ones(2)) == L2Ball(2, 1.0, (1.0, 1.0))
    assert Ellipsoid(np.eye(2)) == Ellipsoid(((1.0, 0.0), (0.0, 1.0)))
