"""Replay: the same plan and the same released values on a neighbouring data set.

If one record is replaced and every answer is kept, each exact statistic may move by at most the sensitivity that it
declared, and the solver must ask exactly the same questions and come to the same estimate: it may know nothing but what
it was told. All of it is checked on real data, record by record.

Objective perturbation has no exact value to which noise is added. What moves by at most its sensitivity under any one
linear term is the minimiser, so a replay compares the minimisers without a term. That the density of the answer, the
Hessian's determinant included, grows by no more than e^ε is a matter of proof (mechanisms/objective_perturbation.md).
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailguard.audit.likelihood import distance
from tailguard.engines.base import Engine
from tailguard.engines.partition import Block
from tailguard.engines.selection import Selection
from tailguard.errors import BudgetError, DataError, LedgerError
from tailguard.estimators.base import PrivateEstimator
from tailguard.mechanisms.base import IntVector
from tailguard.plans.plan import Plan
from tailguard.plans.release import Ledger
from tailguard.plans.step import Step
from tailguard.privacy.events import Event
from tailguard.run.randomness import make_randomness
from tailguard.run.run import drive, in_units
from tailguard.solvers.base import Estimate, Released
from tailguard.statistics.base import Statistic

__all__ = ["Change", "Replay", "replay", "replay_each", "replay_plan"]


@dataclass(frozen=True)
class Change:
    """How far one exact statistic moved, as a share of its declared sensitivity; at most 1, or privacy is broken."""

    step: str
    ratio: float


@dataclass(frozen=True)
class Replay:
    """What a replay found.

    Attributes
    ----------
    changes : tuple of Change
        One for each release, in order.
    same_questions : bool
        Whether the solver asked the same questions on both data sets, down to the last bit of every edge, threshold and
        point; if not, control flow depends on exact data.
    same_estimate : bool
        Whether it then came to the same estimate; if not, it knows more than it was told.
    """

    changes: tuple[Change, ...]
    same_questions: bool
    same_estimate: bool

    @property
    def by_step(self) -> dict[str, float]:
        """Return the largest change ÷ sensitivity of each step."""
        worst: dict[str, float] = {}
        for change in self.changes:
            worst[change.step] = max(worst.get(change.step, 0.0), change.ratio)
        return worst

    @property
    def holds(self) -> bool:
        """Whether every change is within its declared sensitivity and nothing else depends on exact data."""
        return self.same_questions and self.same_estimate and all(change.ratio <= 1.0 for change in self.changes)


def replay(estimator: PrivateEstimator, data: tuple[Any, ...], neighbour: tuple[Any, ...], *, seed: int = 0) -> Replay:
    """Compare a fit on two data sets that differ in one record.

    Parameters
    ----------
    estimator : estimator of tailguard
        Its parameters give the plan; it is not changed.
    data, neighbour : tuple (X,) or (X, y)
        What would be passed to `fit`. Of the same size, different in one record.
    seed : int, default=0
        Seed of the simulated noise in the answers that both data sets share.

    Notes
    -----
    What is returned is computed from exact data: it is for those who may see them, and must not be published.

    Examples
    --------
    >>> import numpy as np, tailguard as tg
    >>> X = np.random.default_rng(0).standard_t(3, size=(5000, 2))
    >>> other = X.copy(); other[0] = [1e308, np.nan]
    >>> tg.audit.replay(tg.Mean(epsilon=1.0), (X,), (other,)).holds
    True
    """
    if estimator.session is not None:
        raise BudgetError("A replay is computed from exact data, and no session pays for that: leave session out.")
    first, second = (copy(estimator)._open(*records) for records in (data, neighbour))
    if (first.n, first.d) != (second.n, second.d):
        raise DataError("Neighbouring data sets must have the same number of rows and features.")
    return replay_plan(estimator.plan(first.n, first.d, names=first.names or ()), first, second, seed=seed)


def replay_plan(plan: Plan, data: Engine, neighbour: Engine, *, seed: int = 0) -> Replay:
    """Compare the statistics of a plan on two data sets that differ in one record; see `replay`."""
    return next(replay_each(plan, data, [neighbour], seed=seed))


def replay_each(plan: Plan, data: Engine, neighbours: Iterable[Engine], *, seed: int = 0) -> Iterator[Replay]:
    """Compare one data set with each of its neighbours: the plan is carried out on it once, not once for each."""
    randomness = make_randomness(seed)

    def fresh(asked: _Asked) -> tuple[Released, Event]:
        step, statistic = asked.step, asked.statistic
        sensitivity = statistic.sensitivity(step.mechanism.norm)
        value, event = step.mechanism.perform(statistic, asked.source, sensitivity, step.multiplier, randomness)
        return in_units(step, statistic, value), event

    first = _Trace(data)
    estimate, ledger = first.carry_out(plan, fresh)
    ledger.check(plan)
    for neighbour in neighbours:
        yield _compared(plan, first, estimate, ledger, neighbour)


def _compared(plan: Plan, first: "_Trace", estimate: Estimate, ledger: Ledger, neighbour: Engine) -> Replay:
    second = _Trace(neighbour)
    try:
        other, charged = second.carry_out(plan, first.answer_again)
    except (_Departed, LedgerError):
        return Replay(_changes(first, second), same_questions=False, same_estimate=False)
    same_estimate = _fingerprint(estimate) == _fingerprint(other)
    return Replay(_changes(first, second), same_questions=ledger == charged, same_estimate=same_estimate)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question that was put to the records of one data set, and the exact answer."""

    number: int
    step: Step
    statistic: Statistic
    source: Selection
    exact: IntVector

    @property
    def question(self) -> object:
        return self.step, self.source.block, _fingerprint(self.statistic)


class _Departed(Exception):  # noqa: N818
    """The solver asked something else although it was told the same."""


class _Trace:
    """Remembers what was asked of one data set, and what was answered."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.asked: list[_Asked] = []
        self.answers: list[tuple[Released, Event]] = []

    def carry_out(self, plan: Plan, reply: Callable[[_Asked], tuple[Released, Event]]) -> tuple[Estimate, Ledger]:
        """Drive the plan's solver with these replies; return its estimate and what was charged."""

        def answer(step: Step, statistic: Statistic, block: Block) -> tuple[Released, Event]:
            source = Selection(self._engine, block)
            asked = _Asked(len(self.asked), step, statistic, source, statistic.evaluate(source))
            self.answers.append(reply(asked))
            self.asked.append(asked)
            return self.answers[-1]

        estimate, _, ledger = drive(plan, answer)
        return estimate, ledger

    def answer_again(self, asked: _Asked) -> tuple[Released, Event]:
        """Return what was answered to the same question, or stop where another one is asked."""
        if asked.number >= len(self.asked) or asked.question != self.asked[asked.number].question:
            raise _Departed
        return self.answers[asked.number]


def _changes(first: _Trace, second: _Trace) -> tuple[Change, ...]:
    return tuple(
        Change(one.step.name, distance(other.exact - one.exact, one.step.mechanism.norm) / one.step.sensitivity)
        for one, other in zip(first.asked, second.asked, strict=False)
    )


def _fingerprint(value: Any) -> object:
    """Return all that a question consists of, as something that can be compared."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if dataclasses.is_dataclass(value):
        return type(value), tuple(_fingerprint(getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, list | tuple):
        return tuple(map(_fingerprint, value))
    return value
