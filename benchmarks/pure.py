"""`make bench-pure`: pure ε for squared, logistic, absolute and hinge losses, against the non-private fit."""

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import tailguard as tg
from benchmarks.datasets import pure
from benchmarks.datasets.linear import Linear
from benchmarks.objective import Dataset, Drawn, Fit
from benchmarks.solvers import printed
from benchmarks.solvers.non_private import NonPrivate
from tailguard.losses import Absolute, Hinge

FIRST, SEEDS, PRINTED_SEEDS = 61_000, {1_000: 21, 10_000: 7, 100_000: 3}, 3
"""First seed; number of seeds by number of rows, because small budgets scatter more; and that of a reference."""

SIZES, EPSILONS = (1_000, 10_000, 100_000), (0.5, 1.0, 4.0)
COLUMNS, FEW = (5, 20), (1, 2)
MAPPED, MAPPED_SEEDS = (10_000,), 3
"""Rows and seeds where `gradient_mapping` is run: its time grows with their number times that of its candidates."""

LIMITS = {"output": 4.0, "non-private": 6.0, "mapping": 1.5, "null": 1.05}
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "pure.md"

Row = dict[str, float]


def estimator(task: Dataset, method: str, epsilon: float, seed: int) -> Any:
    """Return the estimator of a task, told nothing but the budget."""
    options = {"epsilon": epsilon, "delta": 0.0, "method": method, "random_state": seed}
    if isinstance(task, pure.Deviations):
        return tg.LeastAbsoluteDeviations(**options)
    if isinstance(task, pure.Margin):
        return tg.LinearSVC(pure.SMOOTHING, **options)
    return tg.LinearRegression(**options) if isinstance(task, Linear) else tg.LogisticRegression(**options)


def private(task: Dataset, drawn: Drawn, method: str, epsilon: float, seed: int) -> float:
    """Return the excess of a private fit, not a number where it is refused."""
    try:
        model = estimator(task, method, epsilon, seed).fit(drawn.X, drawn.y)
    except tg.BudgetError:
        return np.nan
    assert model.privacy_.delta == 0.0
    assert model.privacy_.epsilon <= epsilon
    return task.measures(drawn, Fit(np.ravel(model.coef_), float(model.intercept_)))["excess"]


def free(task: Dataset, drawn: Drawn) -> float:
    """Return the excess of the non-private fit: least squares, maximum likelihood, or the minimiser of the loss."""
    assert drawn.y is not None
    if not isinstance(task, pure.Deviations | pure.Margin):
        return task.measures(drawn, NonPrivate().fit(task.task, drawn, tg.Privacy(1.0, 0.0), 0))["excess"]
    centre, scale = np.mean(drawn.X, axis=0), np.std(drawn.X, axis=0)
    rows, middle, spread = (drawn.X - centre) / scale, 0.0, 1.0
    if isinstance(task, pure.Deviations):
        middle = float(np.median(drawn.y))
        spread = float(np.median(np.abs(drawn.y - middle)))
    loss = Hinge(pure.SMOOTHING) if isinstance(task, pure.Margin) else Absolute(pure.SMOOTHING)
    point = pure.least(loss, rows, (drawn.y - middle) / spread)
    slopes = point[:-1] * spread / scale
    return task.measures(drawn, Fit(slopes, float(middle + spread * point[-1] - slopes @ centre)))["excess"]


def cell(task: Dataset, methods: tuple[str, ...], seeds: range) -> dict[float, Row]:
    """Return the median excesses of a task at each ε; the null model's is 1."""
    found: dict[tuple[float, str], list[float]] = {}
    for seed in seeds:
        drawn = task.draw(seed)
        plain = free(task, drawn)
        for epsilon in EPSILONS:
            found.setdefault((epsilon, "free"), []).append(plain)
            for method in methods:
                if method != "printed":
                    fitted = private(task, drawn, method, epsilon, seed)
                elif seed - seeds.start < PRINTED_SEEDS:
                    fitted = printed.excess(task, drawn, epsilon, seed)
                else:
                    continue
                found.setdefault((epsilon, method), []).append(fitted)
    return {
        epsilon: {name: float(np.median(values)) for (key, name), values in found.items() if key == epsilon}
        for epsilon in EPSILONS
    }


def number(value: float) -> str:
    """Return an excess as printed."""
    return "refused" if np.isnan(value) else f"{value:.2g}"


def answered(value: float) -> float:
    """Return what a user has after a refusal: the null model, whose excess is 1."""
    return 1.0 if np.isnan(value) else value


def mean_ratio(rows: Iterable[Row], over: str, under: str) -> float:
    """Return the geometric mean of one excess ÷ another."""
    logs = [np.log(answered(row[over]) / answered(row[under])) for row in rows]
    return float(np.exp(np.mean(logs))) if logs else np.nan


METHODS = ("objective_perturbation", "output_perturbation", "printed")
OURS = METHODS[:2]


def grid(tasks: Callable[[int, int], list[Dataset]], sizes: tuple[int, ...], first: int) -> Iterator[tuple[str, Row]]:
    """Yield each task at each ε, described by the first cells of its line."""
    for n in sizes:
        for d in COLUMNS:
            for task in tasks(n, d):
                for epsilon, row in cell(task, METHODS, seeds(n, first)).items():
                    yield f"| {label(task)} | {n} | {d} | {epsilon:g}", row


