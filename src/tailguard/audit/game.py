"""The adversary's game: a coin chooses one of two neighbouring data sets, a whole fit is run on it, and is scored."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tailguard.audit.likelihood import distance, log_likelihood
from tailguard.audit.memory import Remembering
from tailguard.audit.neighbour import Neighbour
from tailguard.engines.base import Engine
from tailguard.engines.partition import Block
from tailguard.engines.selection import Selection
from tailguard.losses import Hinge, Logistic
from tailguard.losses.multinomial import Multinomial
from tailguard.mechanisms.base import IntVector, Randomness
from tailguard.plans.plan import Plan
from tailguard.plans.step import Step
from tailguard.privacy.events import Event
from tailguard.run.randomness import derived_seed, make_randomness
from tailguard.run.run import drive, in_units
from tailguard.solvers.base import Released
from tailguard.statistics.arrays import FloatVector
from tailguard.statistics.base import Statistic

__all__ = ["Pair", "play", "strongest_pair"]

FAR, FARTHER = 1e30, 1e60
"""A row beyond every level that a private histogram can find, and a target beyond every prediction for such a row."""

OPPOSITES = {
    "far out, with opposite targets": ((FAR, FARTHER), (FAR, -FARTHER)),
    "far out, on opposite sides": ((FAR, FARTHER), (-FAR, FARTHER)),
    "far out, on opposite sides and one target zero": ((FAR, FARTHER), (-FAR, 0.0)),
    "far out, or ordinary with the opposite target": ((FAR, FARTHER), (1.0, -FARTHER)),
    "far out, or zero": ((FAR, FARTHER), (0.0, 0.0)),
}
"""What one record is on the two data sets: all its features, and its target, which is 1 or 0 for classes."""

Judge: TypeAlias = Callable[[Step, Statistic, Selection, Selection, IntVector], float]

_COINS, _NOISE, _TRIAL = range(3)


@dataclass(frozen=True)
class Pair:
    """Two data sets that differ in one record, and how."""

    name: str
    first: Engine
    second: Engine


def play(
    plan: Plan, pair: Pair, runs: int, seed: int, advance: Callable[[int], None]
) -> tuple[NDArray[np.bool_], FloatVector]:
    """Return for every run whether it was on the first data set, and how much speaks for that.

    Parameters
    ----------
    plan : Plan
        What is carried out.
    pair : Pair
        The data sets.
    runs, seed : int
        Number of runs; seed of coins and noise. It is a simulation.
    advance : callable
        Is told of every run.

    Returns
    -------
    boolean vector, float64 vector
        The coins, and log-likelihood ratios of all that was released, first data set against second.
    """
    coins = make_randomness(derived_seed(seed, _COINS)).uniform(runs) < 0.5
    randomness, scores = make_randomness(derived_seed(seed, _NOISE)), np.empty(runs)
    for number, first in enumerate(coins):
        scores[number] = _carry_out(plan, pair, bool(first), randomness, _log_ratio)
        advance(1)
    return coins, scores


def strongest_pair(plan: Plan, engine: Engine, row: int, seed: int) -> Pair:
    """Return the two records in the place of a row that are farthest apart for the plan's statistics.

    One run for each of `OPPOSITES`, with noise of its own: the game that follows is independent of the choice.
    """
    data, randomness = Remembering(engine), make_randomness(derived_seed(seed, _TRIAL))
    classes = isinstance(plan.problem.loss, Logistic | Hinge | Multinomial)

    def placed(x: float, y: float) -> Engine:
        return Remembering(Neighbour(data, row, x, float(y > 0.0) if classes else y))

    # Without targets some of them are the same; the first of these gives its name.
    different = {
        (one, other) if engine.has_target else (one[0], other[0]): Pair(name, placed(*one), placed(*other))
        for name, (one, other) in reversed(OPPOSITES.items())
    }
    return max(different.values(), key=lambda pair: _carry_out(plan, pair, True, randomness, _squared_distance))


def _carry_out(plan: Plan, pair: Pair, first: bool, randomness: Randomness, judge: Judge) -> float:
    """Carry out the plan on one of the data sets, and add up what is made of every release."""
    total = 0.0

    def answer(step: Step, statistic: Statistic, block: Block) -> tuple[Released, Event]:
        nonlocal total
        one, other = Selection(pair.first, block), Selection(pair.second, block)
        sensitivity = statistic.sensitivity(step.mechanism.norm)
        source = one if first else other
        value, event = step.mechanism.perform(statistic, source, sensitivity, step.multiplier, randomness)
        total += judge(step, statistic, one, other, value)
        return in_units(step, statistic, value), event

    _, _, ledger = drive(plan, answer)
    ledger.check(plan)
    return total


def _log_ratio(step: Step, statistic: Statistic, one: Selection, other: Selection, released: IntVector) -> float:
    return log_likelihood(step, statistic, one, released) - log_likelihood(step, statistic, other, released)


def _squared_distance(step: Step, statistic: Statistic, one: Selection, other: Selection, _: IntVector) -> float:
    """Return the squared distance of the exact values in units of the noise: for Gaussian noise, of μ."""
    change = statistic.evaluate(one).astype(np.float64) - statistic.evaluate(other)
    return (distance(change, step.mechanism.norm) / (step.multiplier * step.sensitivity)) ** 2
