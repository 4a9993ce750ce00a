"""Solvers and their parts, told exact values: what they compute when there is (next to) no noise."""

import numpy as np

from tailguard import engines
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.solvers import Released
from tests.support.checks import schedule

QUIET = 1e-9
"""Noise that is declared, as a share of n; none is added."""


def told_exactly(asking, X, y=None, *, noise=QUIET, plan=None):
    """Drive a generator of queries with exact sums over the records; return its result and the queries.

    With a plan, the steps that pick are told the largest entries and steps have the blocks of the plan; without one
    nothing is picked and all records count.
    """
    engine = engines.open(np.asarray(X, dtype=np.float64), y)
    steps, queries = iter([] if plan is None else schedule(plan)), []

    def told(query):
        queries.append(query)
        step, block = next(steps, (None, WHOLE))
        return _reply(query, engine, noise, step, block)

    return answered(asking, told), queries


def answered(asking, told):
    """Drive a generator of queries with what `told` answers to each, and return its result."""
    try:
        query = next(asking)
        while True:
            query = asking.send(told(query))
    except StopIteration as stop:
        return stop.value


def _reply(query, engine, noise, step, block):
    if query.statistic is None:
        return Released(query.step, np.zeros(0), 0.0)
    exact = query.statistic.evaluate(Selection(engine, block))
    if step is not None and step.mechanism.selects:
        picked = np.argsort(-exact, kind="stable")[: getattr(step.mechanism, "count", 1)]
        return Released(query.step, picked.astype(np.float64), 0.0)
    return Released(query.step, exact * query.statistic.unit, noise * engine.n)
