"""Minimisers by Algorithm 3: near the true ones of the printed extension, and no more sensitive than declared."""

import dataclasses
import pickle

import numpy as np
import pytest

from tailguard import engines
from tailguard.domains import L2Ball, WholeSpace
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.errors import BudgetError, LedgerError, ParameterError
from tailguard.losses import Absolute, Squared
from tailguard.mechanisms import L2Laplace
from tailguard.plans import Moment, Problem, Step, verify
from tailguard.privacy import Privacy
from tailguard.recipes import double_output_perturbation
from tailguard.run import run
from tailguard.run.randomness import Simulation
from tailguard.run.run import _check
from tailguard.statistics import statistic_type
from tests.support import neighbours
from tests.support.registry_joint import JOINT, SIZE

ALL = pytest.mark.parametrize("statistic", JOINT, ids=lambda s: f"{s.loss.name}, {s.dimension}, {s.ball}")


def value(statistic, X, y):
    return statistic.evaluate(Selection(engines.open(X, y), WHOLE))


def records(statistic, size, seed):
    rng = np.random.default_rng(seed)
    X, y = neighbours.records(statistic.view, (1.0, 0.5), size, rng)
    labels = np.where(rng.random(size) < 0.8, rng.integers(0, 2, size), y)
    return X, labels


@ALL
def test_no_replacement_exceeds_the_sensitivity(statistic):
    X, y = records(statistic, SIZE, 0)
    before = value(statistic, X, y)
    assert before.dtype == np.int64
    for other, target in zip(*records(statistic, 6, 1), strict=True):
        after_X, after_y = X.copy(), y.copy()
        after_X[0], after_y[0] = other, target
        change = value(statistic, after_X, after_y) - before
        assert neighbours.within(change, "l2", statistic.sensitivity("l2"))


@pytest.mark.parametrize("statistic", [s for s in JOINT if s.dimension == 1], ids=lambda s: f"{s.loss.name}, {s.ball}")
def test_the_minimiser_of_the_printed_extension(statistic):
    """f_C by brute force over y in W, the objective over W_0, rows cut to their bound."""
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((SIZE, 1)) * 2.0, rng.integers(0, 2, SIZE).astype(float)
    w = np.linspace(-1.0, 1.0, 1001)
    cut = np.clip(X[:, 0], -1.5, 1.5)
    f = np.stack([statistic.loss.value(x * w, t) for x, t in zip(cut, y, strict=True)])
    extended = np.min(f[:, None, :] + statistic.clip * np.abs(w[:, None] - w), axis=2)
    objective = extended.mean(axis=0) + 0.5 * statistic.ridge * (w - 0.1) ** 2
    inside = np.abs(w - statistic.ball[0][0]) <= statistic.ball[1] if statistic.ball else np.ones(w.size, bool)
    best = w[inside][np.argmin(objective[inside])]
    distance = statistic.accuracy * statistic.clip / (statistic.ridge * SIZE)
    assert abs(value(statistic, X, y)[0] * statistic.unit - best) <= distance + 0.002


@ALL
def test_a_plan_accepts_the_statistic_and_no_other(statistic):
    kind = statistic_type(statistic.kind)
    sensitivity = kind.sensitivity_of("l2", statistic.dimension, statistic.bits)
    assert kind is type(statistic)
    assert sensitivity == statistic.sensitivity("l2") >= 4.0 * 2**statistic.bits
    step = Step("solution", statistic.kind, statistic.dimension, 24, 1, sensitivity, L2Laplace(), 2.0)
    _check(statistic, step)
    with pytest.raises(LedgerError):
        _check(statistic, dataclasses.replace(step, dimension=statistic.dimension + 1))
    with pytest.raises(ParameterError, match="norm"):
        statistic.sensitivity("l1")
    again = pickle.loads(pickle.dumps(statistic))
    assert again.iterations == statistic.iterations <= 2_000_000


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"loss": Squared()}, "'loss'"),
        ({"domain": WholeSpace(1)}, "'domain'"),
        ({"domain": L2Ball(2, 1.0)}, "'domain'"),
        ({"accuracy": 1.5}, "'accuracy'"),
        ({"row_bound": 0.0}, "'row_bound'"),
        ({"clip": -1.0}, "'clip'"),
        ({"centre": [np.nan]}, "'point'"),
    ],
)
def test_wrong_parameters_are_refused(changes, match):
    with pytest.raises(ParameterError, match=match):
        dataclasses.replace(JOINT[0], **changes)


def test_another_number_of_records_is_refused():
    with pytest.raises(ParameterError, match="of 3 records was asked of 4"):
        value(JOINT[0], np.zeros((4, 1)), np.zeros(4))


# The reference recipe on it.


def tiny(n=8, **changes):
    facts = Problem(Absolute(0.2), L2Ball(1, 1.0), n, 1, moment=Moment(2.0, 1.0, "norm"))
    return double_output_perturbation.plan_with(facts, Privacy(1.0, 0.0), row_bound=1.0, **changes)


def test_the_printed_method_runs_on_tiny_problems():
    plan = tiny(phases=1, blocks=1, ridge=0.02)
    assert verify(plan).epsilon == pytest.approx(2 / 3, abs=1e-3)
    X = np.random.default_rng(0).standard_normal((8, 1))
    done = run(plan, engines.open(X, 0.5 * X[:, 0]), Simulation(0))
    assert [released.step for released in done.released] == ["localisation", "solution"]
    assert plan.problem.domain.contains(done.estimate.coefficients)


def test_what_cannot_finish_is_refused_with_its_number():
    """At the theorem's own numbers: 10⁶ to 10⁹ iterations for 4 records, 10¹¹ for n = 400, 10³⁷ for n = 20 000."""
    for n, number in ((8, r"\de\+0\d"), (400, r"\de\+1\d"), (20_000, r"\de\+3\d")):
        given = {"phases": 1, "blocks": 1} if n == 8 else {}
        with pytest.raises(BudgetError, match=rf"may take \d\.{number} iterations here, more than 2e\+06"):
            tiny(n, **given)


def test_losses_and_domains_without_a_proof_are_refused():
    class Borrowed(Absolute):
        pass

    class Mirror(L2Ball):
        pass

    for changes in ({"loss": Borrowed(smoothing=1.0)}, {"domain": Mirror(JOINT[0].dimension, 1.0)}):
        with pytest.raises(ParameterError, match="of tailguard"):
            dataclasses.replace(JOINT[0], **changes)
