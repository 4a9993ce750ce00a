"""Plan, run with a progress bar, print and write: what `fit` and `mean` do alike."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tailguard.cli.console import check_writable, json_text, note, progress, say, say_json, warn, write
from tailguard.cli.model_file import document, names_of
from tailguard.cli.sources import Source, read_to_the_end
from tailguard.engines.base import Chunk, Engine, Kernel, Records
from tailguard.engines.partition import WHOLE, Block
from tailguard.errors import BudgetError
from tailguard.estimators.base import PrivateEstimator
from tailguard.ledger import Session
from tailguard.ledger.session import now
from tailguard.mechanisms.base import Randomness
from tailguard.plans import Plan, Release, dumps
from tailguard.report import html, renderable
from tailguard.report.words import NOT_PRIVATE, labels
from tailguard.run import make_randomness, run
from tailguard.statistics.arrays import IntVector

__all__ = ["Job", "run_with_progress", "show_plan"]


@dataclass(frozen=True)
class Job:
    """What is fitted to what, and where the results go."""

    estimator: PrivateEstimator
    source: Source
    seed: int | None = None
    output: Path | None = None
    report: Path | None = None
    json: bool = False
    certificate: Path | None = None
    session: Path | None = None

    def show_plan(self) -> None:
        """Print the plan, and write its page where a report is asked for; only the size of the data is looked up."""
        check_writable(self.report)
        rows, names = self.source.header()
        plan = self.estimator.plan(rows, len(names), names=names)
        show_plan(plan, self.json, self.session, self.report, self.source.target)

    def carry_out(self) -> None:
        """Fit, print and write the results."""
        # A fit whose result is lost costs as much as any other.
        check_writable(self.output, self.report, self.certificate)
        randomness = make_randomness(self.seed)
        if not randomness.private:
            warn(NOT_PRIVATE)
        session = None if self.session is None else Session(self.session)
        engine = self.source.open(quiet=self.json)
        plan = self.estimator.plan(engine.n, engine.d, names=engine.names or ())
        release = run_with_progress(plan, engine, randomness, session=session, quiet=self.json)
        self._deliver(release, tuple(labels(engine.names, engine.d)))

    def _deliver(self, release: Release, names: tuple[str, ...]) -> None:
        target = self.source.target
        model = document(release, names, target, self.source.classes)
        if self.output is not None:
            write(self.output, json_text(model))
        if self.report is not None:
            write(self.report, html(release, names=names, target=target, classes=self.source.classes))
        if self.certificate is not None:
            called = names_of(model)
            write(self.certificate, json_text(release.certificate(issued=now(), names=called)))
        if self.json:
            say_json(model)
        else:
            say(renderable(release, names=names, classes=self.source.classes))


def show_plan(
    plan: Plan, json: bool, session: Path | None = None, report: Path | None = None, target: str | None = None
) -> None:
    """Print what would be done, and whether a session would pay for it; write it as a page if one is asked for."""
    if report is not None:
        write(report, html(plan, target=target))
    if json:
        sys.stdout.write(dumps(plan) + "\n")
    else:
        say(renderable(plan))
    if session is not None:
        refusal = Session(session).refusal(plan)
        if refusal is not None:
            raise BudgetError(refusal)
        note("The session would pay for it.")


def run_with_progress(
    plan: Plan,
    engine: Engine,
    randomness: Randomness,
    what: str = "Fitting",
    session: Session | None = None,
    quiet: bool = False,
) -> Release:
    """Carry out a plan; on a terminal, show how many of its releases are done."""
    total = sum(step.count for step in plan.steps)
    with progress(what, total, quiet) as advance, read_to_the_end():
        return run(plan, _Watched(engine, lambda: advance(1)), randomness, session)


class _Watched:
    """An engine that tells how often it was asked: a number that the plan has fixed."""

    def __init__(self, engine: Engine, advance: Callable[[], None]) -> None:
        self._engine, self._advance = engine, advance
        self.n, self.d, self.has_target, self.names = engine.n, engine.d, engine.has_target, engine.names

    def map_sum(self, kernel: Kernel, block: Block = WHOLE) -> IntVector:
        """Return the sum of a kernel over the chunks of a block."""
        result = self._engine.map_sum(kernel, block)
        self._advance()
        return result

    def gather(self, block: Block = WHOLE) -> Records:
        """Return the records of a block in row order."""
        return self._engine.gather(block)

    def chunks(self) -> Iterator[Chunk]:
        """Yield all records in row order."""
        return self._engine.chunks()
