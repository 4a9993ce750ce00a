"""Frank–Wolfe against the papers' algorithms in plain NumPy, and against constrained optima where there is no noise."""

import dataclasses

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression

from tailguard import engines
from tailguard.domains import L1Ball, L2Ball, Polytope, Simplex
from tailguard.errors import ParameterError
from tailguard.losses import Biweight, Logistic, Squared, SquaredDistance
from tailguard.plans import Moment, Problem
from tailguard.privacy import Privacy
from tailguard.recipes import frank_wolfe, shrunken_lasso
from tailguard.solvers import ClampedEntries, FrankWolfe
from tailguard.solvers.offset import Offset
from tailguard.solvers.vertices import first_point, l1_diameter, l1_reach, vertex
from tests.support.conic import conic_projection
from tests.support.noiseless import without_noise

N, D, T = 600, 6, 5
PRIVACY = Privacy(0.9, 1e-5)
CORNERS = np.array([[3.0, 0, 0, 0, 0, 1], [3, 1, 0, -1, 0, 0], [4, 0, 0.5, 0, 0, 0], [3, 0, 0, 0, 0.25, -1]])


def records(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(3, size=(N, D))
    return X, X @ np.array([0.5, 0.0, -0.3, 0.0, 0.0, 0.1]) + 0.5 * rng.standard_t(3, size=N)


def smoothed(a, beta=1.0):
    """E φ(a + |a|η/√β), Hu et al. 2022, (2) to (5), by a fine trapezoidal rule."""
    eta = np.linspace(-9, 9, 1501)
    density = np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi) * (eta[1] - eta[0])
    x = np.asarray(a)[..., None] + np.abs(a)[..., None] * eta / np.sqrt(beta)
    inside = np.clip(x, -np.sqrt(2), np.sqrt(2))
    return ((inside - inside**3 / 6) * density).sum(-1)


DOMAINS = [
    (L1Ball(D, 1.5), np.concatenate([1.5 * np.eye(D), -1.5 * np.eye(D)])),
    (Simplex(D, 0.5), 0.5 * np.eye(D)),
    (Polytope(CORNERS), CORNERS),
]


@pytest.mark.parametrize(("domain", "vertices"), DOMAINS, ids=lambda part: type(part).__name__)
@pytest.mark.parametrize("loss", [Squared(), Biweight(2.0)], ids=lambda loss: loss.name)
def test_algorithm_1(domain, vertices, loss):
    X, y = records()
    s, beta, w = 1.3, 0.7, vertices[:3].mean(axis=0)
    plan = frank_wolfe.plan_with(Problem(loss, domain, N, D), PRIVACY, steps=T, scale=s, beta=beta, start=w)
    for t in range(1, T + 1):
        rows = engines.Block(t - 1, T).rows(N)
        gradients = loss.derivative(X[rows] @ w, y[rows])[:, None] * X[rows]
        mean = s * smoothed(gradients / s, beta).mean(axis=0)
        step = 2 / (t + 2) if loss.convex else 1 / np.sqrt(T)
        w = (1 - step) * w + step * vertices[np.argmax(-vertices @ mean)]
    np.testing.assert_allclose(without_noise(plan, X, y), w, atol=1e-12)


@pytest.mark.parametrize("radius", [1.0, 0.3, 4.0])
def test_algorithm_2_on_balls_of_any_radius(radius):
    X, y = records()
    K, start = 1.7, np.array([0.5, -0.4, 0, 0, 0, 0.1])
    problem = Problem(Squared(), L1Ball(D, radius), N, D)
    plan = shrunken_lasso.plan_with(problem, PRIVACY, steps=T, threshold=K, start=radius * start)
    # The unit ball of the paper, with features r·x and coefficients w/r.
    x, t, w = np.clip(radius * X, -K, K), np.clip(y, -K, K), start
    for step in (2 / (k + 2) for k in range(1, T + 1)):
        gradient = 2 / N * x.T @ (x @ w - t)
        best = int(np.argmax(np.concatenate([-gradient, gradient])))
        w = (1 - step) * w + step * np.where(np.arange(D) == best % D, 1.0 if best < D else -1.0, 0.0)
    np.testing.assert_allclose(without_noise(plan, X, y), radius * w, atol=1e-12)


