"""Values, gradients and Hessians of the objective, and what a record can do to them."""

import numpy as np
import pytest

from tailguard.certified import Objective
from tailguard.certified.anchor import Anchor
from tailguard.certified.certificate import evaluation_error
from tailguard.certified.kernels import exact_predictions, unit_rows
from tailguard.certified.newton import start
from tailguard.errors import DataError, ParameterError
from tailguard.losses import Biweight, Hinge, Huber, Logistic, Squared
from tests.support.exact_minimiser import Exact, derivatives, mp
from tests.support.registry_losses import LOSSES as EVERY_LOSS
from tests.support.registry_objectives import ATTACKS, LABELS, LOSSES, attacked, ordinary

NAMES = [loss.name for loss in LOSSES]
M, D, CLIP, RIDGE = 60, 3, 1.5, 0.1


def objective(loss, X, y, **more):
    return Objective(X, y, loss, CLIP, RIDGE, np.full(D, 0.2), len(X) + 3, **more)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("curvature", [None, 0.7])
def test_gradient_is_the_derivative_of_the_value(loss, curvature):
    rng = np.random.default_rng(1)
    F = objective(loss, *ordinary(rng, M, D, loss), tilt=rng.standard_normal(D), curvature=curvature)
    for w in rng.standard_normal((5, D)):
        step = 1e-5 * np.eye(D)
        numeric = [(F.value(w + h) - F.value(w - h)) / 2e-5 for h in step]
        assert np.allclose(F.gradient(w), numeric, atol=2e-6)


@pytest.mark.parametrize("loss", [Squared(), Huber(1.0), Logistic()], ids=lambda loss: loss.name)
def test_hessian_is_the_derivative_of_the_gradient(loss):
    rng = np.random.default_rng(2)
    F = objective(loss, *ordinary(rng, M, D, loss))
    for w in rng.standard_normal((5, D)):
        numeric = [(F.gradient(w + h) - F.gradient(w - h)) / 2e-7 for h in 1e-7 * np.eye(D)]
        assert np.allclose(F.hessian(w), numeric, atol=1e-5)


