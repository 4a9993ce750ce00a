"""Steps on unequal parts of the records: halves, quarters, eighths. What one record meets, counted record by record."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tailguard import engines
from tailguard.engines import Block
from tailguard.errors import LedgerError, ParameterError, PlanError
from tailguard.mechanisms import L2Laplace
from tailguard.plans import Step, dumps, loads, verify
from tailguard.plans.step import composition
from tailguard.privacy import Privacy, epsilon
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tailguard.solvers import Query
from tests.support import checks, toy

PURE = L2Laplace()


def phases(count, repetitions=1, multiplier=2.0):
    """Steps on 1/2, 1/4, … of the records, each in `repetitions` blocks."""
    sizes = range(1, count + 1)
    return tuple(
        toy.step(
            f"phase {t}",
            toy.clipped(),
            PURE,
            multiplier=multiplier,
            count=repetitions,
            blocks=2**t * repetitions,
            first=(2**t - 2) * repetitions,
        )
        for t in sizes
    )


def asked(steps):
    def script(told):
        for step in steps:
            for _ in range(step.count):
                yield Query(step.name, toy.clipped(float(len(told) + 1)))

    return script


def plan(steps, budget=10.0):
    return toy.plan(steps, asked(steps), Privacy(budget, 0.0))


def by_rows(steps, n):
    """ε of every record, by looking up who is in which block."""
    cost = np.zeros(n)
    for step in steps:
        for release in range(step.count):
            cost[Block((step.first + release) % step.blocks, step.blocks).rows(n)] += 1.0 / step.multiplier
    return cost


@pytest.mark.parametrize("repetitions", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_phases_do_not_add_up(count, repetitions):
    steps = phases(count, repetitions)
    assert verify(plan(steps)).epsilon == pytest.approx(0.5, rel=1e-9)
    assert by_rows(steps, toy.N).max() == pytest.approx(0.5)
    checks.check_blocks(plan(steps), engines.open(toy.records()))


@pytest.mark.parametrize("seed", range(60))
def test_any_arcs_cost_what_the_dearest_record_meets(seed):
    rng = np.random.default_rng(seed)
    steps = []
    for number in range(rng.integers(1, 6)):
        blocks = int(rng.integers(1, 9))
        shape = {"count": int(rng.integers(1, 10)), "blocks": blocks, "first": int(rng.integers(blocks))}
        multiplier = float(rng.uniform(1.0, 9.0))
        steps.append(toy.step(f"{number}", toy.clipped(), PURE, multiplier=multiplier, **shape))
    expected = by_rows(steps, 840 * 6).max()  # no cell of these partitions is empty
    stated = epsilon(composition(steps), 0.0)
    if all(step.count < step.blocks or step.count % step.blocks == 0 for step in steps):
        assert stated == pytest.approx(expected, rel=1e-9)
    assert stated >= expected * (1 - 1e-12)
    assert checks.least_cost(plan(tuple(steps))) >= by_rows(steps, toy.N).max() * (1 - 1e-12)


def test_a_step_on_all_records_comes_on_top():
    whole = toy.step("count", toy.clipped(), PURE, multiplier=4.0)
    assert verify(plan((whole, *phases(3)))).epsilon == pytest.approx(0.75, rel=1e-9)
    overlapping = toy.step("again", toy.clipped(), PURE, multiplier=4.0, blocks=3, first=1)  # from 1/3 to 2/3
    assert verify(plan((overlapping, *phases(3)))).epsilon == pytest.approx(0.75, rel=1e-9)
    beside = toy.step("again", toy.clipped(), PURE, multiplier=4.0, blocks=8, first=7)  # where no phase is
    assert verify(plan((beside, *phases(3)))).epsilon == pytest.approx(0.5, rel=1e-9)


def test_releases_meet_their_own_records():
    steps = phases(3, 2)
    done = run(plan(steps), engines.open(toy.records()), Simulation(0))
    assert [entry.block for entry in done.ledger.entries] == [0, 1, 4, 5, 12, 13]
    found = [set(Block(step.block(r), step.blocks).rows(toy.N)) for step in steps for r in range(step.count)]
    assert sum(map(len, found)) == len(set().union(*found))
    assert [len(rows) for rows in found] == [15, 15, 8, 7, 4, 4]


def test_another_block_is_noticed(monkeypatch):
    monkeypatch.setattr(Step, "block", lambda self, release: release % self.blocks)
    with pytest.raises(AssertionError, match="another block"):
        checks.check_blocks(plan(phases(2)), engines.open(toy.records()))
    monkeypatch.undo()
    steps = phases(2)
    swapped = plan(tuple(replace(step, first=0) for step in steps))
    assert verify(swapped).epsilon == pytest.approx(1.0, rel=1e-9)
    with pytest.raises(PlanError, match="more than"):
        verify(replace(swapped, privacy=Privacy(0.6, 0.0)))
    done = run(plan(steps), engines.open(toy.records()), Simulation(0))
    with pytest.raises(LedgerError):
        done.ledger.check(swapped)


def test_the_first_block_travels_and_is_checked():
    steps = phases(3)
    example = replace(plan(steps), solver=checks_solver())
    assert loads(dumps(example)) == example
    for wrong in (-1, 8, 0.5, "1"):
        with pytest.raises(ParameterError, match="'first' parameter of Step"):
            replace(steps[2], first=wrong)
    assert [step.first for step in steps] == [0, 2, 6]
    assert math.isclose(sum(step.count / step.blocks for step in steps), 7 / 8)


def checks_solver():
    """A solver of the package: a scripted one cannot be written down."""
    from tailguard.domains import WholeSpace
    from tailguard.solvers.oracles import Clip
    from tailguard.solvers.private_mean import PrivateMean

    return PrivateMean(WholeSpace(toy.D), toy.N, toy.D, toy.BITS, Clip(1.0))
