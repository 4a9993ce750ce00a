"""Lipschitz extensions against a cone solver, and the properties that define them."""

import numpy as np
import pytest

from tailguard.certified import BallExtension, Polyhedral, polyhedral_extension
from tailguard.domains import Box, Ellipsoid, L2Ball, Polytope, Simplex
from tailguard.errors import ParameterError
from tailguard.losses import Biweight, Squared
from tests.support.cone_programs import conic_extension, conic_polyhedral
from tests.support.registry_objectives import LABELS, LOSSES

NAMES = [loss.name for loss in LOSSES]
D, CLIP = 3, 0.8
BALL = L2Ball(D, 0.7, (0.1, -0.2, 0.0))


def records(rng, count, loss):
    X = rng.standard_t(2.5, (count, D)) * 2.0
    return X, rng.integers(0, 2, count).astype(float) if loss.name in LABELS else rng.standard_t(2.5, count)


def points(rng, ball, count):
    """Inside, on the sphere, and outside."""
    directions = rng.standard_normal((count, D))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    lengths = ball.radius * rng.choice([0.0, 0.3, 0.9, 1.0, 1.4], (count, 1))
    return np.array(ball.centre) + lengths * directions


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_ball_extension_agrees_with_a_cone_solver(loss):
    rng = np.random.default_rng(1)
    extension = BallExtension(loss, CLIP, BALL)
    for w in points(rng, BALL, 8):
        X, t = records(rng, 3, loss)
        expected = [conic_extension(x, y, loss, CLIP, BALL, w) for x, y in zip(X, t, strict=True)]
        assert np.abs(extension.value(w, X, t) - expected).max() <= 1e-6


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_ball_extension_is_convex_short_and_below(loss):
    rng = np.random.default_rng(2)
    extension = BallExtension(loss, CLIP, BALL)
    X, t = records(rng, 40, loss)
    for w, u in zip(points(rng, BALL, 30), points(rng, BALL, 30), strict=True):
        g = extension.gradient(w, X, t)
        assert (np.linalg.norm(g, axis=1) <= CLIP * (1 + 1e-12)).all()
        assert (extension.value(u, X, t) >= extension.value(w, X, t) + g @ (u - w) - 1e-9).all()
        if BALL.contains(w, tolerance=0.0):
            assert (extension.value(w, X, t) <= loss.value(X @ w, t) + 1e-12).all()


def test_ball_extension_is_the_loss_where_the_gradient_is_short():
    rng = np.random.default_rng(3)
    X, t = records(rng, 200, Squared())
    w = np.array(BALL.centre) + 0.1
    short = np.linalg.norm(X, axis=1) * np.abs(X @ w - t) <= CLIP
    assert 5 <= short.sum() < 190
    extension = BallExtension(Squared(), CLIP, BALL)
    assert np.allclose(extension.value(w, X, t)[short], Squared().value(X @ w, t)[short], rtol=1e-12)
    assert np.allclose(extension.gradient(w, X, t)[short], (X * (X @ w - t)[:, None])[short], rtol=1e-12)


def test_ball_extension_differs_from_that_over_the_whole_space():
    """The slope-clipped loss is smaller: its infimum may leave the ball."""
    x, w = np.array([[3.0, 0.0, 0.0]]), np.array(BALL.centre)
    inside = BallExtension(Squared(), CLIP, BALL).value(w, x, [30.0])[0]
    limit, residual = CLIP / 3.0, abs(3.0 * w[0] - 30.0)
    whole = limit * residual - 0.5 * limit**2
    assert inside > whole + 1.0


@pytest.mark.parametrize(
    "record", [(np.nan, 0.0), (1e308, 1.0), (np.inf, 0.0), (0.0, 1.0), (1e-308, 1.0), (1.0, np.nan)]
)
def test_ball_extension_on_any_record(record):
    extension = BallExtension(Squared(), CLIP, BALL)
    value = extension.value(np.zeros(D), [[record[0], 0.0, 0.0]], [record[1]])
    gradient = extension.gradient(np.zeros(D), [[record[0], 0.0, 0.0]], [record[1]])
    assert value.shape == (1,)
    assert not (np.linalg.norm(gradient, axis=1) > CLIP * (1 + 1e-12)).any()


