"""Time and memory of whole fits as records and columns grow, in memory and out of a Parquet file.

Each fit runs in a process of its own: its peak of memory is then that of one fit. Times are wall clock and processor
time; the latter is what a busy machine lengthens least.
"""

import math
import multiprocessing
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tailguard as tg
from tailguard.engines.selection import Selection

__all__ = ["Fitted", "Part", "alone", "fitted", "profile", "records", "slope", "write"]

CHUNK = 500_000
"""Records of a row group of the generated file."""


@dataclass(frozen=True)
class Fitted:
    """One timed fit."""

    source: str
    n: int
    d: int
    wall: float
    processor: float
    peak_mb: float
    recipe: str

    @property
    def data_mb(self) -> float:
        """Size of the records in float64, target included."""
        return 8e-6 * self.n * (self.d + 1)


@dataclass(frozen=True)
class Part:
    """What one kind of statistic took in a fit: passes, and processor time."""

    name: str
    passes: int
    processor: float


def records(n: int, d: int, seed: int = 500) -> tuple[Any, Any]:
    """Return Student t3 features and a linear model with t3 noise; every coefficient is 1/√d."""
    rng = np.random.default_rng([seed, n, d])
    X = rng.standard_t(3, (n, d))
    return X, X.sum(axis=1) / math.sqrt(d) + rng.standard_t(3, n)


def write(path: Path, n: int, d: int) -> None:
    """Write records to a Parquet file, a row group at a time; columns "x0" …, target "y"."""
    names = [*(f"x{j}" for j in range(d)), "y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(path, schema) as file:
        for start in range(0, n, CHUNK):
            X, y = records(min(CHUNK, n - start), d, 500 + start)
            file.write_table(pa.table([*X.T.copy(), y], schema=schema))


def fitted(source: str, n: int, d: int, path: str | None = None) -> Fitted:
    """Fit once, after a small fit that compiles what has to be compiled, and return what it took."""
    data = records(n, d) if path is None else (path, "y")
    small = records(20_000, d)
    model = tg.LinearRegression(epsilon=1.0, delta=1e-6, random_state=0)
    model.fit(*small)
    wall, processor = time.perf_counter(), time.process_time()
    model.fit(*data)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return Fitted(source, n, d, wall, processor, _peak(), model.plan_.recipe)


def _peak() -> float:
    """Return the peak of memory of this process in MB; the usual call would count its parent's, where it is larger."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def alone(source: str, n: int, d: int, path: str | None = None) -> Fitted:
    """Return `fitted`, run in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(fitted, (source, n, d, path))


def slope(points: Sequence[tuple[float, float]]) -> float:
    """Return the exponent of a power law through (size, time), by least squares of logarithms."""
    sizes, times = np.log(np.array(points)).T
    return float(np.polyfit(sizes, times, 1)[0])


def profile(n: int, d: int) -> Iterator[Part]:
    """Yield where the processor time of a fit goes: by kind of statistic, then planning, noise and the rest."""
    X, y = records(n, d)
    model = tg.LinearRegression(epsilon=1.0, delta=1e-6, random_state=0).fit(X[:20_000], y[:20_000])
    taken: dict[str, list[float]] = {}
    total = Selection.total

    def timed(self: Selection, kernel: Any) -> Any:
        start = time.process_time()
        value = total(self, kernel)
        kind = getattr(getattr(kernel, "__self__", None), "kind", "other")
        taken.setdefault(kind, []).append(time.process_time() - start)
        return value

    Selection.total = timed  # type: ignore[method-assign]
    try:
        start = time.process_time()
        model.fit(X, y)
        whole = time.process_time() - start
    finally:
        Selection.total = total  # type: ignore[method-assign]
    for kind, times in sorted(taken.items(), key=lambda item: -sum(item[1])):
        yield Part(kind, len(times), sum(times))
    yield Part("planning, verifying, noise, solving", 0, whole - sum(map(sum, taken.values())))
