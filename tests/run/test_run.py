"""The trusted kernel: what was planned is done, exactly, or nothing is returned."""

import dataclasses
import pickle

import numpy as np
import pytest

from tailguard import engines
from tailguard.errors import DataError, LedgerError, PlanError
from tailguard.mechanisms import Laplace, NoisyMax
from tailguard.plans import Entry, Ledger, digest, verify
from tailguard.privacy import Disjoint, Privacy, Repeat, epsilon
from tailguard.run import drive, run
from tailguard.run.randomness import Exact, Float, Simulation
from tailguard.run.run import in_units
from tailguard.solvers import Query
from tailguard.statistics import Clipped, Rows, View
from tests.support import checks, toy
from tests.support.registry_plans import CASES
from tests.support.toy import below, clipped, obedient, plan, step, usual

RECORDS = toy.records()


def _run(steps, script, randomness=None, X=RECORDS, **options):
    return run(plan(steps, script, **options), engines.open(X), randomness or Simulation(0))


def test_the_ledger_is_the_plan():
    release = _run(usual(), obedient)
    release.ledger.check(release.plan)
    assert [entry.step for entry in release.ledger.entries] == ["count", "sum", "sum"]
    assert [entry.event for entry in release.ledger.entries] == [
        planned.release_event for planned, _ in checks.schedule(release.plan)
    ]
    assert not any(entry.skipped for entry in release.ledger.entries)


def test_a_release_says_what_was_released():
    release, watch = checks.watched_run(plan(usual(), obedient), engines.open(RECORDS), Simulation(0))
    assert [reply.step for reply in release.released] == ["count", "sum", "sum"]
    assert release.guarantee == verify(release.plan)
    assert release.digest == digest(release.plan)
    unit = 2.0 / 2**toy.BITS
    for reply, exact in zip(release.released[1:], watch.exact[1:], strict=True):
        assert reply.noise == 10.0 * 2 * 2**toy.BITS * unit
        assert np.all(np.abs(reply.value - exact * unit) < 6 * reply.noise)
    assert dict(release.versions).keys() == {"tailguard", "opendp", "dp-accounting", "numpy"}


def test_large_budgets_bring_the_exact_sum_back():
    steps = tuple(dataclasses.replace(planned, multiplier=1e-6) for planned in usual())
    release = _run(steps, obedient, privacy=Privacy(1e13, 1e-6))
    norms = np.linalg.norm(RECORDS, axis=1, keepdims=True)
    np.testing.assert_allclose(release.estimate.coefficients, (RECORDS * np.minimum(1, 2 / norms)).sum(0), atol=1e-4)
    np.testing.assert_allclose(release.released[0].value, (RECORDS <= [0.5, -0.5]).sum(axis=0), atol=1e-4)


class Louder(Clipped):
    """Calls itself a clipped sum and is none."""

    def _block(self, X, y):
        return 1000 * super()._block(X, y)


OTHER_QUESTIONS = {
    "the wrong step first": [Query("sum", clipped())],
    "an unknown step": [Query("mean", clipped())],
    "another kind": [Query("count", clipped())],
    "another dimension": [Query("count", below(0, 0)), Query("sum", clipped(d=1))],
    "other bits": [Query("count", below(0, 0)), Query("sum", clipped(bits=20))],
    "a class of its own": [Query("count", below(0, 0)), Query("sum", Louder(Rows(View(2)), 1.0, toy.BITS))],
    "too few": [Query("count", below(0, 0)), Query("sum", clipped())],
    "too many": [Query("count", below(0, 0)), *[Query("sum", clipped())] * 3],
    "a step again": [Query("count", below(0, 0)), Query("count", below(0, 0))],
    "nothing": [],
    "skipped in the wrong place": [Query("sum", None)],
}


@pytest.mark.parametrize("questions", OTHER_QUESTIONS.values(), ids=OTHER_QUESTIONS.keys())
def test_another_question_is_refused_and_nothing_is_returned(questions):
    with pytest.raises(LedgerError):
        _run(usual(), lambda told: iter(questions))


@pytest.mark.parametrize("questions", OTHER_QUESTIONS.values(), ids=OTHER_QUESTIONS.keys())
def test_a_wrong_question_touches_no_record(questions):
    watch = checks.Watched(engines.open(RECORDS))
    with pytest.raises(LedgerError):
        run(plan(usual(), lambda told: iter(questions)), watch, Simulation(0))
    right = sum(
        one.step == two.step and type(one.statistic) is type(two.statistic)
        for one, two in zip(questions, obedient([]), strict=False)
    )
    assert len(watch.exact) <= right


def test_a_norm_that_the_statistic_does_not_offer_is_refused_by_class_first():
    steps = (step("count", below(0.0, 0.0), Laplace()),)
    with pytest.raises(LedgerError):
        _run(steps, lambda told: iter([Query("count", clipped())]), privacy=Privacy(3.0))


def test_a_skipped_step_is_charged():
    def skips(told):
        yield Query("count", None)
        yield Query("sum", clipped())
        yield Query("sum", None)

    release, watch = checks.watched_run(plan(usual(), skips), engines.open(RECORDS), Simulation(0))
    assert len(watch.exact) == 1
    assert [entry.skipped for entry in release.ledger.entries] == [True, False, True]
    assert [entry.event for entry in release.ledger.entries] == [
        planned.release_event for planned, _ in checks.schedule(release.plan)
    ]
    assert release.guarantee == _run(usual(), obedient).guarantee
    np.testing.assert_array_equal(release.released[2].value, [0.0, 0.0])


