"""Small plans whose solver asks exactly what a test wants it to ask."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tailguard.domains import WholeSpace
from tailguard.losses import SquaredDistance
from tailguard.mechanisms import Gaussian, Mechanism
from tailguard.plans import Plan, Problem, Step
from tailguard.privacy import Privacy
from tailguard.solvers import Estimate, Query, Solve, Solver
from tailguard.statistics import Below, Clipped, Columns, Rows, Statistic, View

N, D, BITS = 60, 2, 30


@dataclass(frozen=True)
class Scripted(Solver):
    """Asks the questions of a script, which may look at earlier answers, and returns the sum of the last one."""

    script: Callable[[list[Any]], Any] = field(compare=False)

    def solve(self) -> Solve:
        told: list[Any] = []
        for query in self.script(told):
            told.append((yield query))
        return Estimate(np.asarray(told[-1].value[:D] if told else np.zeros(D), dtype=np.float64))


def clipped(threshold: float = 1.0, *, d: int = D, bits: int = BITS) -> Clipped:
    return Clipped(Rows(View(d)), threshold, bits)


def below(*edges: float, bits: int = BITS) -> Below:
    return Below(Columns(View(D)), np.array(edges), bits)


def step(name: str, statistic: Statistic, mechanism: Mechanism | None = None, **changes: Any) -> Step:
    """Return the step that such a statistic is planned by."""
    mechanism = Gaussian() if mechanism is None else mechanism
    planned = Step(
        name=name,
        statistic=statistic.kind,
        dimension=statistic.dimension,
        bits=statistic.bits,
        parts=statistic.parts,
        sensitivity=statistic.sensitivity(mechanism.norm),
        mechanism=mechanism,
        multiplier=10.0,
    )
    return replace(planned, **changes)


def plan(steps: tuple[Step, ...], script: Callable[[list[Any]], Any], privacy: Privacy = Privacy(3.0, 1e-6)) -> Plan:  # noqa: B008
    """Return a plan around a scripted solver."""
    return Plan(
        recipe="toy",
        parameters="practical",
        problem=Problem(SquaredDistance(), WholeSpace(D), N, D),
        privacy=privacy,
        solver=Scripted(script),
        steps=steps,
    )


def usual(*, count: int = 2, blocks: int = 1) -> tuple[Step, ...]:
    """Return the steps "count" (once) and "sum" (`count` times)."""
    return step("count", below(0.0, 0.0)), step("sum", clipped(), count=count, blocks=blocks)


def obedient(told: list[Any], *, sums: int = 2) -> Any:
    """Ask what `usual` plans."""
    yield Query("count", below(0.5, -0.5))
    for _ in range(sums):
        yield Query("sum", clipped(2.0))


def records(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_t(3, size=(N, D))
