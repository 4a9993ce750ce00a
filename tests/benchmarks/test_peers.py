"""The peers' machinery without any peer: messages, time limits, reasons, pins, and what a peer really spends."""

import io
import math
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

from benchmarks.objective import Budget
from benchmarks.peers import PEERS, Environment, PeerError, PeerTimeoutError
from benchmarks.peers import accounting as spent
from benchmarks.peers.__main__ import main
from benchmarks.peers.client import Worker
from benchmarks.peers.environments import environment
from benchmarks.peers.workers import wire
from benchmarks.solvers import diffprivlib, jax_privacy, opacus, opendp
from benchmarks.solvers.peer import Oracle, PeerSolver, quantile_bounds, scales

FAKE = """
import os, sys, time, warnings
sys.path.insert(0, {wire!r})
from wire import serve

def fit(request, arrays):
    print("a library that talks to standard output")
    if request["do"] == "raise":
        raise ValueError("no such fit")
    if request["do"] == "die":
        os._exit(3)
    if request["do"] == "sleep":
        time.sleep(60)
    warnings.warn("privacy leaks")
    b"x" * (60 * 2**20 + request["number"])
    return {{"doubled": 2 * request["number"]}}, {{"rows": arrays["rows"] * 2.0}}

serve(fit, {{"fake": "1.0"}})
"""


@pytest.fixture
def worker(tmp_path):
    script = tmp_path / "fit_fake.py"
    script.write_text(FAKE.format(wire=str(Path(wire.__file__).parent)))
    found = Worker(Path(sys.executable), script, start_seconds=30.0)
    yield found
    found.close()


def ask(worker, do, timeout=30.0):
    return worker.call({"do": do, "number": 21}, {"rows": np.arange(6.0).reshape(2, 3)}, timeout)


# messages


def test_a_message_survives_the_pipe():
    arrays = {
        "a": np.arange(6.0).reshape(2, 3),
        "none": np.zeros((0, 4)),
        "whole": np.array([[1], [2]], dtype=np.int32),
    }
    stream = io.BytesIO()
    wire.send(stream, {"name": "ε", "number": 0.1}, {**arrays, "turned": arrays["a"].T})
    stream.seek(0)
    header, found = wire.receive(stream)
    assert header == {"name": "ε", "number": 0.1}
    assert np.array_equal(found["turned"], arrays["a"].T)
    assert all(
        np.array_equal(found[name], array) and found[name].dtype == array.dtype for name, array in arrays.items()
    )
    with pytest.raises(wire.Closed):
        wire.receive(stream)


def test_a_worker_answers_again_and_again(worker):
    assert worker.versions == {"fake": "1.0"}
    for _ in range(3):
        reply, results = ask(worker, "double")
        assert reply["doubled"] == 42
        assert np.array_equal(results["rows"], 2.0 * np.arange(6.0).reshape(2, 3))
        assert 0.0 <= reply["seconds"] < 10.0
        assert reply["peak_mb"] > 50.0 or not Path("/proc/self/clear_refs").exists()
        assert reply["warnings"] == ["UserWarning: privacy leaks"]


def test_a_mistake_is_an_answer(worker):
    with pytest.raises(PeerError, match="ValueError: no such fit"):
        ask(worker, "raise")
    assert ask(worker, "double")[0]["doubled"] == 42


def test_a_fit_that_takes_too_long_ends_its_process(worker):
    begun = time.monotonic()
    with pytest.raises(PeerTimeoutError, match=r"more than 0\.2 s"):
        ask(worker, "sleep", 0.2)
    assert not worker.alive
    assert time.monotonic() - begun < 20.0
    with pytest.raises(PeerError):
        ask(worker, "double")


def test_a_process_that_ends_is_an_error(worker):
    with pytest.raises(PeerError, match="ended without an answer"):
        ask(worker, "die")
    assert not worker.alive


