"""From a figure to rows: repetitions in processes of their own, every seed derived from one."""

import multiprocessing
import os
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailguard.engines.numpy import NumpyEngine
from tailguard.errors import TailguardError
from tailguard.plans import Moment, Problem
from tailguard.privacy.budget import Privacy
from tailguard.reproduction.figures import Cell, Figure, Part
from tailguard.reproduction.methods import Case, Method, methods_of
from tailguard.reproduction.minimise import minimise
from tailguard.reproduction.readings import Readings
from tailguard.reproduction.results import FITTED, Row
from tailguard.reproduction.worlds import Source, World
from tailguard.run import data_generator, derived_seed, make_randomness, run
from tailguard.solvers.base import Estimate
from tailguard.statistics.arrays import FloatVector

__all__ = ["Job", "jobs", "measure", "processors"]

DELTA_POWER = -1.1
"""δ = n^−1.1, as in section 6.2."""


@dataclass(frozen=True)
class Job:
    """One repetition with one width and one sparsity: its records are drawn once, for all n and ε."""

    number: int
    algorithm: int
    label: str
    source: Source
    cells: tuple[Cell, ...]
    repetition: int
    seed: int
    readings: Readings

    @property
    def data_seed(self) -> int:
        """The seed of its records."""
        cell, label = self.cells[0], zlib.crc32(self.label.encode())
        return derived_seed(self.seed, self.number, label, cell.d, cell.sparsity, self.repetition)


def jobs(figure: Figure, parts: Sequence[Part], repetitions: int, seed: int, readings: Readings) -> list[Job]:
    """Return the repetitions of a figure, the widest first, so that none of them is waited for at the end."""
    found = []
    for part in parts:
        widths = dict.fromkeys((cell.d, cell.sparsity) for cell in part.cells())
        for d, sparsity in sorted(widths, reverse=True):
            cells = tuple(cell for cell in part.cells() if (cell.d, cell.sparsity) == (d, sparsity))
            facts = (figure.number, figure.algorithm, part.label, part.source, cells)
            found += [Job(*facts, repetition, seed, readings) for repetition in range(repetitions)]
    return found


def measure(work: Sequence[Job], processes: int, advance: Callable[[], None] = lambda: None) -> list[Row]:
    """Return the rows of all jobs, in their order; `advance` is called after each of them."""
    if processes == 1 or len(work) == 1:
        return [row for job in work for row in (*_carried_out(job), *_told(advance))]
    # A fresh interpreter a process: forking one with threads is not safe.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(work)), context, _one_thread) as pool:
        futures = [pool.submit(_carried_out, job) for job in work]
        try:
            for future in as_completed(futures):
                future.result()
                advance()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [row for future in futures for row in future.result()]


def _told(advance: Callable[[], None]) -> tuple[()]:
    advance()
    return ()


def _one_thread() -> None:
    """Keep a process to one core: there is one process a core."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _carried_out(job: Job) -> list[Row]:
    """Draw the records of a job and make all its fits."""
    d, sparsity = job.cells[0].d, job.cells[0].sparsity
    world = job.source.world(d, sparsity, data_generator(job.data_seed))
    X, y = world.draw(max(cell.n for cell in job.cells))
    rows: list[Row] = []
    for n in dict.fromkeys(cell.n for cell in job.cells):
        rows += _references(job, world, X[:n], y[:n])
        for cell in job.cells:
            if cell.n == n:
                rows += [_private(job, world, cell, method, X[:n], y[:n]) for method in methods_of(job.algorithm)]
    return rows


def _references(job: Job, world: World, X: NDArray[Any], y: FloatVector) -> Iterator[Row]:
    """Yield what needs no privacy."""
    begin = time.perf_counter()
    optimum = minimise(world.empirical(X, y), world.domain)
    seconds = time.perf_counter() - begin
    models = {
        "zero": Estimate(np.zeros(X.shape[1])),
        "start": Estimate(world.start),
        "non-private": optimum,
        "minimiser": world.population.plain,
        "truth": world.population.truth,
    }
    cell = replace(job.cells[0], n=len(y))
    for name, model in models.items():
        empty = _row(job, cell, name, np.nan, np.nan, job.data_seed)
        yield _judged(empty, world, model, seconds if name == "non-private" else 0.0)


def _private(job: Job, world: World, cell: Cell, method: Method, X: NDArray[Any], y: FloatVector) -> Row:
    """Return one private fit, with simulated noise so that a seed repeats it."""
    privacy = Privacy(cell.epsilon, 0.0 if method.pure else cell.n**DELTA_POWER)
    name = zlib.crc32(method.name.encode())
    seed = derived_seed(job.data_seed, cell.n, round(1e6 * cell.epsilon), name)
    row = _row(job, cell, method.name, privacy.epsilon, privacy.delta, seed)
    start = world.start if job.readings.start == "random" else np.zeros(cell.d)
    case = Case(_problem(world, cell, method), privacy, start, world.ridge, job.readings)
    begin = time.perf_counter()
    try:
        plan = method.plan(case)
    except TailguardError as refusal:
        return replace(row, outcome=str(refusal))
    release = run(plan, NumpyEngine(X, y, threads=1), make_randomness(seed))
    return _judged(row, world, release.estimate, time.perf_counter() - begin)


def _problem(world: World, cell: Cell, method: Method) -> Problem:
    """Return what a method is told: ours nothing about the population, the paper's what its theorems assume."""
    if method.ours:
        return Problem(world.loss, world.domain, cell.n, cell.d, intercept=True)
    facts = world.facts
    moment = Moment(2.0, facts.gradient, "coordinate") if np.isfinite(facts.gradient) else None
    return Problem(world.loss, world.domain, cell.n, cell.d, moment=moment, smoothness=facts.smoothness)


def _row(job: Job, cell: Cell, name: str, epsilon: float, delta: float, seed: int) -> Row:
    setting = (cell.n, cell.d, cell.sparsity, epsilon, delta)
    nothing = (np.nan, np.nan, 0.0)
    return Row(f"fig{job.number}", job.label, name, *setting, job.repetition, seed, *nothing, outcome=FITTED)


def _judged(row: Row, world: World, model: Estimate, seconds: float) -> Row:
    population = world.population
    with np.errstate(over="ignore"):
        excess, over = population.excess(model), population.excess_over_truth(model)
    return replace(row, excess=excess, excess_over_truth=over, seconds=seconds)


def processors() -> int:
    """Return how many processes fit on this machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
