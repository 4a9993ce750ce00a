"""The calibration can fail: planted baselines with too little noise are caught, each in its own way."""

import math

import numpy as np
import pytest

from benchmarks.calibration import Small, check, neighbours, replay, table
from benchmarks.objective import Budget, Fit, Solver
from benchmarks.solvers import solvers
from benchmarks.solvers.baseline import Baseline, gaussian_budget
from benchmarks.solvers.clipped_mean import ClippedMean

BUDGET = Budget(1.0, 1e-6)
OURS = [solver for solver in solvers() if isinstance(solver, Baseline)]
ONE_OF_EACH = list({solver.name: solver for solver in OURS}.values())


class Planted(Baseline):
    """A clipped mean of the first column with a fault."""

    tasks, pure, name = ("mean",), False, "planted"

    def __init__(self, *, sensitivity=2.0, thrift=1.0, leak=0.0, peek=False):
        self.sensitivity, self.thrift, self.leak, self.peek = sensitivity, thrift, leak, peek

    def answer(self, task, data, budget, noise, told):
        column = np.nan_to_num(np.clip(data.X[:, 0], -1.0, 1.0))
        multiplier = self.thrift / gaussian_budget(budget)
        if self.peek and column.sum() > self.peek:
            noise.gaussian("again", column.sum(keepdims=True), 2.0, 1e9)
        mean = noise.gaussian("mean", column.sum(keepdims=True), self.sensitivity, multiplier) / len(column)
        return Fit(np.full(data.X.shape[1], mean[0] + self.leak * column.mean()))


def test_an_honest_baseline_holds_and_its_sensitivity_is_reached():
    line = check(Planted(), [BUDGET])
    assert line.holds
    assert line.spent == pytest.approx(1.0, abs=1e-6)
    assert line.replayed.ratios["mean"] == pytest.approx(1.0)


def test_half_the_noise_is_caught_by_accounting():
    line = check(Planted(thrift=0.5), [BUDGET])
    assert line.spent > 1.9
    assert not line.holds
    assert "FAILS" in table([line])


def test_half_the_sensitivity_is_caught_by_replay():
    line = check(Planted(sensitivity=1.0), [BUDGET])
    assert line.spent <= 1.0 + 1e-6
    assert line.replayed.ratios["mean"] == pytest.approx(2.0)
    assert not line.holds


def test_exact_data_beside_the_noise_are_caught():
    line = check(Planted(leak=1e-9), [BUDGET])
    assert line.replayed.worst <= 1.0 + 1e-6
    assert not line.replayed.same_fit
    assert not line.holds


def test_questions_that_depend_on_exact_data_are_caught():
    data = Small("mean").draw(501)
    between = np.clip(data.X[:, 0], -1.0, 1.0).sum() - 0.1
    assert not check(Planted(peek=between), [BUDGET], replayed=[BUDGET]).holds


def test_a_solver_that_does_not_say_what_it_spent_fails():
    class Silent(Solver):
        name, tasks, pure = "silent", ("mean",), False

        def fit(self, task, data, budget, seed):
            return Fit(np.zeros(data.X.shape[1]))

    assert not check(Silent(), [BUDGET]).holds


def test_a_statistic_that_is_not_a_number_fails():
    class Broken(Planted):
        def answer(self, task, data, budget, noise, told):
            with np.errstate(all="ignore"):
                total = np.clip(data.X[:, :1], -1.0, 1.0).sum(axis=0)
            return Fit(np.full(data.X.shape[1], noise.gaussian("mean", total, 2.0, 10.0)[0]))

    assert check(Broken(), [BUDGET]).replayed.worst == math.inf


def test_neighbours_differ_in_one_record():
    data = Small("linear").draw(501)
    for relation in ("replace-one", "add-or-remove-one"):
        for one, two in neighbours(data, relation):
            same = (one.X == two.X) | (np.isnan(one.X) & np.isnan(two.X))
            assert (~same.all(axis=1)).sum() <= 1


@pytest.mark.parametrize("solver", ONE_OF_EACH, ids=lambda solver: solver.name)
def test_every_baseline_of_the_registry_holds(solver):
    line = check(solver, [BUDGET, Budget(1.0, 0.0)], n=1500)
    assert line.runs > 0 or solver.name == "TukeyEM"
    assert line.holds, line


def test_every_variant_spends_what_was_asked():
    for solver in OURS:
        line = check(solver, [Budget(2.0, 1e-6)], replayed=[], n=1500)
        assert line.spent <= 1.0 + 1e-6, (solver.name, solver.variant)


def test_variants_have_names_of_their_own():
    names = [(solver.name, solver.variant) for solver in solvers()]
    assert len(set(names)) == len(names)


def test_replay_uses_the_same_facts():
    data = Small("mean").draw(501)
    for pair in neighbours(data, "replace-one"):
        assert replay(ClippedMean(2.0), "mean", data, pair, BUDGET, 501).holds
