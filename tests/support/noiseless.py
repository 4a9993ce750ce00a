"""Plans carried out without any noise: picks take the largest, peeling keeps the largest, sums are exact."""

import dataclasses

import numpy as np

from tailguard import engines
from tailguard.engines.selection import Selection
from tailguard.plans import Plan
from tailguard.run import drive
from tailguard.run.run import in_units


def without_noise(plan: Plan, X: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """Return the coefficients of a plan that is answered by exact sums over its blocks."""
    engine = engines.open(X) if y is None else engines.open(X, y)

    def answer(step, statistic, block):
        exact = statistic.evaluate(Selection(engine, block))
        kept = np.argsort(-np.abs(exact), kind="stable")[: getattr(step.mechanism, "count", exact.size)]
        if step.mechanism.selects:
            best = np.argsort(-exact, kind="stable")[: getattr(step.mechanism, "count", 1)]
            return in_units(step, statistic, best), step.release_event
        if hasattr(step.mechanism, "count"):
            exact = np.where(np.isin(np.arange(exact.size), kept), exact, 0)
        reply = in_units(step, statistic, exact)
        return dataclasses.replace(reply, noise=1e-9 * reply.noise), step.release_event

    return drive(plan, answer)[0].coefficients
