"""Projection in a metric: no feasible point is better, whatever the units, as linear minimisers tell."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.domains import BallIntersection, Box, Ellipsoid, L1Ball, L2Ball, Polytope, Simplex, Sparse
from tailguard.solvers.metric_projection import metric_projection, scaled_projection
from tailguard.solvers.preconditioner import Preconditioner

D = 4
CORNERS = np.random.default_rng(5).normal(size=(9, D))
DOMAINS = {
    "ℓ1 ball": lambda size: L1Ball(D, size),
    "ℓ2 ball": lambda size: L2Ball(D, size),
    "ℓ2 ball off the origin": lambda size: L2Ball(D, size, (1.0, 0.0, -2.0, 0.5)),
    "simplex": lambda size: Simplex(D, size),
    "box": lambda size: Box((-size, 0.0, -1.0, 0.25), (size, 0.5, size, 0.25)),
    "ellipsoid": lambda size: Ellipsoid(tuple(map(tuple, np.eye(D) / size**2 + 0.3 / size**2))),
    "polytope": lambda size: Polytope(tuple(map(tuple, size * CORNERS))),
}


def _metric(rng, k):
    A = rng.normal(size=(2 * k, k))
    values, vectors = np.linalg.eigh(A.T @ A / k + 0.05 * np.eye(k))
    return Preconditioner(vectors, values)


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("decades", [0.0, 2.0, 4.0, 6.0])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_no_feasible_point_is_better(name, decades, intercept, seed):
    rng = np.random.default_rng(seed)
    factors = 10.0 ** rng.uniform(-decades / 2, decades / 2, D)
    domain, metric = DOMAINS[name](10.0 ** rng.uniform(-1, 1)), _metric(rng, D + intercept)
    point = rng.normal(size=D + intercept) * 10.0 ** rng.uniform(-1, 1, D + intercept)
    found = metric_projection(point, factors, domain, metric)
    hessian = (metric.vectors * metric.values) @ metric.vectors.T
    slope = hessian @ (found - point)
    raw, gradient = found[:D] * factors, slope[:D] / factors
    assert domain.contains(raw, tolerance=1e-9)
    np.testing.assert_allclose(slope[D:], 0.0, atol=1e-9 * np.abs(point).max())
    # For a convex function nothing in the domain is better by more than this.
    gap = gradient @ (raw - domain.linear_minimiser(gradient))
    cost = 0.5 * (found - point) @ hessian @ (found - point)
    scale = cost + np.abs(gradient * raw).sum()
    assert gap <= 1e-7 * scale + 1e-300


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("decades", [0.0, 4.0, 8.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_scaled_slopes(name, decades, seed):
    rng = np.random.default_rng(seed)
    factors, domain = 10.0 ** rng.uniform(-decades / 2, decades / 2, D), DOMAINS[name](10.0 ** rng.uniform(-1, 1))
    point = rng.normal(size=D) * 10.0 ** rng.uniform(-1, 1, D)
    found = scaled_projection(point, factors, domain)
    raw, gradient = found * factors, (found - point) / factors
    assert domain.contains(raw, tolerance=1e-9)
    gap = gradient @ (raw - domain.linear_minimiser(gradient))
    assert gap <= 1e-7 * (np.sum((found - point) ** 2) + np.abs(gradient * raw).sum()) + 1e-300


EXTREMES = DOMAINS | {
    "sparse": lambda size: Sparse(D, 2, size),
    "cut": lambda size: BallIntersection(Simplex(D, size), (size / D,) * D, 0.8 * size),
}


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.filterwarnings("error")
def test_whatever_was_released_there_is_a_point_in_the_domain(name):
    """Units of 76 decades, points from 0 to 1e300, dropped columns: nothing raises or warns."""
    rng = np.random.default_rng(4)
    for _ in range(300):
        domain, k = EXTREMES[name](10.0 ** rng.uniform(-3, 3)), D + int(rng.random() < 0.5)
        factors = 10.0 ** rng.uniform(-1, 1, D) * rng.choice([1e-38, 1e-12, 1.0, 1.0, 1e12, 1e38], D)
        factors[rng.random(D) < 0.05] = 0.0
        point = rng.normal(size=k) * rng.choice([0.0, 1e-300, 1.0, 1.0, 1e10, 1e100, 1e300], k)
        metric = _metric(rng, k)
        if rng.random() < 0.1:
            metric = Preconditioner(metric.vectors[:, :0], metric.values[:0])
        used = np.where(factors > 0.0, factors, 1.0)
        for found in (
            metric_projection(point, factors, domain, metric)[:D],
            scaled_projection(point[:D], used, domain),
        ):
            assert np.all(np.isfinite(found))
            assert domain.contains(found * used, tolerance=1e-6)


@pytest.mark.parametrize("name", DOMAINS)
def test_a_feasible_point_stays(name):
    rng = np.random.default_rng(0)
    domain, factors = DOMAINS[name](2.0), 10.0 ** rng.uniform(-2, 2, D)
    inside = domain.project(domain.linear_minimiser(np.ones(D)) * 0.5 + 0.25 * domain.linear_minimiser(-np.ones(D)))
    found = metric_projection(inside / factors, factors, domain, _metric(rng, D))
    np.testing.assert_allclose(found * factors, inside, rtol=1e-8, atol=1e-8)


def test_dropped_columns_keep_their_zeros():
    metric = _metric(np.random.default_rng(1), D - 1)
    vectors = np.insert(metric.vectors, 1, 0.0, axis=0)
    found = metric_projection(
        np.array([3.0, 0.0, -4.0, 1.0]),
        np.array([1.0, 0.0, 100.0, 0.01]),
        L1Ball(D, 1.0),
        Preconditioner(vectors, metric.values),
    )
    assert abs(found[1]) <= 1e-9


def test_what_is_known_by_its_projection_alone_is_found_in_usual_units():
    rng = np.random.default_rng(2)
    domain, metric, point = BallIntersection(Simplex(D), (0.25,) * D, 0.2), _metric(rng, D), 3.0 * rng.normal(size=D)
    factors = np.array([1.0, 2.0, 0.5, 1.0])
    found = metric_projection(point, factors, domain, metric)
    hessian = (metric.vectors * metric.values) @ metric.vectors.T
    gradient = hessian @ (found - point) / factors
    assert gradient @ (found * factors - domain.linear_minimiser(gradient)) <= 1e-6 * np.abs(gradient).sum()


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (lambda: tg.Lasso(radius=20.0, random_state=0), 0.80),
        (lambda: tg.LinearRegression(domain=Simplex(4), random_state=0), 0.61),
        (lambda: tg.LinearRegression(radius=15.0, random_state=0), 0.79),
    ],
    ids=["lasso", "simplex", "ball"],
)
def test_a_constrained_fit_does_not_mind_units(model, least):
    """With steps in raw units these had R² of .57, −5.0 and far from the best; the best ones are .81, .63 and .81."""
    rng = np.random.default_rng(0)
    X = rng.standard_t(3, size=(20_000, 4)) * [1.0, 100.0, 0.01, 5.0]
    y = X @ [2.0, 0.01, 50.0, 0.0] + 7.0 + rng.standard_t(3, size=20_000)
    assert model().fit(X, y).score(X, y) > least


def test_a_small_budget_does_not_mind_units():
    """Steps without a Gram matrix; the best slopes have R² .81, the null model 0."""
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, size=(20_000, 4)) * [1.0, 100.0, 0.01, 5.0]
    y = X @ [2.0, 0.01, 50.0, 0.0] + 7.0 + rng.standard_t(3, size=20_000)
    found = tg.Lasso(radius=20.0, epsilon=0.08, random_state=0).fit(X, y)
    assert found.score(X, y) > 0.7
    assert np.abs(found.coef_).sum() <= 20.0 * (1.0 + 1e-9)
