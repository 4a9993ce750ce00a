"""The certificate is never smaller than the true distance, which 60 digits measure."""

import numpy as np
import pytest

from tailguard.certified import Objective, minimise, resolution
from tailguard.certified.anchor import Anchor
from tailguard.certified.certificate import certified
from tailguard.certified.newton import newton_step, start
from tailguard.domains import Box, L2Ball
from tests.support.exact_minimiser import distance, exact_minimiser
from tests.support.registry_objectives import ATTACKS, LOSSES, attacked

M, D, CLIP = 14, 2, 2.0
NAMES = [loss.name for loss in LOSSES]


def problem(attack, loss, seed=0, ridge=0.3, **more):
    rng = np.random.default_rng(seed)
    X, y = attacked(attack, rng, M, D, loss)
    centre = rng.standard_normal(D)
    return Objective(X, y, loss, CLIP, ridge, centre, M, **({"tilt": rng.standard_normal(D)} | more))


def trail(objective, domain, steps=12):
    """States of Newton's method, anchored at the start and again at each point."""
    centre = objective.pulled_centre if domain is None else domain.project(objective.pulled_centre)
    state = start(Anchor(objective, centre), np.zeros(D))
    for _ in range(steps):
        yield state
        yield state.anchored()
        state = newton_step(state, domain)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("ridge", [0.3, 1e-4])
def test_certificate_holds_on_every_state(loss, attack, ridge):
    objective = problem(attack, loss, ridge=ridge)
    tolerance = 1e-6 * CLIP / (ridge * M)
    found = minimise(objective, tolerance)
    truth = exact_minimiser(objective, found)
    assert distance(found, truth) <= tolerance
    for state in trail(objective, None):
        point, bound = certified(state, None)
        assert distance(point, truth) <= bound


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("attack", ["ordinary", "huge", "interpolated", "junk"])
def test_certificate_holds_on_a_ball(loss, attack):
    objective, ball = problem(attack, loss), L2Ball(D, 0.4)
    tolerance = 1e-3 * CLIP / (objective.ridge * M)
    found = minimise(objective, tolerance, ball)
    truth = exact_minimiser(objective, found, radius=0.4)
    assert distance(found, truth) <= tolerance
    for state in trail(objective, ball, steps=6):
        point, bound = certified(state, ball)
        assert distance(point, truth) <= bound


def test_a_box_that_does_not_bind_and_one_that_is_a_point():
    objective = problem("huge", LOSSES[0], tilt=None)
    free = minimise(objective, 1e-9)
    near = minimise(objective, 1e-9, Box(tuple(free - 1.0), tuple(free + 1.0)))
    assert np.linalg.norm(near - free) <= 2e-9
    point = (0.25, -0.5)
    assert np.array_equal(minimise(objective, 1e-9, Box(point, point)), point)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_the_certificate_gets_as_small_as_the_resolution(loss):
    objective = problem("interpolated", loss, tilt=None, curvature=1e5)
    finest = resolution(objective)
    assert finest < 1e-9 * objective.length
    truth = exact_minimiser(objective, minimise(objective, finest))
    assert distance(minimise(objective, finest), truth) <= finest


def test_a_certificate_that_forgets_rounding_is_caught():
    """The tests above can fail: the norm of the computed gradient alone is no bound."""
    objective = problem("lines", LOSSES[4], ridge=0.7)
    truth = exact_minimiser(objective, minimise(objective, 1e-4))
    last = list(trail(objective, None))[-1]
    assert distance(last.point, truth) > objective.length * np.linalg.norm(last.gradient)
