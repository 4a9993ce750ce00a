"""Released values that a solver may be told: noise can be anything, so all of them are possible."""

import numpy as np

from tailguard.engines import Block
from tailguard.mechanisms.base import IntVector
from tailguard.plans import Plan, Step
from tailguard.run.run import drive, in_units
from tailguard.solvers import Estimate
from tailguard.statistics import Statistic

FAMILIES = ("zero", "one", "largest", "smallest", "ends", "noise", "loud", "spike", "everything", "nothing", "cauchy")


def integers(family: str, step: Step, n: int, rng: np.random.Generator) -> IntVector:
    """Return an integer vector of the family, as a mechanism might release it for this step."""
    if step.mechanism.selects:
        return _indices(family, step, rng)
    ends, shape, L = np.iinfo(np.int64), step.dimension, 2.0**step.bits
    scale = step.mechanism.noise(step.multiplier, step.sensitivity, step.dimension)
    floats = {
        "zero": lambda: np.zeros(shape),
        "one": lambda: np.ones(shape),
        "largest": lambda: np.full(shape, np.inf),
        "smallest": lambda: np.full(shape, -np.inf),
        "ends": lambda: rng.choice([-np.inf, np.inf], size=shape),
        "noise": lambda: rng.normal(0.0, scale, shape),
        "loud": lambda: rng.normal(0.0, 1e6 * scale, shape),
        "spike": lambda: np.where(np.arange(shape) == rng.integers(shape), n * L, 0.0),
        "everything": lambda: np.full(shape, n * L),
        "nothing": lambda: np.full(shape, -n * L),
        "cauchy": lambda: rng.standard_cauchy(shape) * 10.0 ** rng.uniform(-3.0, 18.0),
    }[family]()
    inner = np.nextafter(2.0**63, 0.0)
    whole = np.clip(np.rint(floats), -inner, inner).astype(np.int64)
    return np.where(np.isposinf(floats), ends.max, np.where(np.isneginf(floats), ends.min, whole))


def _indices(family: str, step: Step, rng: np.random.Generator) -> IntVector:
    """Return so many different indices as the mechanism picks: the first, the last or any."""
    count = getattr(step.mechanism, "count", 1)
    if family in ("zero", "smallest", "nothing"):
        return np.arange(count)
    if family in ("largest", "everything"):
        return step.dimension - 1 - np.arange(count)
    return rng.permutation(step.dimension)[:count]


def told(plan: Plan, family: str, seed: int) -> Estimate:
    """Drive the plan's solver with answers of one family, or of mixed ones, and return its estimate."""
    rng = np.random.default_rng(seed)

    def answer(step: Step, statistic: Statistic, block: Block):
        chosen = rng.choice(FAMILIES) if family == "mixed" else family
        return in_units(step, statistic, integers(chosen, step, plan.problem.n, rng)), step.release_event

    estimate, _, ledger = drive(plan, answer)
    ledger.check(plan)
    return estimate
