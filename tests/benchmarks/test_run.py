"""The runner: the same seeds give the same numbers, a killed run continues, nothing goes missing."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks import cell, cost, plan
from benchmarks.datasets.linear import Linear
from benchmarks.objective import Budget, Dataset, Drawn, Fit, Refused, Solver
from benchmarks.solvers import Tailguard, solvers
from benchmarks.store import Store

ROOT = Path(__file__).resolve().parents[2]
BUDGET = Budget(1.0, 1e-6)
TASK = Linear("gaussian", 500, 2)


class Odd(Solver):
    """A solver that does what it is told."""

    name, tasks = "odd", ("linear",)

    def __init__(self, action):
        self.action = action

    def fit(self, task, data, budget, seed):
        assert data.truth is None
        return self.action(data)


def outcome(action, limit=5.0):
    return cell.row(TASK, Odd(action), BUDGET, 1, TASK.draw(1), limit)


def refuse(data):
    raise Refused("too little")


def fail(data):
    raise ValueError("no\nway")


def linger(data):
    while True:
        time.sleep(0.01)


def test_outcomes():
    good = outcome(lambda data: Fit(np.zeros(2), 100.0, (0.9, 1e-6)))
    assert (good["status"], good["spent_epsilon"]) == ("ok", 0.9)
    assert good["excess"] == pytest.approx(1.0)
    assert good["seconds"] > 0.0
    lost = outcome(lambda data: Fit(np.array([math.inf, 0.0])))
    assert (lost["status"], lost["excess"]) == ("diverged", cell.WORST)
    shy = outcome(refuse)
    assert shy["status"] == "refused"
    assert shy["excess"] == pytest.approx(1.0, abs=0.05)
    assert outcome(fail)["status"] == "skipped: ValueError: no"
    assert outcome(linger, limit=0.2)["status"] == "skipped: TimeoutError: more than 0.2 s"


def test_memory_of_a_fit_is_seen():
    def hungry(data):
        block = np.ones(10_000_000)
        return Fit(np.zeros(2), float(block[0]))

    row = outcome(hungry)
    assert math.isnan(row["peak_mb"]) or 60.0 < row["peak_mb"] < 200.0


def test_every_solver_says_what_it_is():
    found = solvers()
    assert len({solver.key for solver in found}) == len(found)
    for solver in found:
        assert solver.knows
        assert solver.relation in (("replace-one", "add-or-remove-one") if solver.private else ("",))
        assert "|" not in solver.name + solver.variant


def test_reporting_seeds_are_apart():
    found = plan.units(plan.FULL, plan.tasks(plan.FULL)[0], solvers())
    for unit in found:
        first = 84_000 if unit.dataset.held_out else 83_000
        assert first <= unit.seed < first + 100


@pytest.mark.parametrize(("level", "minutes"), [(plan.FAST, 10.0), (plan.FULL, 120.0)])
def test_two_idle_cores_are_enough(level, minutes):
    units = plan.units(level, plan.tasks(level)[0], solvers())
    assert cost.estimate(units) / 2.0 / 60.0 <= minutes


def test_fast_tasks_exist():
    names = {dataset.name for dataset in plan.tasks(plan.FULL)[0]}
    packaged = {name for name in plan.FAST_TASKS if "randhie" in name or "fair" in name}
    assert set(plan.FAST_TASKS) - packaged <= names


def test_a_cut_line_is_forgotten_and_swallows_nothing(tmp_path):
    store = Store(tmp_path)
    row = {"task": "a", "method": "m", "variant": "", "relation": "", "epsilon": 1.0, "delta": 0.0, "status": "ok"}
    store.append(row | {"seed": 1})
    with store.path.open("a") as file:
        file.write('{"task": "a", "meth')
    store.append(row | {"seed": 2})
    store.append(row | {"seed": 3, "status": "skipped: gone"})
    assert [key[-1] for key in store.rows()] == [1, 2, 3]
    assert sorted(key[-1] for key in store.done()) == [1, 2]


WORDS = ("--fast", "--tasks", "mean t3", "--methods", "tailguard", "non-private", "null", "--seeds", "6")


def start(out):
    command = [sys.executable, "-m", "benchmarks", *WORDS, "--out", str(out), "--jobs", "1"]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.Popen(
        command, cwd=out.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def cells(out):
    path = out / "cells.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def plain(row):
    """A row without what a clock decides."""
    return {name: value for name, value in row.items() if name not in ("seconds", "peak_mb")}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that was killed with at least three cells done, and then finished."""
    out = tmp_path_factory.mktemp("bench") / "killed"
    first = start(out)
    deadline = time.monotonic() + 300.0
    while len(cells(out)) < 3 and first.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    time.sleep(1.2)  # its processes notice within half a second
    before = cells(out)
    text, _ = start(out).communicate(timeout=300)
    return out, before, text


def test_a_killed_run_continues_where_it_was(finished):
    out, before, text = finished
    assert len(before) >= 3
    rows = cells(out)
    assert rows[: len(before)] == before
    names = [(row["task"], row["method"], row["epsilon"], row["delta"], row["seed"]) for row in rows]
    assert len(set(names)) == len(names)
    assert f"{len(rows)} cells, {len(rows) - len(before)} to run" in text
    assert "excess ÷ non-private, mean" in text


def test_the_same_seeds_give_the_same_numbers(finished):
    before = {json.dumps(plain(row)) for row in cells(finished[0])}
    task = next(task for task in plan.tasks(plan.FAST)[0] if task.name == "mean t3 n=10000 d=10")
    for seed in (83_000, 83_001):
        row = cell.row(task, Tailguard(), BUDGET, seed, task.draw(seed), 60.0)
        assert json.dumps(plain(row)) in before


def test_the_page_needs_nothing_from_anywhere(finished):
    page = (finished[0] / "index.html").read_text("utf-8")
    for word in ("http:", "https:", "src=", "href=", "@import", "url("):
        assert word not in page
    assert "prefers-color-scheme: dark" in page
    assert "recomputed ε ÷ asked ε" in page


def test_budgets_can_be_chosen():
    found = plan.units(plan.FULL, [TASK], solvers(), 1, [Budget(2.0, 1e-6)])
    assert {budget for unit in found for _, budget in unit.cells} == {Budget(2.0, 1e-6), plan.NO_BUDGET}


def test_patterns_choose():
    names = ["linear t3", "logistic t3", "mean"]
    assert plan.choose(names, []) == set(names)
    assert plan.choose(names, ["t3"]) == {"linear t3", "logistic t3"}
    assert plan.choose(names, ["lin*"]) == {"linear t3"}


def test_drawn_records_hide_the_truth():
    assert isinstance(TASK, Dataset)
    assert Drawn(np.ones((1, 1)), truth=3).records().truth is None
