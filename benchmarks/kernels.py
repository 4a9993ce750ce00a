"""How fast the kernels are: as a multiple of reading the array once on one thread, and against naive NumPy.

Run as `python -m benchmarks.kernels`, on a machine that does nothing else. `make bench-speed` writes the same table.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.kernel_cases import cases
from tailguard.engines.numpy import NumpyEngine
from tailguard.engines.partition import WHOLE
from tailguard.engines.selection import Selection

__all__ = ["Timed", "best", "machine", "measure", "table"]


@dataclass(frozen=True)
class Timed:
    """Seconds of one statistic: reading the array, ours by number of threads, naive."""

    name: str
    read: float
    ours: tuple[float, ...]
    naive: float

    @property
    def multiples(self) -> tuple[float, ...]:
        """How many times as long as reading once."""
        return tuple(seconds / self.read for seconds in self.ours)


def measure(n: int, d: int, threads: Sequence[int], repeats: int) -> Iterator[Timed]:
    """Yield the times of every statistic, each the best of several runs that alternate with reading the array.

    With the first number of threads, which should be 1, processor time, which a busy machine lengthens least; with the
    others wall clock.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d) / np.sqrt(d)
    y = X @ w + rng.standard_t(2, n)
    for name, (statistic, naive) in cases(X, y, w).items():
        statistic.evaluate(Selection(NumpyEngine(X[:64], y[:64], threads=1), WHOLE))  # compile
        ours = [partial(statistic.evaluate, Selection(NumpyEngine(X, y, threads=count), WHOLE)) for count in threads]
        read, one = best([X.sum, ours[0]], repeats)
        (slow,) = best([naive], 1 if repeats < 5 else 2)
        yield Timed(name, read, (one, *best(ours[1:], repeats, time.perf_counter)), slow)


def best(
    functions: Sequence[Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.process_time
) -> list[float]:
    """Return the shortest time of each function by a clock; they take turns, so that a busy moment hits all of them."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, taken in zip(functions, times, strict=True):
            start = clock()
            function()
            taken.append(clock() - start)
    return [min(taken) for taken in times]


def machine() -> str:
    """Return the processor and how many of it there are."""
    model = "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as lines:
            model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    return f"{model}, {os.cpu_count()} cpus"


def table(timed: Iterable[Timed], n: int, d: int) -> str:
    """Return the times as text."""
    return "\n".join(_lines(timed, n, d)) + "\n"


def _lines(timed: Iterable[Timed], n: int, d: int) -> Iterator[str]:
    yield f"n = {n}, d = {d}, float64, {8e-9 * n * d:.2f} GB; {machine()}"
    yield "Each time is the best of several runs, alternating with passes that only read the array: processor time on"
    yield f"one thread, wall clock on several. The load of the machine was {os.getloadavg()[0]:.1f}."
    heads = f"{'1 thread: ms':>14}{'÷ read':>8}{'several: ms':>13}{'naive: ms':>11}{'÷ ours':>8}"
    yield f"{'statistic':34}{'read: ms':>10}{heads}"
    for row in timed:
        numbers = f"{1e3 * row.read:10.1f}{1e3 * row.ours[0]:14.1f}{row.multiples[0]:8.2f}{1e3 * row.ours[-1]:13.1f}"
        yield f"{row.name:34}{numbers}{1e3 * row.naive:11.0f}{row.naive / row.ours[0]:8.1f}"


def main() -> None:
    options = _options()
    for line in _lines(measure(options.n, options.d, options.threads, options.repeats), options.n, options.d):
        print(line, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=1_000_000, help="rows (default: one million)")
    parser.add_argument("--d", type=int, default=100, help="columns (default: 100)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="thread counts (default: 1 2)")
    parser.add_argument("--repeats", type=int, default=5, help="the best of so many runs (default: 5)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
