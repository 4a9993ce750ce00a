"""The runner: parallel over tasks and seeds, resumable, the same numbers from the same seeds.

Every process takes a task and a seed, draws the records once and fits every missing cell on them; finished cells are
appended to `cells.jsonl` at once. Records, noise and splits depend on the seed alone, never on the order of the work.
"""

import multiprocessing
import os
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from functools import cache

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.cell import row
from benchmarks.objective import Solver
from benchmarks.plan import Unit
from benchmarks.solvers import solvers
from benchmarks.store import Store

__all__ = ["missing", "run"]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def missing(units: Sequence[Unit], store: Store) -> list[Unit]:
    """Return the units with the cells that have not been run yet."""
    done = store.done()
    left = (
        replace(unit, cells=tuple(cell for cell, key in zip(unit.cells, unit.names(), strict=True) if key not in done))
        for unit in units
    )
    return [unit for unit in left if unit.cells]


def run(units: Sequence[Unit], store: Store, jobs: int, limit: float, console: Console) -> None:
    """Run the units in `jobs` processes, with one BLAS thread each."""
    for name in THREADS:
        os.environ[name] = "1"
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(jobs, mp_context=context, initializer=_follow, initargs=(os.getpid(),)) as pool,
        _bar(console) as bar,
    ):
        job = bar.add_task("cells", total=sum(len(unit.cells) for unit in units))
        waiting: dict[Future[None], Unit] = {}
        rest = iter(units)
        before = store.count()
        while _submit(pool, rest, waiting, store, limit, jobs):
            done, _ = wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
            for future in done:
                waiting.pop(future)
                future.result()
            bar.update(job, completed=store.count() - before)
            _say(console, bar)


def _submit(
    pool: ProcessPoolExecutor,
    rest: Iterator[Unit],
    waiting: dict[Future[None], Unit],
    store: Store,
    limit: float,
    jobs: int,
) -> bool:
    """Keep every process and one more unit busy; return whether anything is left."""
    while len(waiting) <= jobs:
        unit = next(rest, None)
        if unit is None:
            break
        waiting[pool.submit(_work, unit, store, limit)] = unit
    return bool(waiting)


def _bar(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console)


def _say(console: Console, bar: Progress, every: float = 60.0) -> None:
    """Say once a minute how far it is, where no terminal can show a bar."""
    task = bar.tasks[0]
    now = time.monotonic()
    if console.is_terminal or now - task.fields.get("said", -every) < every:
        return
    task.fields["said"] = now
    console.print(f"{task.completed:.0f} of {task.total:.0f} cells after {task.elapsed:.0f} s")


def _follow(parent: int) -> None:
    """End this process when its parent has been killed; it would wait for work for ever."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@cache
def _solvers() -> dict[str, Solver]:
    return {solver.key: solver for solver in solvers()}


def _work(unit: Unit, store: Store, limit: float) -> None:
    """Run the cells of a unit and append their rows."""
    drawn = unit.dataset.draw(unit.seed)
    for key, budget in unit.cells:
        store.append(row(unit.dataset, _solvers()[key], budget, unit.seed, drawn, limit))
