"""What the whole run says: geometric means against references without privacy and against the best peer."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import real
from benchmarks.oracle import chosen_on_others
from benchmarks.results import Rows, overspending

__all__ = ["OURS", "Ratio", "lines", "peers", "ratios", "tuned_lines"]

OURS, REFERENCE, NULL = "tailguard", "non-private", "private null"
EPSILONS = (0.1, 0.5, 1.0, 2.0, 8.0)
DELTA = 1e-6
AIMS = {"linear": (2.5, 1.3, 0.7), "logistic": (3.5, 2.1, 1.5), "skewed": (4.0, 2.5, 1.5)}
"""Excess ÷ non-private to stay below at ε = 0.5, 1 and 2."""

PEER_AIMS = {"linear": 0.5, "logistic": 0.7}
SIZES = {(n, d) for n in (10_000, 100_000) for d in (5, 20)}

Ratio = tuple[str, float]


def private(row: dict[str, Any]) -> bool:
    """Return whether a row is of a private method."""
    return math.isfinite(row["epsilon"])


def is_pure(row: dict[str, Any]) -> bool:
    """Return whether a row is of a private method with a pure budget."""
    return private(row) and row["delta"] == 0.0


def peers(row: dict[str, Any]) -> bool:
    """Return whether a row is of somebody else's private method, and that method spends no more than it was given."""
    return private(row) and not overspending([row]) and not row["method"].startswith(OURS) and row["method"] != NULL


def ratios(rows: Rows, epsilon: float, delta: float, pick: Callable[[dict[str, Any]], bool]) -> list[Ratio]:
    """Return ours ÷ the best picked method, for each task that has both."""
    budget = (epsilon, delta)
    ours = {row["task"]: row["excess"] for row in rows if row["method"] == OURS and _budget(row) == budget}
    others: dict[str, float] = {}
    for row in rows:
        if pick(row) and (not private(row) or _budget(row) == budget):
            others[row["task"]] = min(row["excess"], others.get(row["task"], math.inf))
    return [(task, value / others[task]) for task, value in ours.items() if others.get(task, 0.0) > 0.0]


def _budget(row: dict[str, Any]) -> tuple[float, float]:
    return row["epsilon"], row["delta"]


def geometric(found: Sequence[Ratio]) -> float:
    """Return the geometric mean of ratios; NaN without any."""
    return float(np.exp(np.mean([math.log(max(ratio, 1e-12)) for _, ratio in found]))) if found else math.nan


def lines(rows: Rows) -> Iterator[str]:
    """Yield the statements, development and held-out tasks apart.

    Parameters
    ----------
    rows : list of dict
        One row a task, method and budget.
    """
    for held_out, title in ((False, "Development tasks"), (True, "Held-out tasks")):
        part = [row for row in rows if row["held_out"] == held_out]
        if part:
            yield f"{title}, δ = {DELTA:g}, medians over seeds"
            yield from _against_reference(part)
            yield from _against_peers(part)
            yield from _against_null(part)
            yield from real.lines(part)
            yield ""
    yield "All tasks"
    yield from _against_peers(rows)


def tuned_lines(variants: Rows, raw: Rows) -> Iterator[str]:
    """Yield what is said against peers that were tuned otherwise than by the answer itself.

    Parameters
    ----------
    variants : list of dict
        One row a task, variant and budget.
    raw : list of dict
        One row a task, variant, budget and seed.
    """
    for held_out, title in ((False, "Development tasks"), (True, "Held-out tasks")):
        part = [row for row in variants if row["held_out"] == held_out]
        if part:
            yield f"{title}, peers tuned on other seeds, or once for all tasks"
            yield from _against_chosen(part, [row for row in raw if row["held_out"] == held_out])
            yield from _against_fixed(part)
            yield ""
    yield "All tasks, peers tuned on other seeds"
    yield from _against_chosen(variants, raw)


def _group(rows: Rows, group: str) -> Rows:
    sizes = SIZES if group in AIMS else None
    return [row for row in rows if row["group"] == group and (sizes is None or (row["n"], row["d"]) in sizes)]


