"""`make bench-wide`: dense and sparse recipes in many dimensions against w = 0 and the non-private fit, in one run."""

import argparse
import os
import platform
import resource
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np

import tailguard as tg
from benchmarks.datasets.wide import DESIGNS, HELD_OUT, Design, non_private
from tailguard.domains import Sparse

SIZES = {"figure 1b": (10_000, 90_000), "figure 5b": (10_000, 90_000)}
FIGURES, OTHERS = (10_000, 50_000), (10_000,)
"""Numbers of rows of each design: as given, of the other figures, of all others."""

LIMITS = {
    ("figure 1b", 90_000): 0.0010,
    ("figure 5b", 90_000): 0.0005,
    ("figure 7b", 50_000): 0.0012,
}
GAPS = {("figure 10b", 50_000): 0.004}
"""Largest risk, and largest distance to the non-private fit, that each may have."""

PHASES = tuple((n, epsilon) for n in (1000, 2000, 5000) for epsilon in (0.5, 1.0, 2.0, 4.0))
PHASE_SEEDS = 3
RESULTS = Path(__file__).parents[1] / "docs" / "results" / "wide.md"


def model(design: Design, n: int, epsilon: float, seed: int) -> tg.LinearRegression | tg.LogisticRegression:
    """Return the estimator; δ = n^−1.1, as in the paper."""
    method = "centred_descent" if design.sparsity is None else "sparse_rounds"
    domain = None if design.sparsity is None else Sparse(design.d, sparsity=design.sparsity)
    options = {"epsilon": epsilon, "delta": n**-1.1, "method": method, "domain": domain, "random_state": seed}
    return tg.LogisticRegression(**options) if design.noise == "classes" else tg.LinearRegression(**options)


def row(design: Design, n: int, epsilon: float, seeds: range) -> str:
    """Return a line of the table: medians of the risk, ours, of w = 0 and of the non-private fit."""
    ours, zero, free, seconds = [], [], [], []
    for seed in seeds:
        drawn = design.draw(n, seed)
        start = time.perf_counter()
        fitted = model(design, n, epsilon, seed).fit(drawn.X, drawn.y)
        seconds.append(time.perf_counter() - start)
        ours.append(drawn.risk(np.ravel(fitted.coef_), float(np.ravel(fitted.intercept_)[0])))
        zero.append(drawn.null())
        free.append(non_private(design, drawn))
    risk, null, best = (float(np.median(values)) for values in (ours, zero, free))
    quartiles = " … ".join(f"{value:.2g}" for value in np.quantile(ours, (0.25, 0.75)))
    limit = LIMITS.get((design.name, n), best + GAPS[design.name, n] if (design.name, n) in GAPS else null)
    verdict = "yes" if risk <= limit else "**no**"
    return (
        f"| {design.name} | {n} | {risk:.3g} | {quartiles} | {null:.3g} | {best:.3g} | {risk - best:.2g} | "
        f"{limit:.3g} | {verdict} | {np.median(seconds):.1f} |"
    )


def phase(n: int, epsilon: float, seeds: range, d: int = 20_000, sparsity: int = 10) -> str:
    """Return a line on d = 20 000 columns: how much of the support is found, how fast, and in how much memory."""
    recalls, risks, seconds = [], [], []
    for seed in seeds:
        rng = np.random.default_rng([seed, n, d])
        X = rng.standard_normal((n, d))
        support = rng.choice(d, sparsity, replace=False)
        w = np.zeros(d)
        w[support] = rng.choice([-1.0, 1.0], sparsity) / np.sqrt(sparsity)
        y = X @ w + 0.5 * rng.standard_normal(n)
        start = time.perf_counter()
        try:
            fitted = tg.LinearRegression(
                epsilon=epsilon, method="sparse_rounds", domain=Sparse(d, sparsity=sparsity), random_state=seed
            ).fit(X, y)
        except tg.errors.BudgetError:
            return f"| {n} | {epsilon:g} | refused | | | |"
        seconds.append(time.perf_counter() - start)
        recalls.append(float(np.mean(fitted.coef_[support] != 0.0)))
        risks.append(float(np.sum((fitted.coef_ - w) ** 2)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return (
        f"| {n} | {epsilon:g} | {np.mean(recalls):.2f} | {np.median(risks):.3g} | "
        f"{np.median(seconds):.1f} | {peak:.2f} |"
    )


def table(sizes: tuple[int, ...], epsilon: float, seeds: range) -> Iterator[str]:
    """Yield the page."""
    yield f"Medians over seeds {seeds.start}–{seeds.stop - 1}, ε = {epsilon:g}, δ = n^−1.1, no oracle. Risk: excess"
    yield "over the truth (figure 10b: regularised log loss on 20 000 fresh records, minus that of the truth)."
    for title, designs in (("Constants chosen on these, with other seeds", DESIGNS), ("Held out", HELD_OUT)):
        yield f"\n## {title}\n"
        yield "| design | n | risk | quartiles | w = 0 | non-private | gap | limit | met | seconds |"
        yield "|---|---|---|---|---|---|---|---|---|---|"
        for design in designs:
            usual = FIGURES if design.name.startswith("figure") else OTHERS
            for n in sizes or SIZES.get(design.name, usual):
                yield row(design, n, epsilon, seeds)
    yield "\n## The phase change: d = 20 000, 10 equal coefficients, signal 4 × noise\n"
    yield "| n | ε | recall | risk (w = 0: 1) | seconds | peak memory so far, GB |"
    yield "|---|---|---|---|---|---|"
    for n, budget in PHASES:
        yield phase(n, budget, seeds[:PHASE_SEEDS])


def main() -> None:
    """Print the table and keep it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=52_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=(), help="rows of every design, instead of its own")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    machine = f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
    lines = ["# Many dimensions", "", f"`python -m benchmarks.wide`, {machine}, tailguard {version('tailguard')}.", ""]
    for line in table(tuple(options.sizes), options.epsilon, range(options.first, options.first + options.seeds)):
        print(line, flush=True)
        lines.append(line)
    options.out.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
