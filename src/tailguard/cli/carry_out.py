"""Plan, run with a progress bar, print and write: what `fit` and `mean` do alike."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.progress import Progress

from tailguard.cli.console import check_writable, json_text, note, say, say_json, warn, write
from tailguard.cli.model_file import document
from tailguard.cli.sources import Source
from tailguard.engines.base import Engine, Kernel, Records
from tailguard.engines.partition import WHOLE, Block
from tailguard.errors import DataError
from tailguard.estimators.base import PrivateEstimator
from tailguard.ledger import Session
from tailguard.ledger.session import now
from tailguard.mechanisms.base import Randomness
from tailguard.plans import Plan, Release, dumps
from tailguard.report import html, renderable
from tailguard.report.words import NOT_PRIVATE, labels
from tailguard.run import make_randomness, run
from tailguard.statistics.arrays import IntVector

__all__ = ["Job", "run_with_progress"]


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
        """Print the plan; only the size of the data is looked up."""
        plan = self.estimator.plan(*self.source.size())
        if self.json:
            sys.stdout.write(dumps(plan) + "\n")
        else:
            say(renderable(plan))
        if self.session is not None:
            refusal = Session(self.session).refusal(plan)
            note(refusal or "The session would pay for it.")

    def carry_out(self) -> None:
        """Fit, print and write the results."""
        # A fit whose result is lost costs as much as any other.
        check_writable(self.output, self.report, self.certificate)
        randomness = make_randomness(self.seed)
        if not randomness.private:
            warn(NOT_PRIVATE)
        session = None if self.session is None else Session(self.session)
        engine = self.source.open()
        release = run_with_progress(self.estimator.plan(engine.n, engine.d), engine, randomness, session=session)
        self._deliver(release, tuple(labels(engine.names, engine.d)))

    def _deliver(self, release: Release, names: tuple[str, ...]) -> None:
        target = self.source.target
        model = document(release, names, target, self.source.classes)
        if self.output is not None:
            write(self.output, json_text(model))
        if self.report is not None:
            write(self.report, html(release, names=names, target=target, classes=self.source.classes))
        if self.certificate is not None:
            write(self.certificate, json_text(release.certificate(issued=now())))
        if self.json:
            say_json(model)
        else:
            say(renderable(release, names=names, classes=self.source.classes))


def run_with_progress(
    plan: Plan, engine: Engine, randomness: Randomness, what: str = "Fitting", session: Session | None = None
) -> Release:
    """Carry out a plan; on a terminal, show how many of its releases are done."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(what, total=sum(step.count for step in plan.steps))
        try:
            return run(plan, _Watched(engine, lambda: progress.advance(bar)), randomness, session)
        except (pa.ArrowException, OSError):
            raise DataError("The data file cannot be read to its end.") from None


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
