"""`python -m benchmarks.floor`: what the budget itself allows, beside the best tuned peer and ours.

One look at the truth: an oracle that knows the true coefficients, the true metric and the law of the noise spends the
whole budget on one Gaussian release, the sum of the records' clipped scores at the truth, and takes one Newton step
from there. It has no units to find, no way to go and nothing to test; how much is clipped and how far the slopes are
shrunk is chosen for each task and budget by the excess itself. Nobody can do this. It is no lower bound in the sense
of a theorem, but what methods that release noisy sums over records aim for, so that ours ÷ floor says what is left to
gain, and floor ÷ best peer how far below the best peer of every task anybody may hope to come.

Scores of residuals are clipped on both sides, so that tasks with skewed noise are left out: there the floor is biased,
and not one. Seeds and peers are those of the kept benchmark.
"""

import argparse
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from benchmarks import results, targets
from benchmarks.datasets import development, held_out
from benchmarks.datasets.linear import Linear, Model
from benchmarks.datasets.logistic import Logistic
from benchmarks.objective import Budget, Drawn, Fit, Matrix, Vector
from benchmarks.plan import FIRST_SEED, FULL, LARGE
from benchmarks.solvers.baseline import gaussian_budget

__all__ = ["Look", "floors", "looks", "main"]

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
SUMMARY, PAGE = RESULTS / "benchmark" / "summary.csv", RESULTS / "floor.md"
EPSILONS, DELTA = (0.1, 0.5, 1.0, 2.0), 1e-6
SYMMETRIC = ("gaussian", "t5", "t3", "t1.5")
ROWS, RESIDUALS, KEPT = (0.8, 0.5, 0.25, 0.05, 0.0), (0.6, 0.42, 0.2, 0.05, 0.0), (1.0, 0.9, 0.75, 0.5, 0.25, 0.0)
"""Mass beyond the levels of rows and residuals; what is kept of the slopes."""

DRAWS, WORKERS = 3, 2
"""Draws of the noise a seed."""


@dataclass(frozen=True, eq=False)
class Look:
    """Clipped scores at the truth: their mean, their mean curvature, and their largest length."""

    score: Vector
    curvature: Matrix
    bound: float

    def step(self, noise: Vector, n: int, mu: float) -> Vector:
        """Return the Newton step from the mean score with the noise of a budget; replacing a record moves 2·bound/n."""
        return np.asarray(np.linalg.solve(self.curvature, self.score + 2.0 * self.bound / (n * mu) * noise))


def looks(dataset: Linear | Logistic, drawn: Drawn) -> Iterator[tuple[str, Look, Matrix]]:
    """Yield what may be looked at, by name, with the map from whitened steps to coefficients of x ÷ units."""
    model: Model = drawn.truth
    rows = np.c_[drawn.X / model.units - dataset.mean, np.ones(len(drawn.X))]
    if isinstance(dataset, Logistic):
        chance = expit(rows @ np.append(model.slopes, model.centre))
        fisher = chance * (1.0 - chance)
    else:
        residual = (drawn.y - model.centre) / model.spread - rows[:, :-1] @ model.slopes
        fisher = np.ones(len(rows))
    back = np.linalg.cholesky(np.linalg.inv((rows * fisher[:, np.newaxis]).T @ rows / len(rows)))
    white = rows @ back
    lengths = np.linalg.norm(white, axis=1)
    for tail in ROWS:
        radius = float(np.quantile(lengths, 1.0 - tail))
        weights = np.minimum(1.0, radius / lengths)
        if isinstance(dataset, Logistic):
            largest = np.maximum(chance, 1.0 - chance)
            for name, balance in (("logistic", np.ones_like(chance)), ("balanced", largest)):
                scores, curved = weights * (drawn.y - chance) / balance, weights * fisher / balance
                yield f"{name} {tail:g}", _look(white, scores, curved, radius), back
        else:
            for beyond in RESIDUALS:
                limit = float(np.quantile(np.abs(residual), 1.0 - beyond))
                scores, curved = weights * np.clip(residual, -limit, limit), weights * np.mean(np.abs(residual) < limit)
                yield f"{beyond:g} {tail:g}", _look(white, scores, curved, radius * limit), back


def _look(white: Matrix, scores: Vector, curved: Vector, bound: float) -> Look:
    n = len(white)
    return Look(white.T @ scores / n, (white * curved[:, np.newaxis]).T @ white / n, bound)


