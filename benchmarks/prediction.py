"""`python -m benchmarks.prediction`: how often a predicted error is within a factor of three of the measured median.

Without options it joins the kept summary of the benchmark with what `tg.advise` predicts from public facts alone, for
the synthetic tasks, whose signal is as strong as it is told; on real data nobody knows that, and none is predicted.
`--develop` measures development tasks, and smaller and wider ones beside them, on seeds that are not reported (500 and
on) instead, and `--fit` fits the factors of the formulas to them. `--held-out` measures held-out tasks in their place.
"""

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import tailguard as tg
from benchmarks import results
from benchmarks.datasets import development, held_out
from benchmarks.datasets.linear import Linear
from benchmarks.datasets.logistic import Logistic
from benchmarks.objective import Budget, Dataset, Refused
from benchmarks.solvers.ours import Tailguard
from tailguard.plans import Problem
from tailguard.recipes import recipe
from tailguard.recipes.automatic import choose_recipe
from tailguard.recipes.noise import CountNoise
from tailguard.recipes.prediction import FORMULAS, LIKE, Formula, risk

__all__ = ["Pair", "main", "pairs", "predicted"]

SUMMARY = Path(__file__).resolve().parent.parent / "docs" / "results" / "benchmark" / "summary.csv"
FACTOR, AIM = 3.0, 0.8
FIRST, SEEDS = 500, 3
SMALL = ((1_000, 3), (2_000, 5), (4_000, 20), (10_000, 50), (20_000, 100))
"""Sizes that the benchmark has no tasks of, and people have."""

BUDGETS = [*(Budget(e, 1e-6) for e in (0.1, 0.5, 1.0, 2.0, 8.0)), *(Budget(e, 0.0) for e in (0.5, 1.0, 2.0, 8.0))]


@dataclass(frozen=True)
class Pair:
    """A task at a budget: what was predicted, and the median of what was measured."""

    dataset: Dataset
    budget: Budget
    recipe: str
    predicted: float
    measured: float

    @property
    def right(self) -> bool:
        return 1.0 / FACTOR <= self.predicted / self.measured <= FACTOR


def problem(dataset: Dataset) -> Problem:
    """Return the public facts of a task."""
    n, d, task = dataset.n, dataset.d, dataset.task
    if task == "mean":
        return Problem(tg.losses.SquaredDistance(), tg.domains.WholeSpace(d), n, d)
    loss = tg.losses.Logistic() if "logistic" in task else tg.losses.Squared()
    domain = tg.domains.WholeSpace(d) if dataset.sparsity is None else tg.domains.Sparse(d, dataset.sparsity)
    return Problem(loss, domain, n, d, intercept=True)


def predicted(dataset: Dataset, budget: Budget) -> tuple[str, float | None]:
    """Return the recipe that `method="auto"` takes and the error that is predicted, in the benchmark's units."""
    facts, privacy = problem(dataset), tg.Privacy(budget.epsilon, budget.delta)
    if dataset.task == "mean":
        plan = recipe("centred_clipping").plan("mean", facts, privacy)
        return plan.recipe, (plan.predicted_error or 0.0) * math.sqrt(dataset.n / dataset.d)
    name = taken(dataset, budget)
    return name, risk(name, facts, privacy, signal_to_noise(dataset))


def taken(dataset: Dataset, budget: Budget) -> str:
    """Return the recipe that `method="auto"` takes."""
    task = "mean" if dataset.task == "mean" else "regression"
    return choose_recipe(task, problem(dataset), tg.Privacy(budget.epsilon, budget.delta))


@cache
def signal_to_noise(dataset: Dataset) -> float:
    """Return what the prediction may assume: 1, but for designs of the papers whose signal is known to be stronger.

    The noise may have no variance, so that its interquartile range speaks for it.
    """
    if dataset.task != "sparse":
        return 1.0
    drawn = dataset.draw(FIRST)
    slopes, covariance = drawn.truth
    low, high = np.quantile(drawn.y - drawn.X @ slopes, (0.25, 0.75))
    return float(slopes @ covariance @ slopes) / float((high - low) / 1.349) ** 2


def small() -> list[Dataset]:
    """Return development tasks that are small or wide, for predictions alone."""
    laws = ("gaussian", "t3", "lognormal1")
    return [kind(law, n, d) for kind in (Linear, Logistic) for law in laws for n, d in SMALL]


def pairs(rows: Sequence[dict[str, Any]]) -> Iterator[Pair]:
    """Yield what rows of a summary say about tailguard's default, where it was not refused, and what was predicted."""
    tasks = {dataset.name: dataset for dataset in [*development.tasks(), *small(), *held_out.tasks()]}
    for row in rows:
        dataset = tasks.get(row["task"])
        if row["method"] != "tailguard" or "refused" in row["status"] or dataset is None or dataset.real:
            continue
        budget = Budget(row["epsilon"], row["delta"])
        name, error = predicted(dataset, budget)
        if error is not None:
            yield Pair(dataset, budget, name, error, row["excess"])


def chosen(options: argparse.Namespace) -> Iterator[tuple[Dataset, list[Budget]]]:
    """Yield the tasks that are to be measured, and the budgets at which `method="auto"` takes one of the recipes."""
    for dataset in held_out.tasks() if options.held_out else [*development.tasks(), *small()]:
        if dataset.real or (options.tasks and not any(word in dataset.name for word in options.tasks)):
            continue
        yield dataset, [b for b in BUDGETS if not options.recipes or taken(dataset, b) in options.recipes]


