"""Solvers and their parts, told exact values: what they compute when there is (next to) no noise."""

import numpy as np

from tailguard import engines
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.solvers import Released

QUIET = 1e-9
"""Noise that is declared, as a share of n; none is added."""


def told_exactly(asking, X, y=None, *, noise=QUIET):
    """Drive a generator of queries with exact sums over the records; return its result and the queries."""
    engine = engines.open(np.asarray(X, dtype=np.float64), y)
    queries = []
    try:
        query = next(asking)
        while True:
            queries.append(query)
            query = asking.send(_reply(query, engine, noise))
    except StopIteration as stop:
        return stop.value, queries


def _reply(query, engine, noise):
    if query.statistic is None:
        return Released(query.step, np.zeros(0), 0.0)
    value = query.statistic.evaluate(Selection(engine, WHOLE)) * query.statistic.unit
    return Released(query.step, value, noise * engine.n)