def _fit(dataset: Linear | Logistic, model: Model, step: Vector, kept: float) -> Fit:
    """Return the truth plus a step in units of x ÷ units, its slopes shrunk."""
    slopes = kept * (model.slopes + step[:-1])
    offset = step[-1] - slopes @ dataset.mean
    return Fit(slopes * model.spread / model.units, float(model.centre + model.spread * offset))


def floors(dataset: Linear | Logistic, seeds: int) -> dict[float, float]:
    """Return the least median excess of a look, for each ε."""
    found: dict[tuple[float, str, float], list[float]] = defaultdict(list)
    first = FIRST_SEED[dataset.held_out]
    for seed in range(first, first + seeds):
        drawn = dataset.draw(seed)
        rng = np.random.default_rng([seed, 9])
        for name, look, back in looks(dataset, drawn):
            for epsilon, noise in product(EPSILONS, rng.standard_normal((DRAWS, dataset.d + 1))):
                step = back @ look.step(noise, dataset.n, gaussian_budget(Budget(epsilon, DELTA)))
                for kept in KEPT if epsilon < 0.5 else KEPT[:2]:  # noise is no reason to shrink much beyond
                    fit = _fit(dataset, drawn.truth, step, kept)
                    found[epsilon, name, kept].append(dataset.excess(drawn, fit))
    return {
        epsilon: min(float(np.median(values)) for (own, *_), values in found.items() if own == epsilon)
        for epsilon in EPSILONS
    }


def tasks() -> list[Linear | Logistic]:
    """Return the synthetic regressions of the benchmark with symmetric noise, or classes."""
    found = [task for task in (*development.tasks(), *held_out.tasks()) if isinstance(task, Linear | Logistic)]
    return [task for task in found if isinstance(task, Logistic) or task.noise in SYMMETRIC]


def page(largest: int) -> Iterator[str]:
    """Yield the lines of the page."""
    chosen = [task for task in tasks() if task.n <= largest]
    rows = results.read(SUMMARY)
    yield "# What the budget allows\n"
    yield "`make bench-floor`, n ≤ " + f"{largest}.\n" + __doc__.split("\n", 1)[1]
    with Pool(WORKERS) as pool:
        found = dict(zip([task.name for task in chosen], pool.map(_floors, chosen, chunksize=1), strict=True))
    yield "\n| tasks | ε | number | floor ÷ best peer | ours ÷ best peer | ours ÷ floor | non-private ÷ best peer |"
    yield "|---|---|---|---|---|---|---|"
    for kind, held, epsilon in product((Linear, Logistic), (False, True), EPSILONS):
        names = [task.name for task in chosen if isinstance(task, kind) and task.held_out == held]
        words = f"{'linear, symmetric noise' if kind is Linear else 'logistic'}{', held out' if held else ''}"
        yield f"| {words} | {epsilon:g} | " + _line(rows, {name: found[name][epsilon] for name in names}, epsilon)
    yield "\nGeometric means over tasks; the best peer of a task is the luckiest of all variants (replace-one)."


def _floors(task: Linear | Logistic) -> dict[float, float]:
    return floors(task, FULL.compared[task.n > LARGE])


def _line(rows: results.Rows, floor: dict[str, float], epsilon: float) -> str:
    rows = [row for row in rows if row["task"] in floor]
    peer = _best(rows, epsilon, lambda row: targets.peers(row) and row["relation"] == "replace-one")
    ours = _best(rows, epsilon, lambda row: row["method"] == targets.OURS)
    plain = _best(rows, math.inf, lambda row: row["method"] == targets.REFERENCE)
    names = [name for name in floor if name in peer and name in ours]

    def mean(top: dict[str, float], bottom: dict[str, float]) -> str:
        return f"{targets.geometric([(name, top[name] / bottom[name]) for name in names]):.2f}"

    pairs = ((floor, peer), (ours, peer), (ours, floor), (plain, peer))
    return " | ".join([str(len(names)), *(mean(*pair) for pair in pairs)]) + " |"


def _best(rows: results.Rows, epsilon: float, pick: Callable[[dict[str, Any]], bool]) -> dict[str, float]:
    """Return each task's least median excess of what is picked, at a budget."""
    found: dict[str, float] = {}
    for row in rows:
        if pick(row) and row["epsilon"] == epsilon and (row["delta"] > 0.0 or not math.isfinite(epsilon)):
            found[row["task"]] = min(row["excess"], found.get(row["task"], math.inf))
    return found


def main() -> None:
    """Print the page, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=100_000, help="no task with more records")
    parser.add_argument("--print", action="store_true", help="do not write the page")
    options = parser.parse_args()
    lines = list(page(options.largest))
    print("\n".join(lines))
    if not options.print:
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
