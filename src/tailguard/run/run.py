"""The trusted kernel: the only place where plan, records and randomness meet."""

from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import version
from typing import TypeAlias

import numpy as np

from tailguard.engines.base import Engine
from tailguard.engines.partition import Block
from tailguard.engines.selection import Selection
from tailguard.errors import DataError, LedgerError, ParameterError
from tailguard.ledger.session import Session
from tailguard.mechanisms.base import Randomness
from tailguard.mechanisms.l2_laplace import L2Laplace
from tailguard.mechanisms.laplace import Laplace
from tailguard.plans.plan import Plan
from tailguard.plans.release import Entry, Ledger, Receipt, Release
from tailguard.plans.step import Step
from tailguard.plans.verify import verify
from tailguard.plans.wording import inexact
from tailguard.privacy.events import Event
from tailguard.solvers.base import Estimate, Query, Released
from tailguard.statistics.base import Statistic, statistic_type

__all__ = ["Answer", "drive", "in_units", "run"]

Answer: TypeAlias = Callable[[Step, Statistic, Block], tuple[Released, Event]]


def run(plan: Plan, engine: Engine, randomness: Randomness, session: Session | None = None) -> Release:
    """Carry out a plan on records and return what may be published.

    Parameters
    ----------
    plan : Plan
        What to do. It is verified first.
    engine : Engine
        The records. Their number and width must be those of the plan; both are public.
    randomness : Randomness
        The only source of noise.
    session : Session or None, default=None
        The total budget that pays for the plan, before a record is read.

    Returns
    -------
    Release
        Estimate, released values and ledger.

    Notes
    -----
    *Guarantee.* Each query is checked against the plan's step before a record is touched; the noise is the plan's
    multiplier times the sensitivity that the statistic object declares; the ledger of what the mechanisms report
    must equal the plan, or nothing is returned.
    """
    guarantee = verify(plan)
    if (engine.n, engine.d) != (plan.problem.n, plan.problem.d):
        raise DataError(
            f"The plan is for {plan.problem.n} rows and {plan.problem.d} features, "
            f"the records have {engine.n} and {engine.d}."
        )
    receipt = None if session is None else _paid(session, plan, randomness)

    def answer(step: Step, statistic: Statistic, block: Block) -> tuple[Released, Event]:
        sensitivity = statistic.sensitivity(step.mechanism.norm)
        source = Selection(engine, block)
        value, event = step.mechanism.perform(statistic, source, sensitivity, step.multiplier, randomness)
        return in_units(step, statistic, value), event

    estimate, released, ledger = drive(plan, answer)
    ledger.check(plan)
    return Release(
        estimate=estimate,
        released=released,
        plan=plan,
        ledger=ledger,
        guarantee=guarantee,
        numerics=randomness.label + inexact(plan),
        private=randomness.private,
        versions=_versions(),
        receipt=receipt,
    )


def _paid(session: Session, plan: Plan, randomness: Randomness) -> Receipt:
    if not randomness.private:
        raise ParameterError(
            "Inside a session random_state must be None: no budget pays for noise that can be subtracted."
        )
    return session.charge(plan)


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    return tuple((name, version(name)) for name in ("tailguard", "opendp", "dp-accounting", "numpy"))


def drive(plan: Plan, answer: Answer) -> tuple[Estimate, tuple[Released, ...], Ledger]:
    """Let the plan's solver ask and be answered, step by step, and keep the ledger.

    `answer` decides how a checked query is answered: `run` releases it, an audit may replay it.
    """
    solve = plan.solver.solve()
    schedule = _schedule(plan)
    released: list[Released] = []
    entries: list[Entry] = []
    query = next(solve, None)
    while query is not None:
        step, block = next(schedule, (None, None))
        if step is None or block is None or query.step != step.name:
            raise LedgerError(f"The solver asked for {query.step!r} where the plan has {step and step.name!r}.")
        reply, entry = _reply(query, step, block, answer)
        released.append(reply)
        entries.append(entry)
        try:
            query = solve.send(reply)
        except StopIteration as stop:
            return stop.value, tuple(released), Ledger(tuple(entries))
    raise LedgerError("The solver asked nothing; nothing is returned.")


def _reply(query: Query, step: Step, block: Block, answer: Answer) -> tuple[Released, Entry]:
    if query.statistic is None:
        nothing = Released(step.name, np.zeros(step.dimension), 0.0)
        return nothing, Entry(step.name, block.index, step.release_event, skipped=True)
    _check(query.statistic, step)
    reply, event = answer(step, query.statistic, block)
    return reply, Entry(step.name, block.index, event)


def _schedule(plan: Plan) -> Iterator[tuple[Step, Block]]:
    for step in plan.steps:
        for repetition in range(step.count):
            yield step, Block(step.block(repetition), step.blocks, step.columns)


def _check(statistic: Statistic, step: Step) -> None:
    """Refuse a query that is not the planned one. Everything compared here is released or public."""
    # The class comes first: what only calls itself by the planned kind has no proof of its sensitivity.
    same = (
        type(statistic) is statistic_type(step.statistic)
        and (statistic.dimension, statistic.bits) == (step.dimension, step.bits)
        and statistic.sensitivity(step.mechanism.norm) == step.sensitivity
    )
    if not same:
        raise LedgerError(f"The query for step {step.name!r} is not the one that was planned.")
    if not (np.isfinite(statistic.unit) and statistic.unit > 0):
        raise LedgerError(f"The query for step {step.name!r} has no finite unit.")


def in_units(step: Step, statistic: Statistic, value: np.ndarray) -> Released:
    """Selections release indices and have no unit; sums are scaled back from the grid."""
    if step.mechanism.selects:
        return Released(step.name, value.astype(np.float64), 0.0)
    noise = step.mechanism.noise(step.multiplier, step.sensitivity, step.dimension)
    exponential = isinstance(step.mechanism, Laplace | L2Laplace)
    return Released(step.name, value * statistic.unit, noise * statistic.unit, exponential)
