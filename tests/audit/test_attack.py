"""Attacks: what is kept is not called broken, what is broken is, and the bounds come near the promise."""

import dataclasses

import numpy as np
import pytest

import tailguard as tg
from tailguard import engines
from tailguard.audit import Neighbour, attack, attack_plan
from tailguard.audit.game import strongest_pair
from tailguard.audit.memory import Remembering
from tailguard.errors import BudgetError, DataError, ParameterError
from tailguard.privacy import Privacy
from tailguard.run.randomness import Simulation
from tailguard.statistics import Clipped, Rows, View, kernels
from tests.support.registry_plans import CASES

N = 60
X = np.random.default_rng(500).standard_t(3, size=(N, 1))
KNOWN = {"method": "clipping", "moment": tg.Moment(2.0, 1.0)}
GAUSSIAN = tg.Mean(epsilon=8.0, delta=1e-6, **KNOWN)
PURE = tg.Mean(epsilon=1.0, delta=0.0, **KNOWN)
SEVERAL_STEPS = tg.Mean(epsilon=8.0, delta=1e-6, method="clipping")
each = pytest.mark.parametrize("model", [GAUSSIAN, PURE, SEVERAL_STEPS], ids=["gaussian", "pure", "several steps"])


@each
def test_a_kept_promise_is_not_broken(model):
    found = attack(model, (X,), runs=400, seed=501)
    assert found.holds
    assert found.verdict == "not broken"
    assert found.epsilon_lower <= model.epsilon
    assert found.epsilon_by_noise <= model.epsilon
    assert found.noise_upper >= 1.0
    assert found.claimed == Privacy(model.epsilon, model.delta)


def test_one_gaussian_release_is_attacked_to_within_a_quarter():
    found = attack(GAUSSIAN, (X,), runs=1500, seed=502)
    assert 0.75 < found.shown <= 1.0
    assert found.epsilon_by_noise > found.epsilon_lower > 1.0  # which would take a million runs
    assert found.mu_lower > 1.0
    assert found.power > 5.0 * found.false_alarms


def test_one_pure_release_is_attacked_to_within_two_fifths_whatever_the_mechanism():
    found = attack(tg.Mean(epsilon=3.0, delta=0.0, **KNOWN), (X,), runs=1500, seed=503)
    assert 0.6 * 3.0 < found.epsilon_lower <= 3.0


@each
def test_half_the_noise_is_found_out(monkeypatch, model):
    for law in ("gaussian", "laplace"):
        whole = getattr(Simulation, law)
        monkeypatch.setattr(Simulation, law, lambda self, value, scale, whole=whole: whole(self, value, 0.5 * scale))
    found = attack(model, (X,), runs=400, seed=504)
    assert not found.holds
    assert found.verdict == "broken"
    assert found.noise_upper < 1.0


def test_a_clip_that_is_too_wide_is_found_out(monkeypatch):
    clip = kernels.clip_factors
    monkeypatch.setattr(kernels, "clip_factors", lambda *facts: 4.0 * clip(*facts))
    found = attack(GAUSSIAN, (X,), runs=200, seed=505)
    assert not found.holds
    assert found.noise_upper < 0.6


def test_an_understated_sensitivity_is_found_out(monkeypatch):
    monkeypatch.setattr(Clipped, "_sensitivity", classmethod(lambda cls, norm, dimension, size, parts: 0.5 * size))
    assert not attack(GAUSSIAN, (X,), runs=200, seed=506).holds


def test_a_promise_that_the_plan_does_not_keep_is_found_out():
    """With all the noise that the plan says, and a smaller ε on its cover."""
    plan = GAUSSIAN.plan(N, 1)
    false = dataclasses.replace(plan, privacy=Privacy(1.0, 1e-6))
    assert attack_plan(plan, engines.open(X), runs=400, seed=507).holds
    found = attack_plan(false, engines.open(X), runs=400, seed=507)
    assert not found.holds
    assert found.noise_upper >= 1.0


def test_noise_below_the_plan_is_found_out_where_the_promise_leaves_room(monkeypatch):
    whole, plan = Simulation.gaussian, dataclasses.replace(GAUSSIAN.plan(N, 1), privacy=Privacy(40.0, 1e-6))
    monkeypatch.setattr(Simulation, "gaussian", lambda self, value, scale: whole(self, value, 0.5 * scale))
    found = attack_plan(plan, engines.open(X), runs=200, seed=514)
    assert found.shown < 1.0
    assert not found.holds


