"""`make bench-speed`: kernels against reading the data once, fits against peers, growth with records and columns.

Writes docs/results/speed.md with a plot, and docs/results/kernels.txt. Run it on a machine that does nothing else; the
load that it found is on the page.
"""

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from benchmarks import growth, kernels
from benchmarks.growth import Fitted, Part
from benchmarks.kernels import Timed
from benchmarks.objective import Budget, Drawn, Refused, Solver
from benchmarks.solvers import solvers

__all__ = ["main", "page", "peers"]

OUT = Path("docs/results")
BUDGET = Budget(1.0, 1e-6)
SIZES = {"full": (10_000, 100_000, 1_000_000), "quick": (10_000, 30_000, 100_000)}
FILES = {"full": (100_000, 1_000_000, 10_000_000), "quick": (10_000, 30_000, 100_000)}
WIDTHS = {"full": (5, 10, 20, 40, 80, 160), "quick": (5, 10, 20)}
COLUMNS, ROWS = 10, 100_000


def in_rows(level: str) -> Iterator[Fitted]:
    """Yield fits of ten columns as records grow: arrays, then Parquet files that are removed again."""
    for n in SIZES[level]:
        yield growth.alone("array", n, COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        for n in FILES[level]:
            growth.write(path, n, COLUMNS)
            yield growth.alone("Parquet file", n, COLUMNS, str(path))


def in_columns(level: str) -> Iterator[Fitted]:
    """Yield fits of an array as columns grow."""
    for d in WIDTHS[level]:
        yield growth.alone("array", ROWS if level == "full" else 20_000, d)


def peers(n: int, d: int) -> Iterator[tuple[str, str, str, float]]:
    """Yield task, method, variant and seconds of one fit of each method; of several variants the middle one."""
    X, y = growth.records(n, d)
    for task, target in (("linear", y), ("logistic", (y > 0.0).astype(float))):
        data = Drawn(X, target)
        for chosen in _one_each(task):
            with suppress(Refused):
                chosen.fit(task, Drawn(X[:2000], target[:2000]), BUDGET, 500)  # compile, import
            start = time.perf_counter()
            try:
                fit = chosen.fit(task, data, BUDGET, 500)
            except Refused as refusal:
                yield task, chosen.name, f"refused: {refusal}", time.perf_counter() - start
                continue
            seconds = time.perf_counter() - start if fit.seconds is None else fit.seconds
            yield task, chosen.name, chosen.variant, seconds


def _one_each(task: str) -> list[Solver]:
    found: dict[str, list[Solver]] = {}
    for solver in solvers():
        approximate = not solver.private or solver.pure in (False, "both")
        if task in solver.tasks and approximate and "null" not in solver.name:
            found.setdefault(solver.name, []).append(solver)
    middle = [variants[len(variants) // 2] for variants in found.values()]
    return [solver for solver in middle if solver.available() is None]


def page(
    timed: Sequence[Timed], parts: Sequence[Part], rows: Sequence[Fitted], columns: Sequence[Fitted], fits: Sequence
) -> str:
    """Return the page in Markdown."""
    return "\n".join([
        *_kernel_table(timed),
        *_profile_table(parts),
        *_growth_table("Growth with records", rows, "n"),
        *_growth_table("Growth with columns", columns, "d"),
        *_peer_table(fits),
    ])  # fmt: skip


def _kernel_table(timed: Sequence[Timed]) -> Iterator[str]:
    yield "\n## Kernels against reading the data once\n"
    yield "Processor time of one pass on one thread, ÷ reading the array once (its sum), and naive NumPy ÷ ours.\n"
    yield "| statistic | ms | passes a second | ÷ read | two threads, wall ms | naive ÷ ours |"
    yield "|---|---|---|---|---|---|"
    for row in timed:
        one, two = row.ours[0], row.ours[-1]
        yield (
            f"| {row.name} | {1e3 * one:.1f} | {1 / one:.1f} | {one / row.read:.2f} | {1e3 * two:.1f} "
            f"| {row.naive / one:.1f} |"
        )


def _profile_table(parts: Sequence[Part]) -> Iterator[str]:
    whole = sum(part.processor for part in parts)
    yield "\n## Where a fit's time goes\n"
    yield f"`LinearRegression`, n = 10⁶, d = 20, ε = 1: {whole:.2f} s of processor time, half of it on two cores.\n"
    yield "| what | passes | s | share |"
    yield "|---|---|---|---|"
    for part in parts:
        yield f"| {part.name} | {part.passes or ''} | {part.processor:.3f} | {100 * part.processor / whole:.0f} % |"


def _growth_table(title: str, rows: Sequence[Fitted], by: str) -> Iterator[str]:
    yield f"\n## {title}\n"
    yield "| records in | n | d | recipe | wall, s | processor, s | peak memory, MB | data, MB |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in rows:
        numbers = f"{row.wall:.2f} | {row.processor:.2f} | {row.peak_mb:.0f} | {row.data_mb:.0f}"
        yield f"| {row.source} | {row.n} | {row.d} | {row.recipe} | {numbers} |"
    yield ""
    for source in dict.fromkeys(row.source for row in rows):
        points = [(getattr(row, by), row.processor) for row in rows if row.source == source]
        last = growth.slope(points[-2:])
        yield f"{source}: processor time ∝ {by}^{growth.slope(points):.2f}, between the last two {by}^{last:.2f}."


def _peer_table(fits: Sequence[tuple[str, str, str, float]]) -> Iterator[str]:
    yield f"\n## One fit, n = {ROWS}, d = 20, ε = 1\n"
    yield "Wall clock, in the method's own environment where it has one; compiling and importing not counted.\n"
    yield "| task | method | variant | s |"
    yield "|---|---|---|---|"
    for task, name, variant, seconds in sorted(fits, key=lambda row: (row[0], row[3])):
        yield f"| {task} | {name} | {variant} | {seconds:.2f} |"


def plot(rows: Sequence[Fitted], columns: Sequence[Fitted], path: Path) -> None:
    """Draw both growths on logarithmic axes."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "tailguard"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axis, fits, by, words in ((axes[0], rows, "n", "records"), (axes[1], columns, "d", "columns")):
        for source in dict.fromkeys(row.source for row in fits):
            mine = [row for row in fits if row.source == source]
            x, y = [getattr(row, by) for row in mine], [row.processor for row in mine]
            axis.loglog(x, y, marker="o", label=f"{source}: slope {growth.slope(list(zip(x, y, strict=True))):.2f}")
        axis.set_xlabel(words)
        axis.set_ylabel("processor time, s")
        axis.grid(alpha=0.3, which="both")
        axis.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: a minute, for trying out")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the page (default: docs/results)")
    options = parser.parse_args(arguments)
    level = "quick" if options.quick else "full"
    load, begun = os.getloadavg()[0], time.monotonic()
    timed = list(kernels.measure(10**6 if level == "full" else 20_000, 100, (1, 2), 5))
    print("kernels done", flush=True)
    parts = list(growth.profile(10**6 if level == "full" else 50_000, 20))
    rows, columns = list(in_rows(level)), list(in_columns(level))
    print("growth done", flush=True)
    fits = list(peers(ROWS if level == "full" else 5000, 20))
    minutes = (time.monotonic() - begun) / 60.0
    head = (
        f"# Speed\n\n`make bench-speed`; {kernels.machine()}; Python {platform.python_version()}, "
        f"NumPy {np.__version__}; load {load:.1f} when it began; {minutes:.1f} minutes.\n\n"
        "![Growth with records and columns](speed.svg)\n"
    )
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "speed.md").write_text(f"{head}{page(timed, parts, rows, columns, fits)}\n")
    (options.out / "kernels.txt").write_text(
        kernels.table(timed, *((10**6, 100) if level == "full" else (20_000, 100)))
    )
    plot(rows, columns, options.out / "speed.svg")
    print(f"Written to {options.out / 'speed.md'}.")


if __name__ == "__main__":
    main()
