"""What every domain must do: project any point to the nearest of its own, minimise, and bound itself."""

import copy
import dataclasses
import math
import pickle
from functools import cache

import numpy as np
import pytest

from tailguard import domains
from tailguard.domains import Domain
from tailguard.errors import ParameterError
from tests.support.conic import conic_minimum, conic_projection
from tests.support.registry_domains import DOMAINS
from tests.support.sentences import sentence

LARGEST = np.finfo(float).max

each_domain = pytest.mark.parametrize("case", DOMAINS, ids=str)
each_convex = pytest.mark.parametrize("case", [case for case in DOMAINS if case.domain.convex], ids=str)
each_bounded = pytest.mark.parametrize(
    "case", [case for case in DOMAINS if case.domain.norm_bound("l2") < math.inf], ids=str
)
each_bounded_convex = pytest.mark.parametrize(
    "case",
    [case for case in DOMAINS if case.domain.convex and case.domain.norm_bound("l2") < math.inf],
    ids=str,
)


def size(domain):
    bound = domain.norm_bound("l2")
    return bound if bound < math.inf else 1.0


def points(domain, count, seed=0):
    """Points inside, near, far and very far, some of them with equal or zero coordinates."""
    rng = np.random.default_rng(seed)
    scales = size(domain) * np.tile([0.05, 0.5, 1.0, 3.0, 100.0, 1e6], count // 6 + 1)[:count]
    cloud = rng.standard_normal((count, domain.dimension)) * scales[:, None]
    cloud[::5] = np.round(cloud[::5] / scales[::5, None]) * scales[::5, None]
    return cloud


@cache
def feasible(domain, count=30, seed=1):
    """Points of the domain, from the projection of a cloud; a convex domain also gives their mixtures."""
    rng = np.random.default_rng(seed)
    corners = np.array([domain.project(point) for point in points(domain, count, seed)])
    if not domain.convex:
        return corners
    return np.concatenate([corners, rng.dirichlet(np.full(count, 0.2), count) @ corners])


def hostile(domain):
    d = domain.dimension
    values = [1e308, -1e308, LARGEST, 5e-324, 1e-300, 0.0, 1.0, -1e154, 1e200]
    rows = [np.full(d, value) for value in values]
    rows += [np.where(np.arange(d) % 2 == 0, 1e308, value) for value in values]
    rows += [np.where(np.arange(d) == 0, value, 0.0) for value in values]
    return np.array([*rows, np.resize([1e308, -LARGEST, 1.0], d), np.resize([np.inf, -np.inf, 2.0], d)])


@each_domain
def test_projection_lies_in_the_domain_for_any_point(case):
    domain = case.domain
    for point in np.concatenate([points(domain, 36), hostile(domain)]):
        projection = domain.project(point)
        assert projection.dtype == np.float64
        assert projection.shape == (domain.dimension,)
        assert np.isfinite(projection).all()
        assert domain.contains(projection, tolerance=1e-13)


@each_domain
def test_projection_agrees_with_the_conic_solver(case):
    domain = case.domain
    rng = np.random.default_rng(2)
    for scale in (0.3, 0.5, 1.0, 1.5, 3.0, 10.0):
        point = scale * size(domain) * rng.standard_normal(domain.dimension)
        expected = conic_projection(domain, point)
        tolerance = 1e-6 * (size(domain) + float(np.linalg.norm(point)))
        if domain.convex:
            assert np.linalg.norm(domain.project(point) - expected) <= tolerance
        else:  # a nearest point need not be the only one
            distance = np.linalg.norm(domain.project(point) - point)
            assert distance == pytest.approx(np.linalg.norm(expected - point), abs=tolerance)


@each_convex
def test_no_feasible_point_is_nearer_by_the_variational_inequality(case):
    domain = case.domain
    others = feasible(domain)
    for point in np.concatenate([points(domain, 36, seed=3), hostile(domain)]):
        point = np.clip(point, -LARGEST, LARGEST)
        projection = domain.project(point)
        scale = max(float(np.abs(point).max()), size(domain))
        residual = point / scale - projection / scale
        reach = size(domain) * (float(np.abs(residual).sum()) + 1e-3)
        assert ((others - projection) @ residual).max() <= 1e-12 * reach
        if domain.norm_bound("l2") < math.inf:
            assert (domain.linear_minimiser(-residual) - projection) @ residual <= 1e-12 * reach


@each_domain
def test_projection_is_no_farther_than_any_feasible_point(case):
    domain = case.domain
    others = feasible(domain)
    for point in points(domain, 30, seed=4):
        distance = np.linalg.norm(domain.project(point) - point)
        assert distance <= np.linalg.norm(others - point, axis=1).min() * (1.0 + 1e-12) + 1e-13 * size(domain)


@each_domain
def test_projection_is_idempotent_and_leaves_the_domain_alone(case):
    domain = case.domain
    for point in feasible(domain, 30, seed=5):
        np.testing.assert_allclose(domain.project(point), point, rtol=0.0, atol=1e-12 * size(domain))


@each_convex
def test_projection_is_nonexpansive(case):
    domain = case.domain
    cloud = points(domain, 36, seed=6)
    images = np.array([domain.project(point) for point in cloud])
    for shift in (1, 6, 7):
        before = np.linalg.norm(cloud - np.roll(cloud, shift, axis=0), axis=1)
        after = np.linalg.norm(images - np.roll(images, shift, axis=0), axis=1)
        assert (after <= before * (1.0 + 1e-9) + 1e-12 * size(domain)).all()


@each_domain
def test_projection_is_deterministic_and_never_its_argument(case):
    domain = case.domain
    for point in points(domain, 12, seed=7):
        kept = point.copy()
        point.setflags(write=False)
        first = domain.project(point)
        np.testing.assert_array_equal(first, domain.project(list(point)))
        assert not np.shares_memory(first, point)
        first += 1.0
        np.testing.assert_array_equal(point, kept)


@each_bounded
def test_linear_minimiser_beats_every_feasible_point(case):
    domain = case.domain
    others = feasible(domain)
    for gradient in [*points(domain, 30, seed=8), np.zeros(domain.dimension), *hostile(domain)]:
        answer = domain.linear_minimiser(gradient)
        assert domain.contains(answer, tolerance=1e-13)
        gradient = np.clip(gradient, -LARGEST, LARGEST)
        gradient = gradient / (np.abs(gradient).max() or 1.0)
        gap = gradient @ answer - (others @ gradient).min()
        assert gap <= 2e-8 * size(domain) * np.linalg.norm(gradient)


@each_bounded_convex
def test_linear_minimum_agrees_with_the_conic_solver(case):
    domain = case.domain
    for gradient in np.random.default_rng(9).standard_normal((5, domain.dimension)):
        expected = conic_minimum(domain, gradient)
        assert gradient @ domain.linear_minimiser(gradient) == pytest.approx(expected, abs=1e-6 * size(domain))


@each_domain
def test_vertices_span_the_linear_minima(case):
    domain = case.domain
    vertices = domain.vertices()
    if vertices is None:
        return
    assert vertices.ndim == 2
    assert all(domain.contains(vertex, tolerance=1e-13) for vertex in vertices)
    for gradient in points(domain, 12, seed=10):
        least = (vertices @ gradient).min()
        assert gradient @ domain.linear_minimiser(gradient) == pytest.approx(least, rel=1e-12, abs=1e-12)


@each_bounded
def test_norm_bound_is_a_bound(case):
    reached = feasible(case.domain)
    for norm, order in (("l1", 1), ("l2", 2)):
        assert np.linalg.norm(reached, ord=order, axis=1).max() <= case.domain.norm_bound(norm) * (1.0 + 1e-12)


@pytest.mark.parametrize("case", [case for case in DOMAINS if case.attained], ids=str)
def test_norm_bound_is_attained(case):
    domain = case.domain
    if domain.norm_bound("l2") == math.inf:
        assert np.linalg.norm(domain.project(np.full(domain.dimension, 1e6))) >= 1e6
        return
    ones = np.ones(domain.dimension)
    starts = [*np.random.default_rng(12).choice([-1.0, 1.0], (60, domain.dimension)), ones, -ones]
    for norm, order in (("l1", 1), ("l2", 2)):
        largest = max(np.linalg.norm(climb(domain, start, norm), ord=order) for start in starts)
        assert largest == pytest.approx(domain.norm_bound(norm), rel=1e-6)


def climb(domain, start, norm):
    """Raise a norm over the domain by linear steps, each to the maximiser of the norm's linear minorant."""
    point = domain.linear_minimiser(-start)
    for _ in range(10):
        slope = np.where(point < 0.0, -1.0, 1.0) if norm == "l1" else point
        point = domain.linear_minimiser(-slope)
    return point


@each_domain
def test_contains_draws_the_line_where_it_says(case):
    domain = case.domain
    for point in points(domain, 30, seed=12):
        projection = domain.project(point)
        distance = float(np.linalg.norm(point - projection))
        assert domain.contains(projection)
        if distance > 1e-4 * size(domain):
            assert not domain.contains(point)
            assert not domain.contains(projection + (point - projection) * (1e-4 * size(domain) / distance))


@each_domain
def test_contains_refuses_what_is_no_point(case):
    d = case.domain.dimension
    for wrong in (np.full(d, np.nan), np.full(d, np.inf), np.zeros(d + 1), np.zeros((1, d))):
        assert not case.domain.contains(wrong)


@each_domain
@pytest.mark.parametrize(("method", "name"), [("project", "point"), ("linear_minimiser", "gradient")])
def test_arguments_of_wrong_shape_and_nan_are_refused_in_one_sentence(case, method, name):
    domain, owner = case.domain, type(case.domain).__name__
    rule = f"an array of shape ({domain.dimension},)"
    for wrong in (np.zeros(domain.dimension + 1), np.zeros((domain.dimension, 1)), 1.0):
        with pytest.raises(ParameterError, match=sentence(name, owner, rule)):
            getattr(domain, method)(wrong)
    with pytest.raises(ParameterError, match=sentence(name, owner, "free of NaN", "nan")):
        getattr(domain, method)(np.full(domain.dimension, np.nan))


@each_domain
def test_norm_is_one_of_two(case):
    rule = "one of 'l1', 'l2'"
    with pytest.raises(ParameterError, match=sentence("norm", "norm_bound", rule, "'linf'")):
        case.domain.norm_bound("linf")


@pytest.mark.parametrize("case", [case for case in DOMAINS if case.domain.norm_bound("l2") == math.inf], ids=str)
def test_an_unbounded_domain_refuses_a_linear_minimiser(case):
    with pytest.raises(ParameterError, match=sentence("domain", "linear_minimiser", "bounded")):
        case.domain.linear_minimiser(np.ones(case.domain.dimension))


def plain(value):
    return (
        value is None
        or type(value) in (int, float)
        or (isinstance(value, tuple) and all(map(plain, value)))
        or isinstance(value, Domain)
    )


@each_domain
def test_a_domain_is_a_frozen_plain_value(case):
    domain = case.domain
    domain.project(np.ones(domain.dimension))  # what it caches is no part of its value
    fields = {field.name: getattr(domain, field.name) for field in dataclasses.fields(domain)}
    assert all(map(plain, fields.values()))
    for twin in (type(domain)(**fields), copy.deepcopy(domain), pickle.loads(pickle.dumps(domain))):
        assert twin == domain
        assert hash(twin) == hash(domain)
    with pytest.raises(dataclasses.FrozenInstanceError):
        domain.dimension = 7


def test_every_exported_domain_is_registered():
    exported = {getattr(domains, name) for name in domains.__all__} - {Domain}
    assert exported == {type(case.domain) for case in DOMAINS}