def test_a_clipped_squared_loss_is_hubers():
    x, y, w = np.array([[3.0, 0.0, 0.0]]), np.array([2.0]), np.array([1.5, 0.0, 0.0])
    F = Objective(x, y, Squared(), CLIP, RIDGE, np.zeros(D), 1, curvature=100.0)
    huber = Huber(CLIP / 3.0).value([4.5], [2.0])[0]
    assert F.value(w) == pytest.approx(huber + 0.5 * RIDGE * 1.5**2, rel=1e-12)
    assert F.gradient(w) == pytest.approx([CLIP + RIDGE * 1.5, 0.0, 0.0], rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_record_pulls_harder_than_the_clip_or_bends_more_than_the_curvature(loss, attack):
    rng = np.random.default_rng(3)
    X, y = attacked(attack, rng, M, D, loss)
    F = objective(loss, X, y, curvature=0.8)
    records = F.records
    assert (np.linalg.norm(records.units, axis=1) <= 1.0).all()
    assert (records.gains * records.norms * loss.smoothness <= 0.8).all()
    for w in 10.0 ** rng.uniform(-3, 3, (5, 1)) * rng.standard_normal((5, D)):
        anchor = Anchor(F, w)
        assert (np.abs(anchor.slopes(anchor.base)) <= 1.0).all()
        assert np.linalg.norm(F.gradient(w) - RIDGE * (w - 0.2)) <= CLIP
        assert np.linalg.eigvalsh(F.hessian(w)).max() <= RIDGE + 0.8 * (1 + 1e-12)
        assert np.isfinite(F.value(w))


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
@pytest.mark.parametrize("attack", ATTACKS)
def test_float_error_of_the_gradient(loss, attack):
    """Against 60 digits, at the anchor: what the slopes lose is within the public bound."""
    X, y = attacked(attack, np.random.default_rng(4), 20, D, loss)
    F = objective(loss, X, y)
    with mp.workdps(60):
        exact = Exact(F)
        for w in np.random.default_rng(5).standard_normal((4, D)):
            truth = np.array([float(g) for g in exact.parts([mp.mpf(v) for v in w.tolist()])[0]])
            error = np.linalg.norm(F.gradient(w) / CLIP - truth)
            assert error <= evaluation_error(F) + 2.0**-53 * (132 + 4 * np.linalg.norm(w) / F.length + 8)


@pytest.mark.parametrize("loss", [case.loss for case in EVERY_LOSS if case.loss.convex], ids=repr)
def test_what_the_note_asks_of_a_loss(loss):
    """|pφ''| ≤ |φ'| for residuals; |pφ''| ≤ 1 + sup φ'' for margins. A new loss must keep one of them."""
    p = np.concatenate([-np.geomspace(1e-6, 1e6, 4001), np.geomspace(1e-6, 1e6, 4001)])
    for target in (0.0, 1.0) if loss.name in LABELS else (0.0,):
        bend = np.abs(p) * loss.second_derivative(p, np.full_like(p, target))
        slope = np.abs(loss.derivative(p, np.full_like(p, target)))
        assert (bend <= (1.0 + loss.smoothness if loss.name in LABELS else slope) * (1 + 1e-9)).all()


def test_predictions_have_twice_the_precision():
    """r⟨û, w⟩ − y where all but the last twelve digits cancel."""
    rng = np.random.default_rng(6)
    X, w = rng.standard_normal((50, 4)) * 1e12, rng.standard_normal(4)
    units, norms = unit_rows(X)
    y = norms * (units @ w)
    found = exact_predictions(units, norms, y, w)
    with mp.workdps(60):
        for i in range(50):
            exact = mp.mpf(float(norms[i])) * mp.fdot(map(mp.mpf, units[i].tolist()), map(mp.mpf, w.tolist()))
            exact -= mp.mpf(float(y[i]))
            assert abs(mp.mpf(float(found[i])) - exact) <= 2.0**-53 * abs(exact) + 1e-30 * norms[i]
    assert np.abs(found).max() > 0.0
    assert not np.array_equal(found, norms * (units @ w) - y)


def test_rows_do_not_know_their_neighbours():
    X = np.random.default_rng(7).standard_normal((9, 5)) * 1e3
    units, norms = unit_rows(X)
    for i in range(9):
        alone, length = unit_rows(np.ascontiguousarray(X[i : i + 1]))
        assert np.array_equal(alone[0], units[i])
        assert length[0] == norms[i]


def test_moving_the_anchor_does_not_move_the_point():
    X, y = ordinary(np.random.default_rng(8), M, D, Squared())
    F = objective(Squared(), X, y)
    state = start(Anchor(F, np.ones(D)), np.full(D, 1.0 / 3.0))
    near = state.anchored()
    assert np.linalg.norm(near.shift) <= 1e-15
    assert np.allclose(near.gradient, state.gradient, atol=1e-14)


@pytest.mark.parametrize("target", [0.5, 2.0, -1.0, np.nan])
def test_labels_outside_the_classes_do_not_count(target):
    F = Objective(np.ones((1, D)), [target], Hinge(0.1), CLIP, RIDGE, np.zeros(D), 1)
    assert np.array_equal(F.gradient(np.zeros(D)), np.zeros(D))


def test_nothing_of_a_record_is_shown():
    F = objective(Squared(), np.full((M, D), 1234.5), np.full(M, 6789.0))
    assert "1234" not in repr(F) + repr(F.records) + str(F)
    assert "6789" not in repr(F) + repr(F.records) + str(F)


def test_what_is_refused():
    X, y = ordinary(np.random.default_rng(0), M, D, Squared())
    with pytest.raises(ParameterError, match="'loss' parameter of Objective must be a convex loss"):
        objective(Biweight(1.0), X, y)
    for wrong in (
        {"clip": 0.0},
        {"ridge": -1.0},
        {"clip": 1e200},
        {"curvature": 0.0},
        {"size": 0},
        {"centre": [np.nan] * D},
    ):
        parts = {"clip": CLIP, "ridge": RIDGE, "centre": np.zeros(D), "size": M} | wrong
        with pytest.raises(ParameterError, match=f"The '{next(iter(wrong))}' parameter of Objective"):
            Objective(X, y, Squared(), **parts)
    with pytest.raises(DataError, match="at most as many rows"):
        Objective(X, y, Squared(), CLIP, RIDGE, np.zeros(D), M - 1)
    with pytest.raises(DataError, match="a target for each"):
        Objective(X, y[:-1], Squared(), CLIP, RIDGE, np.zeros(D), M)


def test_derivatives_of_the_reference():
    """The 60-digit losses are those of the library."""
    for loss in LOSSES:
        for p in (-3.0, -0.03, 0.2, 0.96, 4.0):
            first, second = derivatives(loss, mp.mpf(p), mp.mpf(1 if loss.name in LABELS else 0))
            target = 1.0 if loss.name in LABELS else 0.0
            assert float(first) == pytest.approx(float(loss.derivative(p, target)), abs=1e-13)
            assert float(second) == pytest.approx(float(loss.second_derivative(p, target)), abs=1e-13)