def develop(tasks: Iterable[tuple[Dataset, list[Budget]]], seeds: range) -> list[dict[str, Any]]:
    """Measure tasks at their budgets, on seeds that are not reported."""
    solver, rows = Tailguard(), []
    for dataset, budgets in tasks:
        errors: dict[Budget, list[float]] = defaultdict(list)
        for seed in seeds:
            drawn = dataset.draw(seed)
            for budget in budgets:
                try:
                    fit = solver.fit(dataset.task, drawn, budget, seed)
                except Refused:
                    continue
                errors[budget].append(dataset.measures(drawn, fit)["excess"])
        rows += [row(dataset, budget, float(np.median(found)), len(found)) for budget, found in errors.items()]
        print(dataset.name, file=sys.stderr)
    return rows


def row(dataset: Dataset, budget: Budget, excess: float, seeds: int) -> dict[str, Any]:
    """Return a row of a summary."""
    facts = {name: getattr(dataset, name) for name in ("group", "n", "d", "tail", "held_out")}
    method = {"method": "tailguard", "relation": "replace-one", "status": "ok", "variants": 1, "seeds": seeds}
    spent = {"epsilon": budget.epsilon, "delta": budget.delta, "excess": excess}
    return {"task": dataset.name, "kind": dataset.task, **facts, **method, **spent}


def fitted(found: Sequence[Pair]) -> dict[tuple[str, str], Formula]:
    """Return the formulas with the factors that fit the logarithms of the measured errors best."""
    groups = defaultdict(list)
    for pair in found:
        kind = "classes" if "logistic" in pair.dataset.task else "residuals"
        key = LIKE.get(pair.recipe, pair.recipe), kind
        if key in FORMULAS:
            groups[key].append(pair)
    return {key: _fitted(FORMULAS[key], group) for key, group in groups.items()}


def _fitted(formula: Formula, group: Sequence[Pair]) -> Formula:
    names = [field.name for field in fields(Formula) if getattr(formula, field.name) > 0.0]
    start = np.log([getattr(formula, name) for name in names])

    def changed(logs: Any) -> Formula:
        return Formula(**dict(zip(names, np.exp(logs).tolist(), strict=True)) | _others(formula, names))

    def residuals(logs: Any) -> Any:
        misses = [_miss(changed(logs), pair) for pair in group]
        return np.array([*misses, *(0.2 * (logs - start))])  # what nothing is known about stays as it is

    return changed(least_squares(residuals, start, loss="soft_l1").x)


def _others(formula: Formula, names: Sequence[str]) -> dict[str, float]:
    return {f.name: v for f, v in zip(fields(Formula), astuple(formula), strict=True) if f.name not in names}


def _miss(formula: Formula, pair: Pair) -> float:
    privacy = tg.Privacy(pair.budget.epsilon, pair.budget.delta)
    x = formula(problem(pair.dataset), CountNoise.of(privacy)) / signal_to_noise(pair.dataset)
    return math.log(x / (1.0 + x) / min(max(pair.measured, 1e-9), 1.0))


def report(found: Sequence[Pair]) -> str:
    """Return a table of all tasks, and the share of them that is predicted within the factor."""
    lines = ["task, epsilon, delta, recipe, predicted, measured, ratio"]
    for pair in found:
        facts = f"{pair.dataset.name}, {pair.budget.epsilon:g}, {pair.budget.delta:g}, {pair.recipe}"
        numbers = f"{pair.predicted:.3g}, {pair.measured:.3g}, {pair.predicted / pair.measured:.2f}"
        lines.append(f"{facts}, {numbers}{'' if pair.right else ' *'}")
    for name, part in _parts(found):
        right = sum(pair.right for pair in part)
        lines.append(f"{name}: {right} of {len(part)} within a factor of {FACTOR:g}, {right / len(part):.0%}")
    return "\n".join(lines)


def _parts(found: Sequence[Pair]) -> Iterator[tuple[str, list[Pair]]]:
    for group in sorted({pair.dataset.task for pair in found}):
        yield group, [pair for pair in found if pair.dataset.task == group]
    for name, held in (("development", False), ("held out", True)):
        part = [pair for pair in found if pair.dataset.held_out == held]
        if part:
            yield name, part
    yield f"all (aim {AIM:.0%})", list(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print, and return 0 if the aim is met."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.prediction", description=__doc__)
    parser.add_argument("summary", nargs="?", type=Path, default=SUMMARY, help="summary of the benchmark, CSV")
    parser.add_argument("--develop", action="store_true", help="measure development tasks on seeds 500 and on")
    parser.add_argument("--held-out", action="store_true", help="measure held-out tasks, to report and not to fit")
    parser.add_argument("--tasks", nargs="*", default=[], help="words in the names of the tasks to measure")
    parser.add_argument("--recipes", nargs="*", default=[], help="measure where `auto` takes one of these alone")
    parser.add_argument("--first", type=int, default=FIRST, help="the first seed")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--save", type=Path, help="write what was measured as CSV")
    parser.add_argument("--fit", action="store_true", help="print factors fitted to the pairs")
    options = parser.parse_args(arguments)
    measuring = options.develop or options.held_out
    if not measuring and not options.summary.exists():
        print(f"There is no {options.summary}: `make bench` writes it.", file=sys.stderr)
        return 1
    rows = (
        develop(chosen(options), range(options.first, options.first + options.seeds))
        if measuring
        else results.read(options.summary)
    )
    if options.save:
        results.write(options.save, rows, results.SUMMARY)
    found = list(pairs(rows))
    if options.fit:
        for key, formula in fitted(found).items():
            print(key, formula)
    print(report(found))
    return 0 if sum(pair.right for pair in found) >= AIM * len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
