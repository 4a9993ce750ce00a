"""The questions and answers of a fit, and what its last gradients say."""

from collections.abc import Generator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from tailguard.solvers.base import FloatVector, Query, Released
from tailguard.solvers.matrices import TINY
from tailguard.statistics.base import Statistic
from tailguard.statistics.clipped import Clipped
from tailguard.statistics.either import Either
from tailguard.statistics.fields import Gradient
from tailguard.statistics.slopes import Leveraged, Slopes
from tailguard.statistics.weighted import Weighted

__all__ = ["Log", "gradient_of", "last_steps", "middle", "recorded"]

LAST = 0.75
"""Part of the steps after which gradients count: earlier ones were taken too far from the answer to be linear there."""

Log = list[tuple[Query, Released]]
T = TypeVar("T")


def recorded(solve: Generator[Query, Released, T], log: Log) -> Generator[Query, Released, T]:
    """Pass questions and answers through, and keep them."""
    query = next(solve)
    while True:
        reply = yield query
        log.append(_plain(query, reply))
        try:
            query = solve.send(reply)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]


def _plain(query: Query, reply: Released) -> tuple[Query, Released]:
    """Return a question and its answer without what follows in an `Either`: in the answer, noise and nothing else."""
    asked = query.statistic
    if not isinstance(asked, Either):
        return query, reply
    return Query(query.step, asked.content), replace(reply, value=reply.value[: asked.content.dimension])


def last_steps(log: Log) -> Log:
    """Return the gradients that count: on all columns, whatever the plan calls them."""
    steps = [(query, reply) for query, reply in log if query.step == "gradient"]
    last = steps[-1][0].statistic
    if isinstance(last, Weighted):
        steps = [pair for pair in log if _whole(pair[0].statistic, gradient_of(last))]
    return steps[int(LAST * len(steps)) :]


def _whole(statistic: Statistic | None, last: Gradient) -> bool:
    """Return whether a statistic is a gradient on the same columns as the last one."""
    field = statistic.field if isinstance(statistic, Weighted) else None
    return isinstance(field, Gradient) and field.view is last.view


def gradient_of(statistic: Statistic | None) -> Gradient:
    """Return the gradient inside a step's statistic."""
    field = statistic.field if isinstance(statistic, Clipped | Weighted) else None
    field = field.field if isinstance(field, Leveraged | Slopes) else field
    assert isinstance(field, Gradient)
    return field


def middle(steps: Log) -> FloatVector:
    """Return the average point of some steps, weighted like their gradients."""
    weights = [max(reply.noise, TINY) ** -2 for _, reply in steps]
    return np.asarray(np.average([gradient_of(query.statistic).point for query, _ in steps], axis=0, weights=weights))
