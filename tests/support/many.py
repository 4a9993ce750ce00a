"""What the recipes for many columns are tried on: targets with heaps, hostile data, neighbours and transcripts."""

import json
import pickle
import subprocess
import sys

import numpy as np

from tailguard import engines
from tailguard.losses import Logistic
from tailguard.plans import Plan, digest, dumps, loads, verify
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tailguard.statistics import View
from tests.support import checks, neighbours
from tests.support.transcripts import FAMILIES, told


def zero_inflated(signal, rng):
    """Half of the targets are 0."""
    return np.maximum(signal + 0.3 * rng.normal(size=signal.size), 0.0)


def mostly_zero(signal, rng):
    """Three quarters are."""
    return np.maximum(signal - np.quantile(signal, 0.75) + 0.1 * rng.normal(size=signal.size), 0.0)


def two_values(signal, rng):
    """A balanced indicator: every number between the two is a median."""
    return (signal + 0.3 * rng.normal(size=signal.size) > 0.0).astype(float)


def whole_numbers(signal, rng):
    """A third of them equal a median that no power of two is near."""
    return np.rint(signal + 0.3 * rng.normal(size=signal.size)) + 3.0


def partly_missing(signal, rng):
    """A fifth is missing, and the noise is skewed."""
    y = signal + rng.lognormal(0.0, 0.5, size=signal.size)
    return np.where(rng.random(signal.size) < 0.2, np.nan, y)


HEAPED = (zero_inflated, mostly_zero, two_values, whole_numbers, partly_missing)


def records(plan: Plan, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return heavy-tailed records of a plan's size, on different scales."""
    rng, n, d = np.random.default_rng(seed), plan.problem.n, plan.problem.d
    X = rng.standard_t(3, size=(n, d)) * 10.0 ** (np.arange(d) % 5) + 1.0
    y = X[:, 0] + rng.standard_t(3, size=n)
    return X, (y > 1.0).astype(float) if isinstance(plan.problem.loss, Logistic) else y


def hostile(plan: Plan) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return data sets that no recipe was made for."""
    (X, y), (n, d) = records(plan), (plan.problem.n, plan.problem.d)
    return {
        "missing": (np.full((n, d), np.nan), y),
        "a missing column": (np.where(np.arange(d) == 0, np.nan, X), y),
        "a missing target": (X, np.full(n, np.nan)),
        "a constant target": (X, np.full(n, 3.0)),
        "zeros": (np.zeros((n, d)), np.zeros(n)),
        "huge": (1e300 * X, 1e300 * y),
        "tiny": (1e-300 * X, 1e-300 * y),
        "infinite": (np.full((n, d), np.inf), np.full(n, -np.inf)),
        "anything": neighbours.records(View(d), (), n, np.random.default_rng(1)),
    }


def is_sane(estimate, plan: Plan) -> None:
    """Finite, and in the domain."""
    assert np.isfinite(estimate.coefficients).all()
    assert np.isfinite(estimate.intercept)
    assert estimate.coefficients.shape == (plan.problem.d,)
    assert plan.problem.domain.contains(estimate.coefficients, tolerance=1e-6)
    assert plan.problem.intercept or estimate.intercept == 0.0


def check_plan(plan: Plan) -> None:
    """A plan spends its budget to the last drop, and is the same in JSON and as a pickle."""
    assert 0.98 * plan.privacy.epsilon <= checks.check_cost(plan).epsilon
    again = loads(dumps(plan))
    assert again == plan == pickle.loads(pickle.dumps(plan))
    assert digest(again) == digest(plan)


def check_transcripts(plan: Plan) -> None:
    """Whatever is released, a sane estimate comes out."""
    for seed, family in enumerate([*FAMILIES, "mixed", "mixed", "cauchy"]):
        is_sane(told(plan, family, seed), plan)


def check_neighbours(plan: Plan) -> None:
    """On adversarial neighbours nothing moves too far, and nothing else is asked."""
    rng, base = np.random.default_rng(2), records(plan)
    others = []
    for x, t in zip(*neighbours.records(View(plan.problem.d), (), 3, rng), strict=True):
        changed = tuple(part.copy() for part in base)
        row = rng.integers(plan.problem.n)
        changed[0][row], changed[1][row] = x, t
        others.append(engines.open(*changed))
    checks.check_replays(plan, engines.open(*base), others)


def check_hostile(plan: Plan) -> None:
    """No data set raises, warns, or leads to an estimate that is not sane; its neighbours are told apart no better."""
    for X, y in hostile(plan).values():
        engine = engines.open(np.ascontiguousarray(X), y)
        is_sane(run(plan, engine, Simulation(0)).estimate, plan)
        other = X.copy()
        other[0] = 1.0
        checks.check_replay(plan, engine, engines.open(other, y))


def check_fresh_process(plans: list[Plan]) -> None:
    """A process that knows plans alone reads them, verifies them, and comes to the same costs."""
    program = (
        "import json, sys\n"
        "from tailguard.plans import loads, verify\n"
        "print(json.dumps([verify(loads(text)).epsilon for text in json.load(sys.stdin)]))\n"
    )
    texts = [dumps(plan) for plan in plans]
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(texts), capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.strip() == json.dumps([verify(plan).epsilon for plan in plans])
