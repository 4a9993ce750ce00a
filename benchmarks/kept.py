"""The rows of the kept benchmark, with those of a later run of some of its cells in their places."""

from collections.abc import Collection
from typing import Any

from benchmarks.results import Rows

__all__ = ["merged", "repeats"]


def merged(kept: Rows, new: Rows) -> Rows:
    """Return the kept rows, one a task, method and budget; a new row takes the place of the one that it repeats.

    It may have more seeds, of which those of the row before are the first.

    Parameters
    ----------
    kept, new : list of dict
        Tuned rows of a summary.

    Raises
    ------
    ValueError
        If a new row repeats none, or fewer seeds: then it is no part of the kept plan.
    """
    rows = {_key(row): row for row in kept}
    for row in new:
        before = rows.get(_key(row))
        if before is None or before["seeds"] > row["seeds"]:
            raise ValueError(f"The kept benchmark has no row with only {row['seeds']} seeds for {_key(row)}.")
        rows[_key(row)] = row
    return list(rows.values())


def repeats(kept: Rows, new: Rows, groups: Collection[str]) -> bool:
    """Return whether a run repeats all kept rows of private methods on these groups of tasks, pure budgets apart.

    Parameters
    ----------
    kept, new : list of dict
        Tuned rows of a summary.
    groups : collection of str
        Of tasks.
    """
    wanted = {_key(row) for row in kept if row["group"] in groups and row["delta"] > 0.0}
    return wanted <= {_key(row) for row in new}


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("task", "method", "relation", "epsilon", "delta"))
