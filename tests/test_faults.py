"""Planted faults: each breaks privacy in one place, and a check of the library or of the contract suites finds it.

Every test first shows that the check passes without the fault, then plants it. The checks are those of
`tests.support.checks`, which the contract suites run on every recipe.
"""

import dataclasses
import importlib

import numpy as np
import pytest

import tailguard as tg
from tailguard import engines
from tailguard.engines import Block
from tailguard.engines.selection import Selection
from tailguard.errors import LedgerError, PlanError
from tailguard.mechanisms import Gaussian
from tailguard.plans import Ledger, verify
from tailguard.privacy import Privacy
from tailguard.recipes import draft
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tailguard.solvers import Estimate, Query, private_mean
from tailguard.solvers.clip_level import Histogram
from tailguard.statistics import Clipped, Either, kernels
from tests.support import checks, toy
from tests.support.registry_plans import CASES

CASE = next(case for case in CASES if case.name == "centred mean")
LINEAR = next(case for case in CASES if case.name == "linear")
FAR = 1e9
KERNEL = importlib.import_module("tailguard.run.run")  # `tailguard.run.run` is the function of the same name


def _neighbours(case):
    """Yield two engines whose first records lie on opposite sides, far out."""
    for sign in (1.0, -1.0):
        X, *y = (part.copy() for part in case.records())
        X[0] = sign * FAR
        yield case.engine(X, *y)


# Less noise than promised


def test_halved_multipliers_in_a_plan():
    checks.check_cost(CASE.plan)
    steps = tuple(dataclasses.replace(step, multiplier=step.multiplier / 2) for step in CASE.plan.steps)
    with pytest.raises(PlanError, match=r"costs ε = \d+\.\d+ .* more than the ε = 30"):
        verify(dataclasses.replace(CASE.plan, steps=steps))


@pytest.mark.parametrize("part", [0.5, 0.99])
@pytest.mark.parametrize("victim", ["mean", "feature centre"])
def test_less_noise_in_one_step_behind_the_ledgers_back(monkeypatch, victim, part):
    checks.check_noise_scale(CASE.plan, CASE.engine())
    step = next(step for step in CASE.plan.steps if step.name == victim)
    promised = pytest.approx(step.multiplier * step.sensitivity)
    whole = Simulation.gaussian

    def less(self, value, scale):
        return whole(self, value, part * scale if scale == promised else scale)

    monkeypatch.setattr(Simulation, "gaussian", less)
    with pytest.raises(AssertionError, match=f"step '{victim}': noise of the wrong scale"):
        checks.check_noise_scale(CASE.plan, CASE.engine())


def test_halved_noise_that_the_mechanism_reports():
    """The event performed is computed from the scale really used, so the ledger differs from the plan."""

    class Quiet(Gaussian):
        def release(self, value, sensitivity, multiplier, randomness):
            return super().release(value, sensitivity, multiplier / 2, randomness)

    quiet = tuple(dataclasses.replace(step, mechanism=Quiet()) for step in toy.usual())
    with pytest.raises(LedgerError, match="nothing is returned"):
        run(toy.plan(quiet, toy.obedient), engines.open(toy.records()), Simulation(0))


def test_a_budget_calibrated_for_ten_times_delta(monkeypatch):
    honest = draft.calibrate
    monkeypatch.setattr(draft, "calibrate", lambda build, p: honest(build, Privacy(p.epsilon, 10 * p.delta)))
    plan = CASE.estimator.plan(CASE.n, CASE.d)
    assert plan.privacy == CASE.plan.privacy
    with pytest.raises(PlanError, match="more than the ε = 30 that it promises"):
        checks.check_cost(plan)


def test_noise_drawn_once_and_used_twice(monkeypatch):
    checks.check_noise_is_fresh(CASE.plan, CASE.engine(), Simulation(0))
    fresh = Simulation.uniform

    def reused(self, size):
        if not hasattr(self, "drawn"):
            self.drawn = fresh(self, 10_000)
        return self.drawn[:size]

    monkeypatch.setattr(Simulation, "uniform", reused)
    with pytest.raises(AssertionError, match="two releases carry the same noise"):
        checks.check_noise_is_fresh(CASE.plan, CASE.engine(), Simulation(0))


