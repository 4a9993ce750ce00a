"""`make bench-coverage`: how often confidence intervals cover the truth, and how wide they are.

Writes docs/results/coverage.md. Nothing was chosen on its seeds; Weibull and Pareto tails were never looked at.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression as Reference

import tailguard as tg

FIRST = 73_000
LEVELS = (0.8, 0.95)
DELTA = 1e-6
WORKERS = 2
PAGE = Path(__file__).parents[1] / "docs" / "results" / "coverage.md"

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
LAWS: dict[str, tuple[Draw, float]] = {
    "t3": (lambda rng, shape: rng.standard_t(3.0, shape), 0.0),
    "lognormal": (lambda rng, shape: rng.lognormal(0.0, 1.0, shape), float(np.exp(0.5))),
    "Gaussian": (lambda rng, shape: rng.normal(size=shape), 0.0),
    "Weibull 0.6": (lambda rng, shape: rng.weibull(0.6, shape), 1.5045755),
    "Pareto 2.5": (lambda rng, shape: rng.pareto(2.5, shape), 1.0 / 1.5),
}
HELD_OUT = ("Weibull 0.6", "Pareto 2.5")


@dataclass(frozen=True)
class Task:
    """What is fitted to which data; `signal` is the length of the coefficients."""

    kind: str
    law: str
    n: int
    d: int
    epsilon: float
    signal: float = 1.0

    @property
    def name(self) -> str:
        """How the table calls it."""
        return self.kind + ("" if self.signal else ", no signal") + (" (held out)" if self.law in HELD_OUT else "")


@dataclass(frozen=True)
class Outcome:
    """Intervals at each level, the truth, the standard errors, and estimate and errors of a fit that is not private."""

    ends: dict[float, np.ndarray]
    truth: np.ndarray
    errors: np.ndarray
    plain: tuple[np.ndarray, np.ndarray]


def tasks() -> Iterator[Task]:
    """Yield every row of the table."""
    for law in LAWS:
        some = law in HELD_OUT
        for kind, sizes in (("mean", (1, 10)), ("linear", (5,)), ("logistic", (5,))):
            for d in sizes:
                for epsilon in (1.0,) if some else (0.5, 1.0, 2.0):
                    yield Task(kind, law, 10_000, d, epsilon)
                if not some:
                    yield Task(kind, law, 100_000, d, 1.0)
        if not some:
            yield Task("linear", law, 20_000, 20, 1.0)
            yield Task("logistic", law, 20_000, 20, 1.0)
    yield Task("linear", "t3", 10_000, 5, 0.5, signal=0.0)
    yield Task("logistic", "Gaussian", 10_000, 5, 0.5, signal=0.0)


def draw(task: Task, seed: int) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Return records, targets and the truth, the intercept last."""
    rng = np.random.default_rng([seed, task.n, task.d])
    law, mean = LAWS[task.law]
    X = law(rng, (task.n, task.d))
    if task.kind == "mean":
        return X, None, np.full(task.d, mean)
    slopes = task.signal * np.where(np.arange(task.d) % 2 == 0, 1.0, -1.0) / np.sqrt(task.d)
    if task.kind == "linear":
        return X, X @ slopes + 3.0 + law(rng, (task.n,)) - mean, np.append(slopes, 3.0)
    offset = -mean * slopes.sum()
    return X, (rng.random(task.n) < expit(X @ slopes + offset)).astype(float), np.append(slopes, offset)