DOMAINS = {
    "ball": BALL,
    "ellipsoid": Ellipsoid.from_axes([0.3, 0.6, 1.0]),
    "polytope": Polytope([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.4, 0.4, 0.5)]),
    "box": Box((-0.2, 0.0, -1.0), (0.5, 0.1, 1.0)),
}
KINDS = {"affine": Polyhedral.affine, "hinge": Polyhedral.hinge, "absolute": Polyhedral.absolute}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DOMAINS)
def test_polyhedral_extension_agrees_with_a_cone_solver(kind, name):
    rng, domain = np.random.default_rng(4), DOMAINS[name]
    for scale in (0.2, 1.0, 5.0, 50.0):
        loss = KINDS[kind](scale * rng.standard_normal(D), rng.standard_normal())
        w = domain.project(rng.standard_normal(D))
        found = polyhedral_extension(loss, CLIP, domain, w)
        assert found.error <= 1e-6
        assert abs(found.value - conic_polyhedral(loss.slopes, loss.offsets, CLIP, domain, w)) <= 1e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DOMAINS)
def test_polyhedral_subgradients(kind, name):
    """f_C(u) ≥ f_C(w) − error + ⟨g, u − w⟩ everywhere, also for wild slopes, where the solver may give up."""
    rng, domain = np.random.default_rng(5), DOMAINS[name]
    for scale in (0.5, 3.0, 1e6):
        loss = KINDS[kind](scale * rng.standard_normal(D), scale * rng.standard_normal())
        here = polyhedral_extension(loss, CLIP, domain, domain.project(rng.standard_normal(D)))
        assert np.linalg.norm(here.vector) <= CLIP * (1 + 1e-12)
        w = domain.project(rng.standard_normal(D))
        here = polyhedral_extension(loss, CLIP, domain, w)
        for u in (domain.project(v) for v in rng.standard_normal((4, D))):
            there = polyhedral_extension(loss, CLIP, domain, u)
            below = here.value - here.error + here.vector @ (u - w)
            assert there.value >= below - 1e-9 * (1.0 + abs(below))


def test_error_is_honest_when_the_solver_is_wrong(monkeypatch):
    """Any answer of the solver gives a true bound; a bad answer only makes it wide."""
    loss, domain, w = Polyhedral.absolute([4.0, 1.0, 0.0], 0.3), BALL, np.zeros(D)
    truth = conic_polyhedral(loss.slopes, loss.offsets, CLIP, domain, w)
    rng = np.random.default_rng(6)
    monkeypatch.setattr(
        "tailguard.certified.polyhedral._solve",
        lambda *_: (rng.standard_normal(D), rng.standard_normal(2), 10.0 * rng.standard_normal(D)),
    )
    for _ in range(20):
        found = polyhedral_extension(loss, CLIP, domain, w)
        assert found.value - found.error - 1e-7 <= truth <= found.value + 1e-7
        assert np.linalg.norm(found.vector) <= CLIP * (1 + 1e-12)


def test_what_is_refused():
    with pytest.raises(ParameterError, match="'domain' parameter of polyhedral_extension"):
        polyhedral_extension(Polyhedral.affine(np.ones(D), 0.0), CLIP, Simplex(D), np.zeros(D))
    with pytest.raises(ParameterError, match="'clip' parameter of polyhedral_extension"):
        polyhedral_extension(Polyhedral.affine(np.ones(D), 0.0), 0.0, BALL, np.zeros(D))
    with pytest.raises(ParameterError, match="'loss' parameter of BallExtension"):
        BallExtension(Biweight(1.0), CLIP, BALL)
