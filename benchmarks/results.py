"""Raw rows and their summary: medians, quartiles and numbers of seeds, as CSV."""

import csv
import gzip
import io
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cell import MEASURES

__all__ = ["RAW", "SUMMARY", "Rows", "best", "overspending", "read", "summarise", "write"]

Rows = list[dict[str, Any]]

FACTS = (
    "task",
    "kind",
    "group",
    "n",
    "d",
    "tail",
    "held_out",
    "method",
    "variant",
    "knows",
    "relation",
    "epsilon",
    "delta",
)
COSTS = ("seconds", "peak_mb", "spent_epsilon", "spent_delta")
RAW = (*FACTS, "seed", *MEASURES, *COSTS, "status")
SUMMARY = (
    *FACTS,
    "variants",
    "seeds",
    "status",
    *(f"{name}{part}" for name in ("excess", "r2", "auc") for part in ("", "_low", "_high")),
    *(name for name in MEASURES if name not in ("excess", "r2", "auc")),
    "seconds",
    "peak_mb",
    "calibration",
)
"""`_low` and `_high` are quartiles; `calibration` is the largest recomputed ε ÷ the asked one."""


def summarise(rows: Iterable[dict[str, Any]]) -> Rows:
    """Return a row for each task, method, variant and budget."""
    groups: dict[tuple[Any, ...], Rows] = defaultdict(list)
    for row in rows:
        if not row["status"].startswith("skipped"):
            groups[tuple(row[name] for name in FACTS)].append(row)
    return [_summary(dict(zip(FACTS, facts, strict=True)), group) for facts, group in groups.items()]


def _summary(facts: dict[str, Any], group: Rows) -> dict[str, Any]:
    found = facts | {"variants": 1, "seeds": len(group), "status": _statuses(group)}
    for name in MEASURES:
        values = [row[name] for row in group if row.get(name) is not None]
        if values:
            low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
            found |= {name: float(middle), f"{name}_low": float(low), f"{name}_high": float(high)}
    for name in ("seconds", "peak_mb"):
        found[name] = float(np.median([row.get(name) or 0.0 for row in group]))
    spent = [row["spent_epsilon"] for row in group if row.get("spent_epsilon") is not None]
    found["calibration"] = max(spent) / facts["epsilon"] if spent and math.isfinite(facts["epsilon"]) else None
    return found


def _statuses(group: Rows) -> str:
    counts = Counter(row["status"] for row in group)
    return " ".join(f"{count} {status}" for status, count in sorted(counts.items()) if status != "ok") or "ok"


def best(summary: Rows) -> Rows:
    """Return one row for each task, method and budget: of several variants, the one with the best median excess.

    Choosing it takes the answer; `knows` then says so, and `variants` how many there were. A variant that spends more
    than asked is taken only where all do.
    """
    groups: dict[tuple[Any, ...], Rows] = defaultdict(list)
    for row in summary:
        groups[row["task"], row["method"], row["relation"], row["epsilon"], row["delta"]].append(row)
    return [_tuned(group) for group in groups.values()]


def _tuned(group: Rows) -> dict[str, Any]:
    honest = [row for row in group if not overspending([row])]
    chosen = min(honest or group, key=lambda row: row["excess"])
    if len(group) == 1:
        return chosen
    told = [] if chosen["knows"] in ("nothing", "") else [chosen["knows"]]
    return chosen | {"variants": len(group), "knows": "; ".join([*told, f"the best of {len(group)} variants"])}


def overspending(rows: Rows) -> str:
    """Return "spends more than asked: …" for rows of which one does, as recomputed by us; "" for honest ones.

    Such a row is shown with these words only, and is never the best peer. Rounding of searches is forgiven.
    """
    worst = max((row.get("calibration") or 0.0 for row in rows), default=0.0)
    return "" if worst <= 1.0 + 1e-6 else f"spends more than asked: {worst:.3g} ε"


def write(path: Path, rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    """Write a CSV (compressed, if its name ends so), numbers with five digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def read(path: Path) -> Rows:
    """Return the rows of a CSV; numbers as numbers, and no entry for an empty cell."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return [
        {name: _value(name, cell) for name, cell in row.items() if cell != "" or name in FACTS}
        for row in csv.DictReader(io.StringIO(text))
    ]


def _value(name: str, cell: str) -> Any:
    if name == "held_out":
        return cell == "True"
    if name in ("n", "d", "seed", "seeds", "variants"):
        return int(cell)
    words = name in FACTS and name not in ("epsilon", "delta")
    return cell if words or name == "status" else float(cell)