def not_private(task: Task, X: np.ndarray, y: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the estimate and the standard errors of a fit that is not private."""
    if y is None:
        return X.mean(axis=0), X.std(axis=0) / np.sqrt(task.n)
    Z = np.column_stack([X, np.ones(task.n)])
    if task.kind == "linear":
        estimate = np.linalg.lstsq(Z, y, rcond=None)[0]
        inverse = np.linalg.inv(Z.T @ Z)
        covariance = inverse @ ((Z * ((y - Z @ estimate) ** 2)[:, None]).T @ Z) @ inverse
    else:
        model = Reference(C=1e9, tol=1e-8, max_iter=1000).fit(X, y)
        estimate, chance = np.append(model.coef_[0], model.intercept_), model.predict_proba(X)[:, 1]
        covariance = np.linalg.inv((Z * (chance * (1.0 - chance))[:, None]).T @ Z)
    return estimate, np.sqrt(np.diag(covariance))


def carry_out(task: Task, seed: int) -> Outcome:
    """Return the intervals of one fit."""
    X, y, truth = draw(task, seed)
    plain, common = not_private(task, X, y), {"epsilon": task.epsilon, "delta": DELTA, "random_state": seed}
    if y is None:
        mean = tg.Mean(**common).fit(X)
        return Outcome({level: mean.mean_interval(level) for level in LEVELS}, truth, mean.mean_std_error_, plain)
    fit = (tg.LinearRegression if task.kind == "linear" else tg.LogisticRegression)(**common).fit(X, y)
    ends = {level: np.vstack([fit.coef_interval(level), fit.intercept_interval(level)]) for level in LEVELS}
    return Outcome(ends, truth, np.append(fit.coef_std_error_, fit.intercept_std_error_), plain)


@dataclass(frozen=True)
class Row:
    """A line of the table, and shares of the intervals at the last level that cover: ours, those without privacy."""

    task: Task
    line: str
    covered: float
    plain: float
    count: int


def row(task: Task, seeds: int) -> Row:
    """Return a line of the table."""
    count = (seeds if task.n < 50_000 else max(1, 3 * seeds // 8)) * (5 if task.kind == "mean" and task.d == 1 else 1)
    outcomes = [carry_out(task, FIRST + number) for number in range(count)]
    slopes = slice(None, task.d)
    covered = {
        level: np.array([(o.ends[level][:, 0] <= o.truth) & (o.truth <= o.ends[level][:, 1]) for o in outcomes])
        for level in LEVELS
    }
    cells = [f"{covered[level][:, slopes].mean():.3f}" for level in LEVELS]
    intercept = "" if task.kind == "mean" else f"{covered[LEVELS[-1]][:, -1].mean():.2f}"
    width = np.median([o.errors[slopes] / o.plain[1][slopes] for o in outcomes])
    plain = np.mean([np.abs(o.plain[0] - o.truth)[slopes] < 1.96 * o.plain[1][slopes] for o in outcomes])
    line = f"| {task.name} | {task.law} | {task.n} | {task.d} | {task.epsilon:g} | {' | '.join(cells)} | {intercept} "
    counted = covered[LEVELS[-1]][:, slopes]
    line += f"| {plain:.3f} | {width:.2f} | {counted.size} |"
    return Row(task, line, float(counted.mean()), float(plain), counted.size)


def pooled(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the shares over all rows of a kind."""
    yield "\nPooled coverage of 95 % intervals, of means or slopes:\n"
    for held in (False, True):
        for kind in ("mean", "linear", "logistic"):
            part = [found for found in rows if found.task.kind == kind and (found.task.law in HELD_OUT) == held]
            weights = [found.count for found in part]
            ours, plain = (
                np.average([getattr(r, name) for r in part], weights=weights) for name in ("covered", "plain")
            )
            name = f"{kind}{' (held out)' if held else ''}"
            yield f"- {name}: {ours:.3f} ({plain:.3f} not private, {sum(weights)} intervals)"


def page(seeds: int) -> Iterator[str]:
    """Yield the lines of the page."""
    yield "# Coverage of confidence intervals\n"
    yield (
        f"`make bench-coverage`: seeds from {FIRST}, {seeds} of them a row (three eighths of them at n = 100 000, five "
        f"times as many for a single mean), "
        f"δ = {DELTA:g}. The share of\nintervals that cover the truth, of means or slopes and of the intercept; the "
        "share of the intervals of a fit to the same data that is not private; the "
        "median standard error ÷ that of a fit that is\nnot private; and how many intervals were counted. "
        "A coverage of 0.95 from 100 intervals has a standard error of 0.02.\n"
    )
    heads = ("task", "law", "n", "d", "ε", "80 %", "95 %", "intercept, 95 %", "not private, 95 %")
    heads = (*heads, "width ÷ not private", "intervals")
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    rows = []
    with Pool(WORKERS) as pool:
        for found in pool.imap(partial(row, seeds=seeds), tasks()):
            yield found.line
            rows.append(found)
    inside = sum(0.92 <= found.covered <= 0.99 for found in rows)
    yield f"\n{inside} of {len(rows)} rows have a coverage of 95 % intervals within [0.92, 0.99]."
    yield from pooled(rows)


def main() -> None:
    """Print the page as it grows, and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=120)
    parser.add_argument("--print", action="store_true", help="do not write the page")
    options = parser.parse_args()
    lines = []
    for line in page(options.seeds):
        print(line, flush=True)
        lines.append(line)
    if not options.print:
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
