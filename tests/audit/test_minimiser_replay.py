"""Replays of released minimisers: exact where noise is added to them, without the linear term where it is inside."""

import numpy as np
import pytest

from tailguard.audit import replay_plan
from tailguard.engines import open as open_records
from tailguard.plans.codec import decode, encode
from tailguard.run import run
from tailguard.run.randomness import Exact, Simulation
from tests.support import checks, minimising, neighbours, toy
from tests.support.minimising import EPSILON, MECHANISM

PLANS = pytest.mark.parametrize(
    "plan", [minimising.output_plan(), minimising.tilted_plan()], ids=["output perturbation", "objective perturbation"]
)


@PLANS
def test_a_witness_comes_near_what_is_declared(plan):
    found = checks.check_replay(plan, *minimising.opposed())
    assert 0.95 <= found.by_step["minimiser"] <= 1.0


@PLANS
@pytest.mark.parametrize("seed", range(3))
def test_any_record_may_be_replaced_by_any_other(plan, seed):
    rng = np.random.default_rng(seed)
    X, y = minimising.engine().gather()
    others, targets = neighbours.records(minimising.output().view, (1.0, 1e3), 12, rng)
    for other, target in zip(others, targets, strict=True):
        X_after, y_after = X.copy(), y.copy()
        row = rng.integers(toy.N)
        X_after[row], y_after[row] = other, target
        assert replay_plan(plan, open_records(X, y), open_records(X_after, y_after), seed=seed).holds


@PLANS
def test_two_records_are_too_many(plan):
    data = []
    for target in (1e9, -1e9):
        X, y = np.full((toy.N, toy.D), np.nan), np.full(toy.N, np.nan)
        X[:2], y[:2] = [1.0, 0.0], target
        data.append(open_records(X, y))
    found = replay_plan(plan, *data)
    assert not found.holds
    assert found.by_step["minimiser"] > 1.9


@PLANS
@pytest.mark.parametrize("randomness", [Simulation(0), Exact()], ids=["simulation", "exact"])
def test_a_run_is_pure_and_its_ledger_is_the_plan(plan, randomness):
    release = run(plan, minimising.engine(), randomness)
    assert release.guarantee.delta == 0.0
    assert release.guarantee.epsilon == pytest.approx(EPSILON)
    assert "floating-point sampling in" not in release.numerics
    assert np.all(np.isfinite(release.estimate.coefficients))
    assert release.released[0].noise > 0.0


def test_the_mechanism_travels_with_a_plan():
    assert decode(encode(MECHANISM)) == MECHANISM