def test_noise_that_is_correlated_with_the_last(monkeypatch):
    fresh = Simulation.gaussian

    def leaning(self, value, scale):
        last = getattr(self, "last", np.zeros(10_000))[: value.size]
        drawn = fresh(self, np.zeros_like(value), scale)
        self.last = drawn / scale
        return value + np.rint(0.6 * drawn + 0.8 * scale * np.resize(last, value.size)).astype(np.int64)

    monkeypatch.setattr(Simulation, "gaussian", leaning)
    with pytest.raises(AssertionError, match="consecutive releases is correlated"):
        checks.check_noise_is_fresh(LINEAR.plan, LINEAR.engine(), Simulation(0))


# Statistics that move further than they say


@pytest.mark.parametrize("case", [CASE, LINEAR], ids=str)
def test_a_dropped_clip(monkeypatch, case):
    checks.check_replay(case.plan, *_neighbours(case))

    def unclipped(slopes, squares, unit, bound):
        return np.minimum(np.abs(slopes) / unit, 2.0**40 / np.sqrt(squares)) * np.sign(slopes) * 4.0

    monkeypatch.setattr(kernels, "clip_factors", unclipped)
    with pytest.raises(AssertionError, match="a statistic moved too far"):
        checks.check_replay(case.plan, *_neighbours(case))


def test_an_understated_sensitivity(monkeypatch):
    monkeypatch.setattr(Clipped, "_sensitivity", classmethod(lambda cls, norm, dimension, size, parts: 1.0 * size))
    plan = CASE.estimator.plan(CASE.n, CASE.d)
    verify(plan)  # which trusts the object: the statistic's own contract is what must fail
    with pytest.raises(AssertionError, match="a statistic moved too far"):
        checks.check_replay(plan, *_neighbours(CASE))


def test_counts_that_weigh_more_than_their_room(monkeypatch):
    """A step that is a histogram here and could have been a sum has the sum's sensitivity."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(LINEAR.n, LINEAR.d)), rng.lognormal(size=LINEAR.n)
    pair = [LINEAR.engine(X, np.append(y[:-1], last)) for last in (0.0, FAR)]
    assert checks.check_replay(LINEAR.plan, *pair).by_step["calibration level"] > 0.99
    monkeypatch.setattr(Either, "_weight", property(lambda either: 2 * 2**either.bits))
    with pytest.raises(AssertionError, match="a statistic moved too far"):
        checks.check_replay(LINEAR.plan, *pair)


def test_an_understated_sensitivity_in_a_plan():
    steps = tuple(dataclasses.replace(step, sensitivity=step.sensitivity / 2) for step in CASE.plan.steps)
    with pytest.raises(PlanError, match="the sensitivity is not the one that"):
        verify(dataclasses.replace(CASE.plan, steps=steps))


def test_a_statistic_that_only_calls_itself_clipped():
    class Unclipped(Clipped):
        def _block(self, X, y):
            return np.rint(X.sum(axis=0) / self.unit)

    def script(told):
        yield Query("count", toy.below(0.0, 0.0))
        for _ in range(2):
            yield Query("sum", Unclipped(toy.clipped().field, 1.0, toy.BITS))

    with pytest.raises(LedgerError, match="not the one that was planned"):
        run(toy.plan(toy.usual(), script), engines.open(toy.records()), Simulation(0))


# Charges that are missing or wrong


def test_a_skipped_ledger_entry(monkeypatch):
    monkeypatch.setattr(KERNEL, "Ledger", lambda entries: Ledger(entries[1:]))
    with pytest.raises(LedgerError, match="nothing is returned"):
        run(CASE.plan, CASE.engine(), Simulation(0))


@pytest.mark.parametrize("where", ["schedule", "engine"])
def test_a_swapped_block(monkeypatch, where):
    plan = toy.plan(toy.usual(count=4, blocks=2), lambda told: toy.obedient(told, sums=4))
    engine = engines.open(toy.records())
    checks.check_blocks(plan, engine)
    if where == "schedule":
        planned = KERNEL._schedule
        monkeypatch.setattr(
            KERNEL, "_schedule", lambda plan: ((step, Block(0, step.blocks)) for step, _ in planned(plan))
        )
        with pytest.raises(LedgerError, match="nothing is returned"):
            run(plan, engine, Simulation(0))
        return
    swapped = {Block(0, 2): Block(1, 2), Block(1, 2): Block(0, 2)}
    monkeypatch.setattr(KERNEL, "Selection", lambda engine, block: Selection(engine, swapped.get(block, block)))
    with pytest.raises(AssertionError, match="a release met another block"):
        checks.check_blocks(plan, engine)


def test_blocks_that_overlap(monkeypatch):
    plan = toy.plan(toy.usual(count=4, blocks=2), lambda told: toy.obedient(told, sums=4))
    monkeypatch.setattr(Block, "arc", lambda self, n: (0, n // 2 + 1))
    with pytest.raises(AssertionError, match="blocks are no partition"):
        checks.check_blocks(plan, engines.open(toy.records()))


# Solvers that know more than they were told


class _Spying(checks.Watched):
    """Lays the exact records where a solver's closure finds them."""

    def __init__(self, engine, held):
        super().__init__(engine)
        self._held = held

    def map_sum(self, kernel, block):
        self._held["records"] = self._engine.gather()[0]
        return super().map_sum(kernel, block)


