"""Minimisers against a cone solver, on every domain, on every kind of data; and how far one record moves them."""

import warnings

import numpy as np
import pytest

from tailguard.certified import Objective, fallback, minimise, resolution
from tailguard.certified.objective import SHARPEST, STEEPEST
from tailguard.domains import L2Ball, Sparse
from tailguard.errors import ParameterError
from tailguard.losses import Squared
from tests.support.cone_programs import conic_minimiser
from tests.support.registry_objectives import ATTACKS, LOSSES, attacked, convex_domains, ordinary

NAMES = [loss.name for loss in LOSSES]
D, CLIP, RIDGE = 3, 2.0, 0.2


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("kind", convex_domains(D))
def test_agrees_with_a_cone_solver(loss, kind):
    m, domain = 25, convex_domains(D)[kind]
    rng = np.random.default_rng(3)
    X, y = ordinary(rng, m, D, loss)
    parts = {"clip": CLIP, "ridge": RIDGE, "centre": rng.standard_normal(D) / 4, "size": m + 5}
    parts |= {"tilt": rng.standard_normal(D), "curvature": 3.0 * loss.smoothness}
    objective = Objective(X, y, loss, **parts)
    found = minimise(objective, max(1e-6, resolution(objective, domain)), domain)
    expected = conic_minimiser(X, y, loss, domain=domain, **parts)
    assert np.linalg.norm(found - expected) <= 2e-5
    assert domain is None or domain.contains(found)


def test_the_domains_bind():
    X, y = ordinary(np.random.default_rng(3), 25, D, Squared())
    objective = Objective(X, y, Squared(), CLIP, RIDGE, np.zeros(D), 25)
    free = minimise(objective, 1e-6)
    bound = {name: domain for name, domain in convex_domains(D).items() if not name.startswith("whole")}
    assert all(np.linalg.norm(minimise(objective, 1e-6, domain) - free) > 0.01 for domain in bound.values())


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("kind", convex_domains(D))
def test_no_data_set_shows(loss, attack, kind):
    """Every data set gives a finite point of the domain, without a warning."""
    m, domain = 40, convex_domains(D)[kind]
    X, y = attacked(attack, np.random.default_rng(1), m, D, loss)
    objective = Objective(X, y, loss, CLIP, RIDGE, np.zeros(D), m)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = minimise(objective, 0.01 * CLIP / (RIDGE * m), domain)
    assert np.isfinite(found).all()
    assert domain is None or domain.contains(found)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("radius", [None, 0.5])
def test_one_record_in_a_hundred_at_1e12(loss, radius):
    """A hundredth of clip/(ridge·m) is reached with long rows, in the ball and on it, without the fallback."""
    m, d = 5000, 10
    rng = np.random.default_rng(2)
    X, y = ordinary(rng, m, d, loss)
    X[::100] *= 1e12
    ridge = 200.0 * CLIP * d / m
    objective = Objective(X, y, loss, CLIP, ridge, np.zeros(d), m)
    domain = None if radius is None else L2Ball(d, radius)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fallback, "stages", lambda *_: 1 / 0)
        found = minimise(objective, 0.01 * CLIP / (ridge * m), domain)
    assert radius is None or np.linalg.norm(found) <= radius * (1 + 1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_one_record_moves_the_minimiser_by_its_share(loss):
    m, tolerance = 30, 1e-7
    rng = np.random.default_rng(4)
    X, y = ordinary(rng, m, D, loss)
    first, largest = None, 0.0
    records = [(X[0], y[0]), ([1e12, 0.0, 0.0], 0.0), ([1e12, 0.0, 0.0], 1.0), ([0.0, 1e3, 0.0], 1e9)]
    records += [([np.nan] * 3, 0.0), ([1e308, -1e308, 1.0], 1.0), ([3.0, 0.0, 0.0], -1e9), ([-3.0, 0.0, 0.0], -1e9)]
    for row, target in records:
        X[0], y[0] = row, target
        found = minimise(Objective(X, y, loss, CLIP, RIDGE, np.zeros(D), m), tolerance)
        first = found if first is None else first
        largest = max(largest, float(np.linalg.norm(found - first)))
    assert largest <= 2.0 * CLIP / (RIDGE * m) + 2.0 * tolerance


def test_the_share_of_a_record_is_attained():
    m, tolerance = 30, 1e-7
    X, y = np.zeros((m, 1)), np.zeros(m)
    ends = []
    for target in (1e9, -1e9):
        X[0], y[0] = 1.0, target
        ends.append(minimise(Objective(X, y, Squared(), CLIP, RIDGE, np.zeros(1), m), tolerance)[0])
    assert ends[0] - ends[1] >= 0.999 * 2.0 * CLIP / (RIDGE * m)


def test_no_records_and_records_that_do_not_count():
    for X, y in ((np.zeros((0, 2)), np.zeros(0)), (np.full((5, 2), np.nan), np.zeros(5))):
        objective = Objective(X, y, Squared(), CLIP, RIDGE, [0.5, -1.0], 5, tilt=[1.0, 0.0])
        assert np.allclose(minimise(objective, 1e-6), [0.5 - 1.0 / (RIDGE * 5), -1.0])


def test_the_cap_that_stands_for_no_curvature_moves_little():
    """Against the uncapped objective, whose kinks are sharp: less than half of clip/(ridge·m)."""
    m = 40
    X, y = ordinary(np.random.default_rng(5), m, D, Squared())
    X[:30], y[:30] = [100.0, 0.0, 0.0], 0.0  # they hold the minimiser on their kinks
    parts = (CLIP, 2.0, np.zeros(D), m)
    capped = Objective(X, y, Squared(), *parts)
    assert capped.curvature == SHARPEST * m * 2.0
    assert (np.linalg.norm(X, axis=1) ** 2 > capped.curvature).sum() >= 30
    apart = minimise(capped, 1e-7) - conic_minimiser(X, y, Squared(), *parts)
    assert 1e-6 < np.linalg.norm(apart) < 0.5 * CLIP / (2.0 * m)


def test_what_is_refused():
    X, y = ordinary(np.random.default_rng(0), 20, D, Squared())
    objective = Objective(X, y, Squared(), CLIP, RIDGE, np.zeros(D), 20)
    with pytest.raises(ParameterError, match="'tolerance' parameter of minimise must be at least"):
        minimise(objective, 0.5 * resolution(objective))
    with pytest.raises(ParameterError, match="'domain' parameter of minimise must be convex and of dimension 3"):
        minimise(objective, 1e-3, Sparse(D, 1, 1.0))
    with pytest.raises(ParameterError, match="'domain' parameter"):
        minimise(objective, 1e-3, L2Ball(D + 1, 1.0))
    assert Objective(X, y, Squared(), CLIP, RIDGE, np.zeros(D), 20, curvature=1e30).condition == STEEPEST
