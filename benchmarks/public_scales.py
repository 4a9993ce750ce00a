"""What public scales are worth: tailguard with and without them, beside gradient descent that is told the same.

Scales are the exact means and deviations of the columns and of the target. The other side has the best of twelve clip
norms, steps and rates besides, by its median over the same seeds; both promise the same for replacing one record.
"""

import argparse
import math
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

import tailguard as tg
from benchmarks.datasets.linear import Linear
from benchmarks.datasets.logistic import Logistic
from benchmarks.objective import Budget, Dataset, Drawn, Fit
from benchmarks.solvers.baseline import is_logistic, oracle_units
from benchmarks.solvers.dp_gd import DPGD, ORACLE

__all__ = ["excess", "main", "table"]

TASKS = (
    *(Linear(law, 10_000, d) for law in ("t3", "gaussian", "lognormal1") for d in (5, 20)),
    *(Logistic(law, 10_000, d) for law in ("t3", "gaussian") for d in (5, 20)),
)


def excess(task: Dataset, drawn: Drawn, epsilon: float, seed: int, told: bool) -> float:
    """Return the excess risk of the default estimator ÷ the null model's; a refusal counts as the null model, 1."""
    units, kind = (
        oracle_units(task.task, drawn),
        tg.LogisticRegression if is_logistic(task.task) else tg.LinearRegression,
    )
    target = {} if is_logistic(task.task) else {"target": units.target_scale, "target_centre": units.target_centre}
    scales = tg.Scales(units.scale, centres=units.centre, **target) if told else None
    try:
        model = kind(epsilon=epsilon, delta=1e-6, scales=scales, random_state=seed).fit(drawn.X, drawn.y)
    except tg.BudgetError:
        return 1.0
    return task.measures(drawn, Fit(model.coef_, float(model.intercept_)))["excess"]


def table(
    tasks: Sequence[Dataset], epsilons: Sequence[float], seeds: range
) -> Iterator[tuple[str, float, list[float]]]:
    """Yield (task, ε, medians: without scales, with them, of the best descent that is told them)."""
    for task in tasks:
        drawn = [task.draw(seed) for seed in seeds]
        for epsilon in epsilons:
            budget, pairs = Budget(epsilon, 1e-6), list(zip(seeds, drawn, strict=True))
            ours = [
                np.median([excess(task, data, epsilon, seed, told) for seed, data in pairs]) for told in (False, True)
            ]
            theirs = []
            for variant in ORACLE:
                fits = [DPGD(*variant, "oracle").fit(task.task, data.records(), budget, seed) for seed, data in pairs]
                found = [task.measures(data, fit)["excess"] for (_, data), fit in zip(pairs, fits, strict=True)]
                theirs.append(np.median(np.nan_to_num(found, nan=np.inf)))
            yield task.name, epsilon, [*map(float, ours), float(min(theirs))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=500, help="first seed; 500 to 999 are for development")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.1, 0.2, 0.5])
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    print(f"Median excess risk ÷ the null model's, δ = 1e-6, replace-one, seeds {seeds[0]} to {seeds[-1]}.\n")
    print("| task | ε | without scales | with scales | DP-GD, told scales and best clip norm | ratio of the last two |")
    print("|---|---|---|---|---|---|")
    logs = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, epsilon, (without, ours, theirs) in table(TASKS, options.epsilon, seeds):
            print(
                f"| {name} | {epsilon:g} | {without:.3f} | {ours:.4f} | {theirs:.4f} | {ours / theirs:.2f} |",
                flush=True,
            )
            logs.append(math.log(ours / theirs))
    print(f"\nGeometric mean of the ratios: {math.exp(float(np.mean(logs))):.2f}")


if __name__ == "__main__":
    main()
