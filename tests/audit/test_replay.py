"""Replays: the public audit of sensitivities and of what a solver knows."""

import numpy as np
import pytest

import tailguard as tg
from tailguard.audit import Change, Replay, replay, replay_plan
from tailguard.errors import DataError
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tests.support.registry_plans import CASES

FAR = 1e9
MEAN = next(case for case in CASES if case.name == "centred mean")
LINEAR = next(case for case in CASES if case.name == "linear")
LOGISTIC = next(case for case in CASES if case.name == "logistic")


def _pair(case):
    X, *y = case.records()
    other = X.copy()
    X[0], other[0] = FAR, -FAR
    return (X, *y), (other, *y)


@pytest.mark.parametrize("case", [MEAN, LINEAR, LOGISTIC], ids=str)
def test_a_replay_of_an_estimator(case):
    found = replay(case.estimator, *_pair(case))
    assert found.holds
    assert found.same_questions
    assert found.same_estimate
    entries = run(case.plan, case.engine(), Simulation(0)).ledger.entries
    assert len(found.changes) == sum(not entry.skipped for entry in entries)
    assert found.by_step.keys() == {entry.step for entry in entries if not entry.skipped}
    assert found.by_step["feature centre"] == pytest.approx(1.0)
    assert max(found.by_step.values()) <= 1.0


def test_the_same_data_do_not_move():
    records, _ = _pair(LINEAR)
    found = replay(LINEAR.estimator, records, records)
    assert {change.ratio for change in found.changes} == {0.0}


def test_the_estimator_is_left_alone():
    estimator = tg.Mean(epsilon=30.0)
    replay(estimator, *_pair(MEAN))
    assert vars(estimator) == vars(tg.Mean(epsilon=30.0))


def test_seeds_change_the_answers_and_not_the_verdict():
    by_seed = [replay_plan(MEAN.plan, *map(MEAN.engine, *zip(*_pair(MEAN), strict=True)), seed=seed) for seed in (0, 1)]
    assert all(found.holds for found in by_seed)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e308, 5e-324])
@pytest.mark.parametrize("case", [MEAN, LINEAR, LOGISTIC], ids=str)
def test_any_record_may_come(case, value):
    X, *y = case.records()
    other = X.copy()
    other[3] = value
    targets = [target.copy() for target in y]
    for target in targets:
        target[3] = value
    assert replay(case.estimator, (X, *y), (other, *targets)).holds


def test_two_records_are_too_many():
    """The verdict can fail: two replaced records may move a statistic twice as far."""
    X, other = MEAN.records()[0], MEAN.records()[0]
    X[:2], other[:2] = FAR, -FAR
    found = replay(MEAN.estimator, (X,), (other,))
    assert not found.holds
    assert max(found.by_step.values()) > 1.5


def test_sizes_must_agree():
    X = MEAN.records()[0]
    with pytest.raises(DataError, match="same number of rows and features"):
        replay(MEAN.estimator, (X,), (X[:-1],))


def test_a_verdict_needs_all_three():
    fine = (Change("a", 1.0), Change("b", 0.5), Change("a", 0.2))
    assert Replay(fine, same_questions=True, same_estimate=True).holds
    assert Replay(fine, True, True).by_step == {"a": 1.0, "b": 0.5}
    assert not Replay(fine, same_questions=False, same_estimate=True).holds
    assert not Replay(fine, same_questions=True, same_estimate=False).holds
    assert not Replay((Change("a", 1.0 + 1e-15),), True, True).holds