def solved(loss, domain, X, y=None, steps=2000):
    """Return where Frank–Wolfe ends that is told exact gradients of all records."""
    problem = Problem(loss, domain, len(X), domain.dimension)
    plan = frank_wolfe.plan_with(problem, Privacy(1.0, 0.0), steps=1, scale=1.0)
    solver = dataclasses.replace(plan.solver, entries=ClampedEntries(1e4), steps=steps)
    every = dataclasses.replace(plan.steps[0], count=steps)
    return without_noise(dataclasses.replace(plan, solver=solver, steps=(every,)), X, y)


@pytest.mark.parametrize("domain", [domain for domain, _ in DOMAINS], ids=lambda domain: type(domain).__name__)
def test_least_squares_on_a_polytope(domain):
    rng = np.random.default_rng(1)
    X, _ = np.linalg.qr(rng.standard_normal((400, D)))
    X *= 20.0  # XᵀX/n is the identity, so that least squares on W is a projection on W
    y = X @ np.array([2.0, -1.0, 0.1, 0.2, 0.3, 0.0]) + rng.standard_normal(400)
    best = conic_projection(domain, X.T @ y / 400)
    found = solved(Squared(), domain, X, y)
    assert np.linalg.norm(found - best) < 0.05 * np.linalg.norm(best - first_point(domain))


def test_a_lasso_of_scikit_learn():
    X, y = records(2)
    best = Lasso(alpha=0.1, fit_intercept=False, tol=1e-10).fit(X, y).coef_
    found = solved(Squared(), L1Ball(D, np.abs(best).sum()), X, y)
    np.testing.assert_allclose(found, best, atol=5e-3)


def test_a_sparse_logistic_regression_of_scikit_learn():
    X, y = records(3)
    labels = (y > 0).astype(float)
    model = LogisticRegression(l1_ratio=1.0, C=0.05, fit_intercept=False, solver="saga", tol=1e-8, max_iter=10_000)
    best = model.fit(X, labels).coef_[0]
    found = solved(Logistic(), L1Ball(D, np.abs(best).sum()), X, labels)
    np.testing.assert_allclose(found, best, atol=5e-3)


def test_a_mean_inside_a_simplex():
    X = np.random.default_rng(4).dirichlet(np.ones(D), size=N)
    found = solved(SquaredDistance(), Simplex(D), X)
    np.testing.assert_allclose(found, X.mean(axis=0), atol=0.02)


def printed_scores(x, y, w, K):
    """Line 4 of Algorithm 2, as printed: −⟨v, (2/n)Σ x̃(⟨x̃, w⟩ − ỹ)⟩ for the vertices ±e_j, nothing else bounded."""
    x, y = np.clip(x, -K, K), np.clip(y, -K, K)
    gradient = 2 / len(y) * x.T @ (x @ w - y)
    return np.concatenate([-gradient, gradient])


def worst_change(w, K, n=5):
    """Return the largest change of a printed score over replaced records of extreme entries."""
    rng, worst = np.random.default_rng(5), 0.0
    for _ in range(200):
        X, y = rng.standard_normal((n, len(w))), rng.standard_normal(n)
        extreme = np.where(w == 0, rng.choice([-1.0, 1.0], len(w)), np.sign(w)) * 1e9
        before = np.vstack([X[1:], extreme]), np.append(y[1:], -1e9)
        flipped = extreme * np.where(np.arange(len(w)) == np.flatnonzero(w)[0], 1.0, rng.choice([-1.0, 1.0], len(w)))
        after = np.vstack([X[1:], -flipped]), np.append(y[1:], rng.choice([-1e9, 1e9]))
        worst = max(worst, np.abs(printed_scores(*before, w, K) - printed_scores(*after, w, K)).max())
    return worst


def test_a_start_outside_the_ball_would_break_the_printed_sensitivity():
    K, n = 2.0, 5
    inside, outside = np.array([0.6, -0.4, 0.0]), np.array([3.0, -2.0, 0.0])
    stated = 8 * K**2 / n
    assert 0.9 * stated <= worst_change(inside, K, n) <= stated * (1 + 1e-12)
    assert worst_change(outside, K, n) > 2 * stated
    problem = Problem(Squared(), L1Ball(3, 1.0), 500, 3)
    assert shrunken_lasso.plan_with(problem, PRIVACY, steps=3, threshold=K, start=inside)
    with pytest.raises(ParameterError, match="must be a vector of 3 numbers of ℓ1 norm at most 1"):
        shrunken_lasso.plan_with(problem, PRIVACY, steps=3, threshold=K, start=outside)