def _against_reference(rows: Rows) -> Iterator[str]:
    for group in ("linear", "logistic", "skewed", "mean", "sparse"):
        cells = []
        for epsilon in EPSILONS:
            found = ratios(_group(rows, group), epsilon, DELTA, lambda row: row["method"] == REFERENCE)
            if found:
                cells.append(f"ε = {epsilon:g}: {geometric(found):.3g} ({len(found)} tasks)")
        aim = f"; aims at ε = 0.5, 1, 2: {', '.join(f'{value:g}' for value in AIMS[group])}" if group in AIMS else ""
        if cells:
            yield f"  excess ÷ non-private, {group}: " + "; ".join(cells) + aim


def _against_peers(rows: Rows) -> Iterator[str]:
    for group in ("linear", "logistic", "skewed", "mean", "sparse", "real"):
        for label, easier in (("any relation", True), ("replace-one alone", False)):
            cells = []
            for epsilon in EPSILONS:
                chosen = [row for row in rows if row["group"] == group]
                pick = peers if easier else lambda row: peers(row) and row["relation"] == "replace-one"
                found = ratios(chosen, epsilon, DELTA, pick)
                if found:
                    worse = sum(ratio > 1.5 for _, ratio in found)
                    cells.append(f"ε = {epsilon:g}: {geometric(found):.3g} (> 1.5 on {worse} of {len(found)})")
            aim = f"; aim ≤ {PEER_AIMS[group]:g}" if group in PEER_AIMS else ""
            if cells:
                yield f"  excess ÷ best peer ({label}), {group}: " + "; ".join(cells) + aim


def _against_chosen(rows: Rows, raw: Rows) -> Iterator[str]:
    """Yield ours ÷ the best peer of each task, chosen for each seed on the other seeds."""
    for group in ("linear", "logistic", "skewed"):
        cells = []
        for epsilon in EPSILONS:
            part = [row for row in rows if row["group"] == group and _budget(row) == (epsilon, DELTA)]
            fair = [row for row in part if peers(row) and row["relation"] == "replace-one"]
            allowed = {(row["task"], row["method"], row["variant"]) for row in fair}
            drawn = [row for row in raw if _budget(row) == (epsilon, DELTA) and row["relation"] == "replace-one"]
            others = chosen_on_others(drawn, allowed)
            ours = {row["task"]: row["excess"] for row in part if row["method"] == OURS}
            found = [(task, value / others[task]) for task, value in ours.items() if task in others]
            if found:
                worse = sum(ratio > 1.5 for _, ratio in found)
                cells.append(f"ε = {epsilon:g}: {geometric(found):.3g} (> 1.5 on {worse} of {len(found)})")
        if cells:
            yield f"  excess ÷ best peer, chosen on the other seeds (replace-one), {group}: " + "; ".join(cells)


def _against_fixed(rows: Rows) -> Iterator[str]:
    """Yield ours ÷ the variant that is best over all tasks of a group: tuned once, not for every task anew."""
    for group in ("linear", "logistic", "skewed"):
        for epsilon in EPSILONS:
            part = [row for row in rows if row["group"] == group and _budget(row) == (epsilon, DELTA)]
            ours = {row["task"]: row["excess"] for row in part if row["method"] == OURS}
            found: dict[tuple[str, str], dict[str, float]] = {}
            for row in part:
                if peers(row) and row["relation"] == "replace-one":
                    found.setdefault((row["method"], row["variant"]), {})[row["task"]] = row["excess"]
            means = {
                name: geometric([(task, ours[task] / excess) for task, excess in values.items()])
                for name, values in found.items()
                if set(values) == set(ours)
            }
            if means:
                name = max(means, key=lambda name: means[name])
                words = f"{group}, ε = {epsilon:g}: {means[name]:.3g} ({' '.join(name).strip()})"
                yield f"  excess ÷ best single variant (replace-one), {words}"


def _against_null(rows: Rows) -> Iterator[str]:
    """Yield the tasks and budgets where ours is worse than a private intercept by more than 5 %."""
    worse, total = [], 0
    for budget in sorted({_budget(row) for row in rows if private(row)}):
        found = ratios(rows, *budget, lambda row: row["method"] == NULL)
        total += len(found)
        worse += [
            f"{task} at ε = {budget[0]:g}, δ = {budget[1]:g} ({ratio:.3g})" for task, ratio in found if ratio > 1.05
        ]
    yield f"  worse than the private null model by more than 5 %: {len(worse)} of {total} cells"
    yield from (f"    {entry}" for entry in worse[:20])
    if len(worse) > 20:
        yield f"    and {len(worse) - 20} more"
