"""How long a run will take: from the seconds of the last kept run, or from a guess."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.plan import Unit
from benchmarks.results import read
from benchmarks.solvers import solvers

__all__ = ["estimate"]

OVERHEAD = 0.01
"""Seconds to judge a fit and to write its row."""

GUESS = 0.02
"""Seconds of a fit to 10 000 records by a solver that does not say its own cost."""


def estimate(units: Sequence[Unit], kept: Path) -> float:
    """Return the expected seconds of one process.

    Parameters
    ----------
    units : sequence of Unit
        What is left to run.
    kept : Path
        Summary of an earlier run; a method that is not in it is guessed.
    """
    guesses = {solver.key: getattr(solver, "cost", GUESS) for solver in solvers()}
    known: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in read(kept) if kept.exists() else []:
        known[row["method"], row["group"]].append(row.get("seconds", 0.0) / _size(row["n"]))
    seconds = 0.0
    for unit in units:
        for key, _ in unit.cells:
            found = known.get((key.split("|")[0], unit.dataset.group))
            rate = float(np.mean(found)) if found else guesses.get(key, GUESS)
            seconds += rate * _size(unit.dataset.n) + OVERHEAD
    return seconds


def _size(n: int) -> float:
    """Return the growth of the cost from 10 000 records: a fixed part, and one in n."""
    return 0.5 + 0.5 * n / 10_000