def seeds(n: int, first: int) -> range:
    return range(first, first + SEEDS[n])


def label(task: Dataset) -> str:
    return task.name.split(" ", 1)[1].split(" n=")[0]


def table(title: str, pages: Iterable[tuple[str, Row]], rows: list[Row]) -> Iterator[str]:
    """Yield the lines of a table and keep its rows."""
    yield f"\n## {title}\n"
    yield "| loss, data | n | d | ε | objective | output | printed double | non-private |"
    yield "|---|---|---|---|---|---|---|---|"
    for words, row in pages:
        rows.append(row)
        yield f"{words} | " + " | ".join(number(row[name]) for name in (*METHODS, "free")) + " |"


def summary(title: str, rows: list[Row]) -> Iterator[str]:
    """Yield what the rows say together, and whether it is within the limits."""
    yield f"\n### {title}: geometric means over {len(rows)} lines\n"
    yield "| what | found | limit | met |"
    yield "|---|---|---|---|"
    output = mean_ratio(rows, "output_perturbation", "objective_perturbation")
    private = mean_ratio(rows, "objective_perturbation", "free")
    worst = max(answered(row[name]) for row in rows for name in OURS)
    yield verdict("output ÷ objective perturbation", output, LIMITS["output"])
    yield verdict("objective perturbation ÷ non-private", private, LIMITS["non-private"])
    yield verdict("worst median of the two ÷ null model", worst, LIMITS["null"])
    planned = [row for row in rows if not np.isnan(row["printed"])]
    double = mean_ratio(planned, "printed", "objective_perturbation")
    yield f"| printed double ÷ objective perturbation on {len(planned)} lines, where it plans | {double:.3g} | – | – |"
    refused = sum(bool(np.isnan(row["objective_perturbation"])) for row in rows)
    yield f"| lines on which objective perturbation is refused | {refused} | – | – |"


def verdict(what: str, found: float, limit: float) -> str:
    return f"| {what} | {found:.3g} | {limit:g} | {'yes' if found <= limit else '**no**'} |"


def mapped(sizes: tuple[int, ...], first: int) -> Iterator[str]:
    """Yield the table of `gradient_mapping` in one and two dimensions."""
    rows: list[Row] = []
    yield "\n## One and two columns\n"
    yield "| loss, data | n | d | ε | objective | gradient mapping | non-private |"
    yield "|---|---|---|---|---|---|---|"
    names = ("objective_perturbation", "gradient_mapping")
    for n in sizes:
        for d in FEW:
            for task in pure.tasks(n, d):
                for epsilon, row in cell(task, names, range(first, first + MAPPED_SEEDS)).items():
                    rows.append(row)
                    cells = " | ".join(number(row[name]) for name in (*names, "free"))
                    yield f"| {label(task)} | {n} | {d} | {epsilon:g} | {cells} |"
    yield "\n| what | found | limit | met |\n|---|---|---|---|"
    yield verdict("gradient mapping ÷ objective perturbation", mean_ratio(rows, *names[::-1]), LIMITS["mapping"])


def development(first: int, sizes: tuple[int, ...]) -> Iterator[str]:
    """Yield the tables of the families on which constants were chosen, with other seeds."""
    found: list[Row] = []
    yield from table("Constants chosen on these families, with other seeds", grid(pure.tasks, sizes, first), found)
    yield from summary("Summary", found)


def held_out(first: int, sizes: tuple[int, ...]) -> Iterator[str]:
    """Yield the tables of other families."""
    found: list[Row] = []
    yield from table("Held-out families", grid(pure.held_out, sizes, first), found)
    yield from summary("Held out", found)


def few(first: int, sizes: tuple[int, ...]) -> Iterator[str]:  # noqa: ARG001
    """Yield the table of one and two columns."""
    yield from mapped(MAPPED, first)


PARTS = {"development": development, "held-out": held_out, "few": few}


def heading(first: int) -> Iterator[str]:
    """Yield what the page is about."""
    machine = f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    counts = ", ".join(f"{count} at n = {n}" for n, count in SEEDS.items())
    yield f"# Pure ε\n\n`make bench-pure`, {machine}, tailguard {version('tailguard')}.\n"
    yield f"Medians over seeds from {first} on ({counts}) of the excess risk ÷ that of the best constant"
    yield "(1: nothing is learned). δ = 0. Users' methods know the budget alone, and columns have units of 10^±2."
    yield f"The printed double output perturbation ({PRINTED_SEEDS} seeds) is told exact units, a radius and a moment."
    yield "In the means a refusal counts as 1."


def main() -> None:
    """Print the tables and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--only", choices=tuple(PARTS), help="print one part and keep nothing")
    options = parser.parse_args()
    start, lines = time.perf_counter(), list(heading(options.first))
    for name, part in PARTS.items():
        if options.only in (None, name):
            for line in part(options.first, tuple(options.sizes)):
                print(line, flush=True)
                lines.append(line)
    lines.append(f"\n{time.perf_counter() - start:.0f} seconds.")
    if options.only is None:
        RESULTS.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
