"""How long a run will take: from the seconds of the last kept run, or from a guess."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.plan import Unit
from benchmarks.results import read

__all__ = ["estimate"]

GUESS = {False: 0.02, True: 0.25}
"""Seconds of a fit to 10 000 records, without and with privacy."""


def estimate(units: Sequence[Unit], kept: Path) -> float:
    """Return the expected seconds of one process.

    Parameters
    ----------
    units : sequence of Unit
        What is left to run.
    kept : Path
        Summary of an earlier run; a method that is not in it is guessed.
    """
    known: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in read(kept) if kept.exists() else []:
        known[row["method"], row["kind"]].append(row.get("seconds", 0.0) / _size(row["n"]))
    seconds = 0.0
    for unit in units:
        for key, budget in unit.cells:
            found = known.get((key.split("|")[0], unit.dataset.task))
            rate = float(np.mean(found)) if found else GUESS[np.isfinite(budget.epsilon)]
            seconds += rate * _size(unit.dataset.n) + 0.01
    return seconds


def _size(n: int) -> float:
    """Return the growth of the cost from 10 000 records: a fixed part, and one in n."""
    return 0.5 + 0.5 * n / 10_000
