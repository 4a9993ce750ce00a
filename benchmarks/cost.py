"""How long a run will take on idle cores: each solver's cost of a small fit, grown with records and columns."""

from collections.abc import Sequence

from benchmarks.plan import Unit
from benchmarks.solvers import solvers

__all__ = ["estimate"]

USUAL, OVERHEAD = 0.015, 0.01
"""Seconds of a fit to 10 000 records of 20 columns by a solver that does not say its `cost`, and to judge any fit."""


def estimate(units: Sequence[Unit]) -> float:
    """Return the expected seconds of one process.

    Parameters
    ----------
    units : sequence of Unit
        What is left to run.
    """
    costs = {solver.key: getattr(solver, "cost", USUAL) for solver in solvers()}
    return sum(
        costs.get(key, USUAL) * _size(unit.dataset.n, unit.dataset.d) + OVERHEAD
        for unit in units
        for key, _ in unit.cells
    )


def _size(n: int, d: int) -> float:
    """Return the growth of the cost: half of it is fixed at the usual size."""
    return 0.5 + 0.5 * n * d / 200_000
