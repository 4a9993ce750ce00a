"""What every evaluation and selection must do: all that recipes must, and answers that are numbers or say no."""

import numpy as np
import pytest

from tailguard.engines.numpy import NumpyEngine
from tailguard.plans import digest, dumps, loads
from tailguard.run import run
from tailguard.run.randomness import Exact, Simulation
from tailguard.solvers.measures import Evaluated
from tailguard.solvers.selection import Selected, SelectedClasses
from tailguard.statistics import View
from tests.support import checks, neighbours
from tests.support.registry_judgements import JUDGEMENTS
from tests.support.transcripts import FAMILIES, told

ALL = pytest.mark.parametrize("case", JUDGEMENTS, ids=str)


@ALL
def test_a_plan_costs_what_was_asked_and_travels(case):
    cost = checks.check_cost(case.plan).epsilon / case.plan.privacy.epsilon
    assert 0.97 <= cost <= 1.0
    again = loads(dumps(case.plan))
    assert again == case.plan
    assert digest(again) == digest(case.plan)


@ALL
def test_noise_has_the_promised_scale_and_is_never_used_twice(case):
    checks.check_pick_scale(case.plan, case.engine())
    checks.check_steady_noise(case.plan, case.engine())
    for randomness in (Simulation(3), Exact()):
        checks.check_noise_is_fresh(case.plan, case.engine(), randomness)
    checks.check_blocks(case.plan, case.engine())


@ALL
def test_no_neighbour_moves_a_statistic_too_far_or_changes_a_question(case):
    rng = np.random.default_rng(0)
    X, y = case.records(seed=1)
    hostile = neighbours.records(View(case.d), (), case.n, np.random.default_rng(2))
    for base in ((X, y), (np.full_like(X, 3.0), np.ones_like(y)), hostile):
        others = []
        for row, target in zip(*neighbours.records(View(case.d), (), 3, rng), strict=True):
            changed = tuple(part.copy() for part in base)
            place = rng.integers(case.n)
            changed[0][place], changed[1][place] = row, target
            others.append(case.engine(*changed))
        checks.check_replays(case.plan, case.engine(*base), others)


@ALL
def test_solvers_survive_every_transcript(case):
    for family in [*FAMILIES, "mixed"]:
        for seed in range(4 if family in ("mixed", "cauchy", "noise") else 1):
            _is_sane(told(case.plan, family, seed), case)


def _is_sane(estimate, case):
    if isinstance(estimate, Selected):
        assert np.all(np.isfinite(estimate.coefficients))
        assert estimate.coefficients.shape == ((3, case.d) if isinstance(estimate, SelectedClasses) else (case.d,))
        assert isinstance(estimate, SelectedClasses) == (case.classes == 3)
        assert 0 <= estimate.winner < len(estimate.models) == 2
        assert np.isfinite(estimate.noise)
        return
    assert isinstance(estimate, Evaluated)
    assert np.isfinite(estimate.clip)
    for measure in estimate.measures:
        assert np.isnan(measure.value) or measure.low <= measure.value <= measure.high
        assert measure.standard_error >= measure.privacy_error >= 0.0 or np.isnan(measure.value)


@ALL
def test_results_do_not_depend_on_threads_chunks_or_the_order_of_rows(case):
    X, y = case.records()
    shuffle = np.random.default_rng(0).permutation(case.n)
    first = run(case.plan, case.engine(X, y), Simulation(5))
    engines = [NumpyEngine(np.asfortranarray(X), y, threads=3, chunk_bytes=X.nbytes // 20)]
    if all(step.blocks == 1 for step in case.plan.steps):
        engines.append(case.engine(X[shuffle], y[shuffle]))
    for engine in engines:
        for one, two in zip(first.released, run(case.plan, engine, Simulation(5)).released, strict=True):
            np.testing.assert_array_equal(one.value, two.value)