def test_an_interrupted_wait_leaves_no_answer_behind(worker, monkeypatch):
    def interrupted(timeout):
        raise KeyboardInterrupt

    monkeypatch.setattr(worker, "_receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask(worker, "double")
    assert not worker.alive


# environments


@pytest.fixture
def home(tmp_path):
    (tmp_path / "fake.txt").write_text("fake==1.0\n")
    return Environment("fake", tmp_path / "peers", tmp_path)


def test_an_environment_is_made_once(home):
    commands = []

    def command(arguments):
        commands.append(arguments)
        home.python.parent.mkdir(parents=True, exist_ok=True)
        home.python.touch()

    assert home.missing() == "no environment: run `make bench-peers`"
    assert home.make(command) is None
    assert len(commands) == 2
    assert str(home.requirements) in commands[1]
    assert home.make(command) is None
    assert len(commands) == 2
    home.requirements.write_text("fake==1.1\n")
    assert home.missing() is not None
    assert home.make(command) is None
    assert len(commands) == 4


def test_a_peer_that_cannot_be_installed_says_why_in_one_line(home):
    def command(arguments):
        complaint = "WARNING: slow\nERROR: No matching distribution found for fake==1.0\nmore\n"
        raise subprocess.CalledProcessError(1, arguments, stderr=complaint)

    reason = home.make(command)
    assert reason == "cannot be installed: ERROR: No matching distribution found for fake==1.0"
    assert home.missing() == reason
    home.requirements.write_text("fake==1.1\n")
    assert home.missing() == "no environment: run `make bench-peers`"


def test_unknown_peers_are_refused(capsys):
    assert main(["nobody"]) == 2
    assert "nobody" in capsys.readouterr().out


@pytest.mark.parametrize("name", PEERS)
def test_requirements_are_pinned_and_a_worker_exists(name):
    home = environment(name)
    lines = [line for line in home.requirements.read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.]*", line) for line in lines), lines
    text = home.worker.read_text()
    assert "tailguard" not in text
    assert "benchmarks" not in text


def test_the_cpu_build_of_torch_is_pinned():
    assert "torch==2.13.0" in environment("opacus").requirements.read_text().splitlines()


# solvers

ALL = [solver for module in (opacus, jax_privacy, diffprivlib, opendp) for solver in module.make()]


@pytest.mark.parametrize("solver", ALL, ids=lambda solver: solver.key)
def test_every_row_says_what_it_was_told(solver):
    naive = "defaults" in solver.name or "no bounds" in solver.name
    assert (solver.knows == "nothing") == naive
    assert solver.relation == ("add-or-remove-one" if "own relation" in solver.name else "replace-one")
    assert 0.0 < solver.cost < 2.0
    assert solver.seeded == (solver.peer != "opendp")
    assert isinstance(solver, PeerSolver)


def test_a_missing_environment_is_a_reason(monkeypatch, home):
    monkeypatch.setattr("benchmarks.solvers.peer.environment", lambda name: home)
    assert {solver.available() for solver in ALL} == {"no environment: run `make bench-peers`"}


def test_scales_are_undone_exactly():
    rng = np.random.default_rng(500)
    X, y = rng.standard_normal((50, 3)) * [1.0, 1e3, 1e-3] + 7.0, rng.standard_normal(50) * 5.0 + 2.0
    columns, target = scales(X), scales(y)
    slopes, intercept = columns.undo(np.array([1.0, -2.0, 3.0]), 0.5, target)
    scaled = columns.rows(X) @ [1.0, -2.0, 3.0] + 0.5
    assert X @ slopes + intercept == pytest.approx(target.centre[0] + target.scale[0] * scaled)
    assert isinstance(scales(np.ones((5, 1))), Oracle)
    assert scales(np.ones((5, 1))).scale[0] == 1.0
    assert np.array_equal(quantile_bounds(np.ones((5, 1)), 1.0)[:, 0], [1.0, 2.0])


# accounting


@pytest.mark.parametrize("budget", [Budget(0.1, 1e-6), Budget(1.0, 1e-6), Budget(8.0, 1e-6)])
def test_full_batches_spend_what_is_asked(budget):
    multiplier = spent.full_batch_multiplier(budget.epsilon, budget.delta, 40)
    found = spent.noisy_gradients_epsilon(multiplier, 1.0, 40, budget.delta, "replace-one")
    assert found == pytest.approx(budget.epsilon, rel=1e-6)
    # The same noise, where a record is added or removed, moves each sum by half as much.
    easier = spent.noisy_gradients_epsilon(multiplier / 2.0, 1.0, 40, budget.delta, "add-or-remove-one")
    assert easier == pytest.approx(found, rel=1e-9)


def test_subsampled_gradients_lie_between_none_and_all():
    whole = spent.noisy_gradients_epsilon(10.0, 1.0, 80, 1e-6, "add-or-remove-one")
    part = spent.noisy_gradients_epsilon(10.0, 0.25, 80, 1e-6, "add-or-remove-one")
    assert 0.2 * whole < part < 0.5 * whole
    with pytest.raises(ValueError, match="add-or-remove"):
        spent.noisy_gradients_epsilon(10.0, 0.25, 80, 1e-6, "replace-one")


def test_one_subsampled_step_has_its_textbook_delta():
    rate, multiplier, epsilon = 0.25, 2.0, spent.noisy_gradients_epsilon(2.0, 0.25, 1, 1e-3, "add-or-remove-one")

    def density(x, centre):
        return math.exp(-0.5 * ((x - centre) / multiplier) ** 2) / (multiplier * math.sqrt(2.0 * math.pi))

    def beyond(x):
        mixture = (1.0 - rate) * density(x, 0.0) + rate * density(x, 1.0)
        return max(mixture - math.exp(epsilon) * density(x, 0.0), 0.0)

    assert quad(beyond, -40.0, 40.0, limit=400, points=[0.0, 5.0, 10.0])[0] == pytest.approx(1e-3, rel=1e-2)


def test_diffprivlib_overspends_with_an_intercept():
    d, bounds, target = 20, np.array([[-1.0] * 20, [1.0] * 20]), [-1.0, 1.0]
    assert spent.functional_epsilon(1.0, bounds, target, intercept=False) == pytest.approx(1.0)
    assert spent.functional_epsilon(1.0, bounds, target, intercept=True) == pytest.approx((d + 2) / (d + 1))


def test_diffprivlib_protects_no_diagonal_above_a_lower_bound_of_zero():
    assert spent.functional_epsilon(1.0, [[0.0], [10.0]], [0.0, 10.0], intercept=False) == math.inf
    wide = spent.functional_epsilon(1.0, [[-1.0], [10.0]], [-1.0, 1.0], intercept=False)
    assert wide == pytest.approx((1.0 + 1.0 + 100.0) / 3.0)


def _realised(epsilon, norm, ridge):
    """Return the largest |log ratio| of densities of diffprivlib's noise that explain one minimiser, d = 1.

    All other records are 0; the last one is (norm, 1) or (0, 1), no intercept. The noise that makes w the minimiser is
    b = −(gradient of the rest), so the density of w is that of b times |db/dw|.
    """
    linear, added = spent.chaudhuri_noise(epsilon, norm, ridge)
    w = np.linspace(-5.0, 5.0, 20_001)
    strength = ridge + added
    b_one, b_two = -(expit(norm * w) - 1.0) * norm - strength * w, -strength * w
    slope = strength + norm**2 * expit(norm * w) * expit(-norm * w)
    logs = -linear / (2.0 * norm) * (np.abs(b_one) - np.abs(b_two)) + np.log(slope / strength)
    return float(np.abs(logs).max())


@pytest.mark.parametrize("norm", [0.5, 1.0, 5.0, 30.0])
def test_objective_perturbation_is_bounded_by_what_we_say_it_spends(norm):
    for epsilon in (0.1, 1.0, 8.0):
        found = spent.objective_perturbation_epsilon(epsilon, norm, 1.0, intercept=False)
        assert _realised(epsilon, norm, 1.0) <= found
        if norm <= 1.0:
            assert found <= epsilon


def test_diffprivlib_really_breaks_its_promise_for_rows_longer_than_one():
    assert _realised(1.0, 30.0, 1.0) > 2.0
    assert spent.objective_perturbation_epsilon(1.0, 30.0, 1.0, intercept=False) < 3.0
    # With an intercept that nothing regularises there is no guarantee at all.
    assert spent.objective_perturbation_epsilon(8.0, 0.5, 1.0, intercept=True) == math.inf
    assert 1.0 < spent.objective_perturbation_epsilon(1.0, 30.0, 1.0, intercept=True) < 3.0


def test_bounded_means_spend_what_is_asked():
    widths, n, d = np.array([1.0, 10.0, 1e-3]), 1000, 3
    assert spent.laplace_means_epsilon(widths, n, widths * d / (n * 0.5)) == pytest.approx(0.5)
    scales_of = widths / n * math.sqrt(d) * 4.0
    assert spent.gaussian_means_epsilon(widths, n, scales_of, 1e-6) == pytest.approx(
        spent.noisy_gradients_epsilon(4.0, 1.0, 1, 1e-6, "add-or-remove-one"), rel=1e-6
    )
    assert spent.theil_sen_epsilon(4.0) == 1.0


def test_adding_a_record_to_opendps_line_changes_three_predictions():
    """The matching of an even number of rows and that of one row less differ by at least three pairs, not one."""
    rows = list(range(6))

    def matchings(left):
        if not left:
            yield frozenset()
            return
        for other in left[1:]:
            rest = [row for row in left[1:] if row != other]
            yield from (found | {(left[0], other)} for found in matchings(rest))

    less = rows[1:-1]  # record 0 removed; an odd last row is then dropped
    distances = [min(len(one ^ two) for two in matchings(less)) for one in matchings(rows)]
    assert sorted(set(distances)) == [1, 3]
    assert distances.count(1) / len(distances) == pytest.approx(1.0 / 5.0)
