"""The best peer of a task without the luck of the draw: for every seed, the variant that is best on the other seeds.

The best median of a dozen variants is that of the luckiest one, and the fewer seeds, the luckier. An oracle that knows
a task, but not the noise to come, does as well as what is computed here.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping

import numpy as np

from benchmarks.results import Rows

__all__ = ["chosen_on_others"]

LEAST_SEEDS = 3
"""Fewer of them leave next to nothing to choose on."""

Variant = tuple[str, str]


def chosen_on_others(raw: Rows, allowed: Collection[tuple[str, str, str]]) -> dict[str, float]:
    """Return each task's median excess of the variants that are best on the other seeds.

    Parameters
    ----------
    raw : list of dict
        One row a task, variant and seed, of one budget and relation.
    allowed : collection of (str, str, str)
        Task, method and variant of what may be chosen.
    """
    tasks: dict[str, dict[Variant, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in raw:
        if row.get("excess") is not None and (row["task"], row["method"], row["variant"]) in allowed:
            tasks[row["task"]][row["method"], row["variant"]][row["seed"]] = row["excess"]
    found = {task: _crossed(variants) for task, variants in tasks.items()}
    return {task: float(np.median(values)) for task, values in found.items() if len(values) >= LEAST_SEEDS}


def _crossed(variants: Mapping[Variant, Mapping[int, float]]) -> list[float]:
    """Return, for each seed, the excess of the variant with the best median on the others.

    Variants that were run on fewer seeds, because they are slow, have no part in it.
    """
    seeds = max((sorted(values) for values in variants.values()), key=len)
    if len(seeds) < LEAST_SEEDS:
        return []
    table = np.array([[values[seed] for seed in seeds] for values in variants.values() if set(values) >= set(seeds)])
    others = [np.median(np.delete(table, index, axis=1), axis=1) for index in range(len(seeds))]
    return [float(table[np.argmin(medians), index]) for index, medians in enumerate(others)]