def test_a_larger_ball_would_break_it_too_if_features_were_not_scaled():
    K, n, r = 2.0, 5, 4.0
    stated, vertex_score = 8 * r * K**2 / n, r  # the printed Δ with ‖W‖₁ = r, for vertices of norm r
    assert vertex_score * worst_change(np.array([r, 0.0, 0.0]), K, n) > 1.5 * stated
    scaled = shrunken_lasso.plan_with(Problem(Squared(), L1Ball(3, r), 500, 3), PRIVACY, steps=3, threshold=K)
    assert scaled.solver.stretch == r


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"start": (2.0, 0.0, 0.0)}, "'start' parameter of FrankWolfe must be a vector of 3 numbers of ℓ1 norm"),
        ({"start": (0.5, 0.0)}, "'start'"),
        ({"start": (np.nan, 0.0, 0.0)}, "'start'"),
        (
            {"domain": Simplex(3), "start": (0.5, 0.0, 0.0)},
            "must be a point of the Simplex",
        ),
        ({"domain": L2Ball(3, 1.0)}, "'domain' parameter of FrankWolfe must be an L1Ball, a Simplex or a Polytope"),
        ({"domain": Polytope([(1.0, 2.0, 0.0)])}, "two different corners"),
        ({"steps": 0}, "'steps'"),
        ({"step_size": 1.5}, "'step_size'"),
        ({"stretch": 0.0}, "'stretch'"),
    ],
)
def test_parameters_are_checked(change, match):
    fine = FrankWolfe(Squared(), L1Ball(3, 1.0), 3, 30, ClampedEntries(1.0), 4)
    with pytest.raises(ParameterError, match=match):
        dataclasses.replace(fine, **change)


def test_vertices_and_lengths_of_domains():
    ball, simplex, hull = (domain for domain, _ in DOMAINS)
    for domain, vertices in DOMAINS:
        np.testing.assert_array_equal([vertex(domain, k) for k in range(len(vertices))], vertices)
        distances = np.abs(vertices[:, None] - vertices).sum(axis=2)
        assert l1_diameter(domain) == pytest.approx(distances.max())
        assert l1_diameter(domain) / 2 <= l1_reach(domain) <= l1_diameter(domain)
        assert domain.contains(first_point(domain))
        np.testing.assert_array_equal(vertex(domain, 1e18), vertices[-1])  # whatever a release says
    assert not np.any(first_point(ball))
    np.testing.assert_allclose(first_point(simplex), np.full(D, 0.5 / D))
    np.testing.assert_allclose(first_point(hull), CORNERS.mean(axis=0))


def test_a_far_polytope_is_scored_from_its_middle():
    """Only differences of vertices matter to a pick, so distance from the origin must cost no noise."""
    far = Polytope(CORNERS + 1e3)
    assert l1_reach(far) == pytest.approx(l1_reach(Polytope(CORNERS)))
    moment = Moment(2.0, 1.0, "coordinate")
    plans = [
        frank_wolfe.plan_with(Problem(Squared(), domain, N, D, moment=moment), Privacy(1.0, 0.0), steps=4)
        for domain in (far, Polytope(CORNERS))
    ]
    assert plans[0].steps[0].multiplier == pytest.approx(plans[1].steps[0].multiplier)


def test_a_loss_with_an_offset_is_the_loss_of_shifted_predictions():
    p, t = np.linspace(-3, 3, 7), np.array([0, 1, 0, 1, 1, 0, np.nan])
    offset = Offset(Logistic(), 0.7)
    for name in ("value", "derivative", "second_derivative"):
        np.testing.assert_array_equal(getattr(offset, name)(p, t), getattr(Logistic(), name)(p + 0.7, t))
    assert (offset.convex, offset.smoothness, offset.lipschitz) == (True, 0.25, 1.0)
