"""The method with a theorem: it reaches its tolerance without Newton's help, in the promised number of steps."""

import math
from importlib import import_module
from itertools import islice

import numpy as np
import pytest

from tailguard.certified import Objective, fallback, minimise, resolution
from tailguard.certified.accelerated import accelerated
from tailguard.certified.fallback import descend, stages, steps
from tailguard.certified.minimise import newton
from tailguard.domains import Ellipsoid
from tailguard.errors import ParameterError
from tailguard.losses import Squared
from tests.support.registry_objectives import LOSSES, attacked, convex_domains, ordinary

NAMES = [loss.name for loss in LOSSES]
M, D, CLIP, RIDGE = 40, 3, 2.0, 0.2
TOLERANCE = 0.01 * CLIP / (RIDGE * M)


def problem(attack, loss, **more):
    X, y = attacked(attack, np.random.default_rng(6), M, D, loss)
    return Objective(X, y, loss, CLIP, RIDGE, np.zeros(D), M, **more)


def without_newton(objective, tolerance, domain):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("tailguard.certified.minimise"), "NEWTON_STEPS", 0)
        return minimise(objective, tolerance, domain)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("kind", convex_domains(D))
def test_reaches_the_tolerance_on_its_own(loss, kind):
    objective, domain = problem("huge", loss), convex_domains(D)[kind]
    exact, bound = newton(objective, 1e-6 * TOLERANCE, domain)
    assert bound < 0.1 * TOLERANCE
    assert np.linalg.norm(without_newton(objective, TOLERANCE, domain) - exact) <= TOLERANCE + bound


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("attack", ["ordinary", "interpolated", "junk"])
def test_the_promised_number_of_steps_is_enough_without_a_certificate(loss, attack, monkeypatch):
    """The theorem alone: no certificate stops it, and it is not told how far it is."""
    objective = problem(attack, loss)
    exact, bound = newton(objective, 1e-6 * TOLERANCE, None)
    monkeypatch.setattr(fallback, "certified", lambda state, _: (state.point, np.inf))
    found = descend(objective, objective.pulled_centre, 1.001 * objective.length, TOLERANCE, None)
    assert np.linalg.norm(found - exact) <= 0.5 * TOLERANCE + bound


def test_a_stage_comes_a_thousand_times_nearer_on_the_worst_quadratic():
    """Nesterov's chain of springs, with errors in every gradient and in every projection."""
    d, condition = 60, 1e4
    rng = np.random.default_rng(7)
    hessian = np.eye(d) + condition / 4 * (2 * np.eye(d) - np.eye(d, k=1) - np.eye(d, k=-1))
    target = rng.standard_normal(d)

    def gradient(w):
        error = rng.standard_normal(d)
        return hessian @ (w - target) + 1e-9 * error / np.linalg.norm(error)

    def project(w):
        return w + 1e-13 * rng.standard_normal(d)

    iterates = accelerated(gradient, project, np.zeros(d), 1.125 * condition + 1.25, 0.75)
    w = next(islice(iterates, steps(condition), None))
    assert np.linalg.norm(w - target) <= np.linalg.norm(target) / 2**10


def test_numbers_of_steps():
    assert steps(1e4) < 1e5 < steps(1e8)
    assert [stages(1.0, tolerance) for tolerance in (3.0, 1e-2, 1e-9)] == [0, 1, 4]


def test_resolution_knows_public_numbers_only():
    numbers = set()
    for attack in ("ordinary", "huge", "junk", "equal"):
        objective = problem(attack, Squared())
        numbers.add((resolution(objective), *(resolution(objective, W) for W in convex_domains(D).values())))
    assert len(numbers) == 1
    tilted = [problem("ordinary", Squared(), tilt=tilt) for tilt in (np.zeros(D), np.ones(D))]
    assert resolution(tilted[0]) == resolution(tilted[1]) > resolution(problem("ordinary", Squared()))


@pytest.mark.parametrize("size", [10**2, 10**3, 10**4, 10**5])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_a_hundredth_of_the_sensitivity_is_always_resolved(size, loss):
    X, y = ordinary(np.random.default_rng(0), 5, 20, loss)
    objective = Objective(X, y, loss, CLIP, 200.0 * CLIP * 20 / (size * 6), np.zeros(20), size)
    for kind, domain in convex_domains(20).items():
        searched = kind in ("ellipsoid", "polytope", "intersection")
        assert resolution(objective, domain) < (0.2 if searched else 0.01) * CLIP / (objective.ridge * size)


def test_beyond_the_conditions_of_the_theorem_nothing_is_resolved():
    thin = Ellipsoid.from_axes([1.0, 1e-5, 1.0])
    assert resolution(problem("ordinary", Squared()), thin) == math.inf
    wide = Objective(np.zeros((1, 10_001)), [0.0], Squared(), CLIP, RIDGE, np.zeros(10_001), 1)
    assert resolution(wide) == math.inf
    with pytest.raises(ParameterError, match="'tolerance' parameter of minimise must be at least inf"):
        minimise(problem("ordinary", Squared()), 1.0, thin)