@pytest.mark.parametrize(("count", "blocks"), [(4, 2), (5, 2), (1, 3), (3, 3)])
def test_blocks_are_disjoint_and_accounted_so(count, blocks):
    steps = usual(count=count, blocks=blocks)
    whole = plan(steps, lambda told: obedient(told, sums=count))
    checks.check_blocks(whole, engines.open(RECORDS))
    release = run(whole, engines.open(RECORDS), Simulation(0))
    assert [entry.block for entry in release.ledger.entries[1:]] == [k % blocks for k in range(count)]
    met, single = -(-count // blocks), steps[1].release_event
    assert steps[1].event == Disjoint(((Repeat(single, met) if met > 1 else single),) * blocks)
    composed = dataclasses.replace(steps[1], count=met, blocks=1)
    expected = epsilon(plan((steps[0], composed), obedient).event, 1e-6)
    assert verify(whole).epsilon == pytest.approx(expected, rel=1e-6)


def test_each_block_sees_its_own_records():
    count = 3

    def one_by_one(told):
        for _ in range(count):
            yield Query("sum", clipped(1e6))

    steps = (step("sum", clipped(), count=count, blocks=count),)
    _, watch = checks.watched_run(plan(steps, one_by_one), engines.open(RECORDS), Simulation(0))
    expected = [RECORDS[engines.Block(k, count).rows(toy.N)].sum(axis=0) for k in range(count)]
    np.testing.assert_allclose(np.array(watch.exact) * (1e6 / 2**toy.BITS), expected, atol=0.1)


@pytest.mark.parametrize("X", [RECORDS[:-1], RECORDS[:, :1], np.vstack([RECORDS, RECORDS])])
def test_records_of_another_size_are_refused(X):
    with pytest.raises(DataError, match="The plan is for 60 rows and 2 features, the records have"):
        _run(usual(), obedient, X=X)


def test_a_plan_beyond_its_budget_is_not_run():
    watch = checks.Watched(engines.open(RECORDS))
    with pytest.raises(PlanError, match="costs ε"):
        run(plan(usual(), obedient, privacy=Privacy(0.5, 1e-6)), watch, Simulation(0))
    assert not watch.exact


@pytest.mark.parametrize(
    ("randomness", "private", "label"),
    [
        (Simulation(7), False, "simulation from seed 7, NOT PRIVATE"),
        (Exact(), True, "exact sampling"),
        (Float(), True, "floating-point sampling"),
    ],
)
def test_releases_say_how_their_noise_was_made(randomness, private, label):
    release = _run(usual(), obedient, randomness)
    assert release.private is private
    assert label in release.numerics


def test_simulations_repeat_and_private_releases_do_not():
    def values(randomness):
        return np.concatenate([reply.value for reply in _run(usual(), obedient, randomness).released])

    np.testing.assert_array_equal(values(Simulation(1)), values(Simulation(1)))
    assert not np.array_equal(values(Simulation(1)), values(Simulation(2)))
    assert not np.array_equal(values(Exact()), values(Exact()))


def test_a_selection_releases_indices():
    steps = (step("best", below(0.0, 0.0), NoisyMax(), multiplier=0.001),)

    def choose(told):
        yield Query("best", below(1e300, -1e300))

    release = _run(steps, choose, privacy=Privacy(1e6))
    assert release.released[0].value.tolist() == [0.0]
    assert release.released[0].noise == 0.0


def test_solvers_see_released_values_only():
    seen = []

    def looks(told):
        yield Query("count", below(0.0, 0.0))
        seen.append(told[0].value.copy())
        yield Query("sum", clipped())
        yield Query("sum", clipped(1.0 + abs(told[1].value[0])))

    release = _run(usual(), looks)
    np.testing.assert_array_equal(seen[0], release.released[0].value)


def test_a_release_can_be_pickled():
    for case in (CASES[0], CASES[-1]):
        release = case.estimator.fit(*case.records()).release_
        again = pickle.loads(pickle.dumps(release))
        assert again.plan == release.plan
        assert again.ledger == release.ledger
        assert again.digest == release.digest
        np.testing.assert_array_equal(again.estimate.coefficients, release.estimate.coefficients)
        for one, two in zip(again.released, release.released, strict=True):
            np.testing.assert_array_equal(one.value, two.value)


def test_the_ledger_notices_every_difference():
    planned = plan(usual(), obedient)
    right = _run(usual(), obedient).ledger
    right.check(planned)
    entries = right.entries
    wrong = [
        entries[:-1],
        (*entries, entries[-1]),
        entries[::-1],
        (dataclasses.replace(entries[0], step="sum"), *entries[1:]),
        (dataclasses.replace(entries[0], block=1), *entries[1:]),
        (dataclasses.replace(entries[0], event=entries[1].event), *entries[1:]),
        (Entry("count", 0, usual()[1].event), *entries[1:]),
        (),
    ]
    for altered in wrong:
        with pytest.raises(LedgerError, match="nothing is returned"):
            Ledger(tuple(altered)).check(planned)


def test_a_mechanism_that_reports_another_event_is_found_out():
    def answer(step, statistic, block):
        event = dataclasses.replace(step.release_event, multiplier=99.0)
        return in_units(step, statistic, np.zeros(step.dimension, np.int64)), event

    planned = plan(usual(), obedient)
    _, _, ledger = drive(planned, answer)
    with pytest.raises(LedgerError):
        ledger.check(planned)
