"""What the last steps of `newton` are: levels and a calibration for skewed noise, gradients for symmetric noise."""

import numpy as np
import pytest

import tailguard as tg

N, D = 6000, 3
LEVELS = ("calibration level", "prediction level")


def _fitted(noise, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, (N, D))
    model = tg.LinearRegression(epsilon=1.0, delta=1e-6, random_state=seed)
    return model.fit(X, X @ [1.0, -2.0, 0.5] + noise(rng))


def _released(model, name):
    """Return what a step released, and the noise that counts of records would have there."""
    (reply,) = (reply for reply in model.release_.released if reply.step == name)
    (step,) = (step for step in model.plan_.steps if step.name == name)
    return reply, pytest.approx(np.sqrt(2.0) * step.multiplier)


def test_symmetric_noise_leaves_no_step_unused():
    """The levels of a calibration are gradients then: in other units than counts, and near 0 where the fit is."""
    model = _fitted(lambda rng: rng.standard_t(3, N))
    assert not any(entry.skipped for entry in model.release_.ledger.entries)
    for step in LEVELS:
        reply, of_counts = _released(model, step)
        assert reply.noise != of_counts
        assert np.all(np.abs(reply.value[: D + 1]) < 0.1 * N)


def test_symmetric_noise_is_hardly_ever_taken_for_skewed():
    """At 2.5 deviations of what sampling and noise explain: once in eighty fits. At 1.5 it would be one in seven."""
    taken = 0
    for seed in range(40):
        reply, of_counts = _released(_fitted(lambda rng: rng.standard_t(3, N), seed), LEVELS[0])
        taken += reply.noise == of_counts
    assert taken <= 2


def test_skewed_noise_is_counted():
    model = _fitted(lambda rng: rng.lognormal(0.0, 1.0, N))
    for step in LEVELS:
        reply, of_counts = _released(model, step)
        assert reply.noise == of_counts
        assert reply.value.sum() == pytest.approx(N, abs=5.0 * reply.noise * np.sqrt(reply.value.size))


def test_both_kinds_of_noise_have_one_plan():
    """What is asked depends on released numbers; what it costs does not."""
    symmetric, skewed = _fitted(lambda rng: rng.standard_t(3, N)), _fitted(lambda rng: rng.lognormal(0.0, 1.0, N))
    assert symmetric.plan_ == skewed.plan_
    events = [[entry.event for entry in model.release_.ledger.entries] for model in (symmetric, skewed)]
    assert events[0] == events[1]


def test_classes_are_not_calibrated():
    steps = {step.name for step in tg.LogisticRegression().plan(n_rows=10_000, n_features=5).steps}
    assert not steps & {"calibration", *LEVELS}
