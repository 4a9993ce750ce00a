"""Solvers that pick, told the best entries, or entries with the noise of a pick."""

import numpy as np

from tailguard import engines
from tailguard.engines import WHOLE
from tailguard.engines.selection import Selection
from tailguard.solvers import Released
from tests.support.exactly import answered

PICKED = (
    *("target centre", "target scale", "feature centre", "feature scale", "common scale", "row length", "choice"),
    "residual level",
)


def exactly(asking, X, y, picked=PICKED):
    """Drive a generator with exact answers; steps that pick are told the best entry."""
    source, steps = Selection(engines.open(X, y), WHOLE), []

    def told(query):
        steps.append(query.step)
        exact = query.statistic.evaluate(source)
        if query.step in picked:
            return Released(query.step, np.array([float(np.argmax(exact))]), 0.0)
        return Released(query.step, exact * query.statistic.unit, 1e-9 * len(X))

    return answered(asking, told), steps


def noisily(asking, X, y, total, rng):
    """The same with picks by the exponential mechanism, each of so many n·ε."""
    source, steps = Selection(engines.open(X, y), WHOLE), []

    def told(query):
        steps.append(query.step)
        scores = query.statistic.evaluate(source) * query.statistic.unit
        noisy = 0.5 * total.get(query.step, 0.0) / len(X) * scores + rng.gumbel(size=scores.size)
        return Released(query.step, np.array([float(np.argmax(noisy))]), 0.0)

    return answered(asking, told), steps