@pytest.mark.parametrize(
    "name", ["clipped mean, pure", "Catoni peeling", "truncated peeling, paper", "median of means"]
)
def test_other_mechanisms_are_attacked_too(name):
    case = next(case for case in CASES if case.name == name)
    assert attack_plan(case.plan, case.engine(), runs=100, row=3, seed=508).holds


def test_a_neighbour_may_be_given():
    one, other = X.copy(), X.copy()
    one[7], other[7] = 1e9, -1e9
    found = attack(GAUSSIAN, (one,), (other,), runs=400, seed=509)
    assert found.records == "as given"
    assert 0.5 < found.shown <= 1.0
    same = attack(GAUSSIAN, (one,), (one,), runs=400, seed=509)
    assert same.holds
    assert (same.epsilon_lower, same.epsilon_by_noise, same.mu_lower, same.noise_upper) == (0.0, 0.0, 0.0, np.inf)


def test_seeds_decide_and_the_estimator_is_left_alone():
    model = tg.Mean(epsilon=8.0, delta=1e-6, **KNOWN)
    first = attack(model, (X,), runs=100, seed=510)
    assert first == attack(model, (X,), runs=100, seed=510)
    assert first != attack(model, (X,), runs=100, seed=511)
    assert vars(model) == vars(GAUSSIAN)


def test_more_confidence_promises_less():
    sure, surer = (attack(GAUSSIAN, (X,), runs=400, seed=512, confidence=level) for level in (0.9, 0.9999))
    assert sure.epsilon_by_noise > surer.epsilon_by_noise
    assert sure.epsilon_lower > surer.epsilon_lower


def test_what_is_printed():
    text = str(attack(GAUSSIAN, (X,), runs=100, seed=513))
    assert "simulation from seed 513, NOT PRIVATE" in text
    assert "promise ε = 8, δ = 1e-06: not broken" in text
    assert "times the planned noise" in text
    blind = attack(GAUSSIAN, (X,), (X,), runs=100, seed=513)
    assert "inf" not in str(blind)
    assert "0% of the promised ε" in str(blind)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"runs": 99}, ParameterError, "'runs' parameter of attack"),
        ({"confidence": 1.0}, ParameterError, "'confidence' parameter of attack"),
        ({"row": N}, ParameterError, "'row' parameter of Neighbour"),
        ({"neighbour": (X[1:],)}, DataError, "same number of rows and features"),
    ],
)
def test_wrong_use(options, error, words):
    with pytest.raises(error, match=words):
        attack(GAUSSIAN, (X,), **options)


def test_no_session_pays_for_an_attack(tmp_path):
    session = tg.Session(tmp_path / "ledger.db", epsilon=9.0, delta=1e-5)
    with pytest.raises(BudgetError, match="no session pays"):
        attack(tg.Mean(epsilon=8.0, delta=1e-6, session=session), (X,))


def test_the_strongest_pair_depends_on_the_task():
    assert strongest_pair(GAUSSIAN.plan(N, 1), engines.open(X), 0, 0).name == "far out, on opposite sides"
    y = X[:, 0] + 1.0
    plan = tg.LinearRegression(epsilon=30.0).plan(N, 1)
    assert "opposite target" in strongest_pair(plan, engines.open(X, y), 0, 0).name


def test_classes_have_labels(monkeypatch):
    labels, made = [], Neighbour.__init__
    monkeypatch.setattr(
        Neighbour, "__init__", lambda self, engine, row, x, y: (labels.append(y), made(self, engine, row, x, y))[1]
    )
    engine = engines.open(np.repeat(X, 7, axis=0), np.repeat(X[:, 0] > 0.0, 7).astype(float))
    strongest_pair(tg.LogisticRegression(epsilon=30.0).plan(7 * N, 1), engine, 0, 0)
    assert set(labels) == {0.0, 1.0}


def test_records_are_read_once_for_each_question():
    class Counting(type(engines.open(X))):
        passes = 0

        def map_sum(self, kernel, block):
            Counting.passes += 1
            return super().map_sum(kernel, block)

    engine = Counting(X)
    first, second = (Clipped(Rows(View(1)), level, 20) for level in (1.0, 2.0))
    seen = Remembering(engine)
    sums = [seen.map_sum(first.kernel()) for _ in range(3)]
    sums[0] += 1  # a copy
    assert np.array_equal(sums[1], engines.open(X).map_sum(first.kernel()))
    assert np.array_equal(sums[1], sums[2])
    assert Counting.passes == 1
    assert np.array_equal(seen.map_sum(second.kernel()), engines.open(X).map_sum(second.kernel()))
    assert Counting.passes == 2
