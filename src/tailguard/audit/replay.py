"""Replay: the same plan and the same released values on a neighbouring data set.

If one record is replaced and every answer is kept, each exact statistic may move by at most the sensitivity that it
declared, and the solver must ask exactly the same questions. Both are checked on real data, record by record.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailguard.engines.base import Engine
from tailguard.engines.partition import Block
from tailguard.errors import DataError
from tailguard.estimators.base import PrivateEstimator
from tailguard.mechanisms.base import IntVector, Norm
from tailguard.plans.plan import Plan
from tailguard.plans.step import Step
from tailguard.privacy.events import Event
from tailguard.run.randomness import make_randomness
from tailguard.run.run import Answer, drive, in_units
from tailguard.solvers.base import Released
from tailguard.statistics.base import Statistic

__all__ = ["Change", "Replay", "replay", "replay_plan"]


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
        Whether the solver asked the same questions on both data sets; if not, control flow depends on exact data.
    """

    changes: tuple[Change, ...]
    same_questions: bool

    @property
    def by_step(self) -> dict[str, float]:
        """Return the largest change ÷ sensitivity of each step."""
        worst: dict[str, float] = {}
        for change in self.changes:
            worst[change.step] = max(worst.get(change.step, 0.0), change.ratio)
        return worst

    @property
    def holds(self) -> bool:
        """Whether every change is within its declared sensitivity and control flow is the same."""
        return self.same_questions and all(change.ratio <= 1.0 for change in self.changes)


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

    Examples
    --------
    >>> import numpy as np, tailguard as tg
    >>> X = np.random.default_rng(0).standard_t(3, size=(5000, 2))
    >>> other = X.copy(); other[0] = [1e308, np.nan]
    >>> tg.audit.replay(tg.Mean(epsilon=1.0), (X,), (other,)).holds
    True
    """
    engines = [estimator._open(*records) for records in (data, neighbour)]
    first, second = engines
    if (first.n, first.d) != (second.n, second.d):
        raise DataError("Neighbouring data sets must have the same number of rows and features.")
    return replay_plan(estimator.plan(first.n, first.d), first, second, seed=seed)


def replay_plan(plan: Plan, data: Engine, neighbour: Engine, *, seed: int = 0) -> Replay:
    """Compare the statistics of a plan on two data sets that differ in one record; see `replay`."""
    randomness = make_randomness(seed)
    first, second = _Trace(data), _Trace(neighbour)
    answers: list[tuple[Released, Event]] = []

    def fresh(step: Step, statistic: Statistic, block: Block) -> tuple[Released, Event]:
        exact = first.evaluate(step, statistic, block)
        value, event = step.mechanism.release(
            exact, statistic.sensitivity(step.mechanism.norm), step.multiplier, randomness
        )
        answers.append((in_units(step, statistic, value), event))
        return answers[-1]

    drive(plan, fresh)
    drive(plan, second.recorded(iter(answers)))
    changes = tuple(
        Change(one.step.name, _length(other.exact - one.exact, one.step.mechanism.norm) / one.step.sensitivity)
        for one, other in zip(first.seen, second.seen, strict=False)
    )
    same = [one.question for one in first.seen] == [other.question for other in second.seen]
    return Replay(changes, same)


@dataclass(frozen=True, eq=False)
class _Seen:
    step: Step
    question: tuple[object, ...]
    exact: IntVector


class _Trace:
    """Evaluates statistics on one data set and remembers what was asked and what came out."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.seen: list[_Seen] = []

    def evaluate(self, step: Step, statistic: Statistic, block: Block) -> IntVector:
        exact = self._engine.map_sum(statistic.kernel(), block)
        question = (step.name, block, statistic.kind, statistic.dimension, statistic.unit)
        self.seen.append(_Seen(step, question, exact))
        return exact

    def recorded(self, answers: Iterator[tuple[Released, Event]]) -> Answer:
        def answer(step: Step, statistic: Statistic, block: Block) -> tuple[Released, Event]:
            self.evaluate(step, statistic, block)
            return next(answers)

        return answer


def _length(change: IntVector, norm: Norm) -> float:
    order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
    return float(np.linalg.norm(change.astype(np.float64), order))