def _peeking(script):
    """Return a plan whose script closes over whatever engine is being replayed, and the two engines."""
    held = {}
    X = toy.records()
    other = X.copy()
    other[0] = FAR
    plan = toy.plan(toy.usual(), lambda told: script(told, held))
    return plan, _Spying(engines.open(X), held), _Spying(engines.open(other), held)


def test_a_solver_that_takes_an_edge_from_the_data():
    def script(told, held):
        yield Query("count", toy.below(0.0, 0.0))
        yield Query("sum", toy.clipped(1.0 + float(np.abs(held["records"]).max())))
        yield Query("sum", toy.clipped())

    with pytest.raises(AssertionError, match="the questions depend on exact data"):
        checks.check_replay(*_peeking(script))


def test_a_solver_that_skips_a_step_because_of_the_data():
    def script(told, held):
        yield Query("count", toy.below(0.0, 0.0))
        yield Query("sum", None if np.abs(held["records"]).max() > 1e6 else toy.clipped())
        yield Query("sum", toy.clipped())

    with pytest.raises(AssertionError, match="the questions depend on exact data"):
        checks.check_replay(*_peeking(script))


def test_a_solver_that_stops_early_because_of_the_data():
    def script(told, held):
        yield Query("count", toy.below(0.0, 0.0))
        yield Query("sum", toy.clipped())
        if np.abs(held["records"]).max() < 1e6:
            yield Query("sum", toy.clipped())

    with pytest.raises((AssertionError, LedgerError)):
        checks.check_replay(*_peeking(script))


def test_a_solver_that_mixes_exact_data_into_its_answer(monkeypatch):
    plan, data, neighbour = _peeking(lambda told, held: toy.obedient(told))
    checks.check_replay(plan, data, neighbour)
    told_last = {}

    def script(told, held):
        yield from toy.obedient(told)
        told_last.update(held)

    plan, data, neighbour = _peeking(script)
    monkeypatch.setattr(toy, "Estimate", lambda value: Estimate(value + told_last["records"].mean(axis=0)))
    with pytest.raises(AssertionError, match="the estimate depends on exact data"):
        checks.check_replay(plan, data, neighbour)


def test_a_clip_level_that_is_the_exact_maximum(monkeypatch):
    """A fault in a shipped solver: the clip level comes from a closure over the records instead of a release."""
    held = {}
    honest = private_mean.histogram

    def cheating(*arguments):
        sizes = yield from honest(*arguments)
        largest = float(np.abs(held["records"]).max())
        cheat = type("Cheat", (Histogram,), {"beyond": lambda *_: largest})
        return cheat(sizes.mass, sizes.noise, sizes.exponential)

    X = CASE.records()[0]
    other = X.copy()
    other[0] = FAR
    data, neighbour = (_Spying(CASE.engine(part), held) for part in (X, other))
    checks.check_replay(CASE.plan, data, neighbour)
    monkeypatch.setattr(private_mean, "histogram", cheating)
    with pytest.raises(AssertionError, match="the questions depend on exact data"):
        checks.check_replay(CASE.plan, data, neighbour)


def test_the_public_replay_reports_faults_too(monkeypatch):
    X = CASE.records()[0]
    other = X.copy()
    other[0] = -FAR
    X[0] = FAR
    assert tg.audit.replay(CASE.estimator, (X,), (other,)).holds
    monkeypatch.setattr(Clipped, "_sensitivity", classmethod(lambda cls, norm, dimension, size, parts: 1.0 * size))
    found = tg.audit.replay(CASE.estimator, (X,), (other,))
    assert not found.holds
    assert found.by_step["mean"] == pytest.approx(2.0, rel=1e-6)
