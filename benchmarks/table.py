"""`make bench-table`: the tables of the README, from the kept summary. Nobody types them; a test compares."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import results, targets
from benchmarks.plot import EASIER, TOLD, number

__all__ = ["README", "SUMMARY", "inserted", "main", "tables"]

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
SUMMARY = ROOT / "docs" / "results" / "benchmark" / "summary.csv"
START, END = "<!-- benchmark tables: start, by `make bench-table` -->", "<!-- benchmark tables: end -->"
GROUPS = ("linear", "skewed", "logistic", "mean", "sparse")
BUDGET = (1.0, 1e-6)
UNKNOWN = ("", "nothing")


def tables(summary: results.Rows) -> str:
    """Return the Markdown tables of a summary."""
    rows = [row for row in results.best(summary) if not targets.private(row) or _budget(row) == BUDGET]
    counts = " and ".join(
        f"{len({row['task'] for row in rows if row['held_out'] == held_out and targets.private(row)})} {name}"
        for held_out, name in ((False, "development"), (True, "held-out"))
    )
    seeds = sorted({row["seeds"] for row in rows if row["method"] == targets.OURS})
    return "\n".join(
        [
            f"ε = {BUDGET[0]:g}, δ = {BUDGET[1]:g}; {counts} tasks, medians over {seeds[0]} to {seeds[-1]} seeds. "
            "Excess risk of each method ÷ tailguard's on the same tasks, geometric means: development / held out. "
            f"Above 1, tailguard is better. {TOLD}: told what a user would not know. {EASIER}: noise for adding or "
            "removing one record, an easier relation than ours.",
            "",
            *_comparison(rows),
            "",
            "Real data, held-out R² or AUC:",
            "",
            *_real(rows),
        ]
    )


def _budget(row: dict[str, Any]) -> tuple[float, float]:
    return row["epsilon"], row["delta"]


def _comparison(rows: results.Rows) -> Iterator[str]:
    yield "| method | told | " + " | ".join(GROUPS) + " |"
    yield "|---|---|" + "---|" * len(GROUPS)
    yield _own(rows)
    names = sorted({(row["method"], row["relation"]) for row in rows if row["method"] != targets.OURS})
    lines = [(_order(rows, name), _line(rows, *name)) for name in names]
    yield from (line for _, line in sorted(lines) if line)


def _order(rows: results.Rows, name: tuple[str, str]) -> tuple[bool, float]:
    """Return a sort key: references first, then by how near a method comes."""
    mine = [row for row in rows if (row["method"], row["relation"]) == name]
    near = targets.geometric([ratio for group in GROUPS for ratio in _ratios(rows, name, group)])
    return targets.private(mine[0]), near if math.isfinite(near) else math.inf


def _ratios(
    rows: results.Rows, name: tuple[str, str], group: str, held_out: bool | None = None
) -> list[tuple[str, float]]:
    """Return the method's excess ÷ ours on each task of the group that has both."""
    part = [row for row in rows if row["group"] == group and held_out in (None, row["held_out"])]
    found = targets.ratios(part, *BUDGET, lambda row: (row["method"], row["relation"]) == name)
    return [(task, 1.0 / ratio) for task, ratio in found if ratio > 0.0]


def _line(rows: results.Rows, method: str, relation: str) -> str:
    mine = [row for row in rows if (row["method"], row["relation"]) == (method, relation)]
    told = sorted({row["knows"] for row in mine if row["knows"] not in UNKNOWN}, key=len)
    name = f"{method}{f' {EASIER}' if relation == 'add-or-remove-one' else ''}"
    name += "".join(f" ({words})" for words in [results.overspending(mine)] if words)
    cells = [_cell(rows, (method, relation), group) for group in GROUPS]
    if all(cell == "–" for cell in cells):
        return ""
    return f"| {name} | {_told(told[-1], mine) if told else '–'} | " + " | ".join(cells) + " |"


def _told(words: str, rows: results.Rows) -> str:
    """Return the first thing that a method was told, and how many variants the answer chose among."""
    count = max(row["variants"] for row in rows)
    first, *_ = words.split("; ")
    return f"{TOLD} {first}" + (f"; best of {count}" if count > 1 and not first.startswith("the best of") else "")


def _own(rows: results.Rows) -> str:
    """Return the line of our own excess, by which the others are divided."""
    cells = []
    for group in GROUPS:
        parts = []
        for held_out in (False, True):
            found = [
                (row["task"], row["excess"])
                for row in rows
                if (row["method"], row["group"], row["held_out"]) == (targets.OURS, group, held_out)
            ]
            parts.append(number(targets.geometric(found)) if found else "–")
        cells.append("–" if parts == ["–", "–"] else " / ".join(parts))
    return "| *tailguard: the excess itself* | – | " + " | ".join(cells) + " |"


def _cell(rows: results.Rows, name: tuple[str, str], group: str) -> str:
    parts = [targets.geometric(_ratios(rows, name, group, held_out)) for held_out in (False, True)]
    if all(math.isnan(part) for part in parts):
        return "–"
    return " / ".join("–" if math.isnan(part) else _short(part) for part in parts)


def _short(value: float) -> str:
    return f"{value:.2g}" if 0.01 <= value < 99.5 else f"{value:.0f}" if 1.0 < value < 1e4 else f"{value:.0e}"


def _real(rows: results.Rows) -> Iterator[str]:
    yield "| data | n | d | | tailguard | not private | best peer told nothing | best peer |"
    yield "|---|---|---|---|---|---|---|---|"
    found = [row for row in rows if row["group"] == "real"]
    for task in dict.fromkeys(row["task"] for row in found):
        mine = [row for row in found if row["task"] == task]
        ours = next((row for row in mine if row["method"] == targets.OURS), None)
        if ours is not None:
            yield _real_line(task, ours, mine)


def _real_line(task: str, ours: dict[str, Any], rows: results.Rows) -> str:
    score = "auc" if "auc" in ours else "r2"
    free = next((row for row in rows if row["method"] == targets.REFERENCE), None)
    peers = [row for row in rows if targets.peers(row)]
    blind = [row for row in peers if row["knows"] in UNKNOWN and row["relation"] == "replace-one"]
    cells = [
        task.removeprefix("real ") + (" *(held out)*" if ours["held_out"] else ""),
        str(ours["n"]),
        str(ours["d"]),
        "AUC" if score == "auc" else "R²",
        _score(ours, score, name=False),
        _score(free, score, name=False),
        *(_score(max(part, key=lambda row: row[score], default=None), score, name=True) for part in (blind, peers)),
    ]
    return "| " + " | ".join(cells) + " |"


def _score(row: dict[str, Any] | None, score: str, name: bool) -> str:
    if row is None:
        return "–"
    mark = (TOLD if row["knows"] not in UNKNOWN else "") + (EASIER if row["relation"] == "add-or-remove-one" else "")
    refused = " refused" if "refused" in row["status"] else ""
    value = number(row[score]) if abs(row[score]) < 10.0 else f"{row[score]:.0e}"
    return f"{value}{refused}" + (f" ({row['method']}{f' {mark}' if mark else ''})" if name else "")


def inserted(text: str, found: str) -> str:
    """Return a document with the tables between its markers."""
    before, rest = text.split(START)
    _, after = rest.split(END)
    return f"{before}{START}\n{found}\n{END}{after}"


def main() -> None:
    """Write the tables into the README."""
    README.write_text(inserted(README.read_text("utf-8"), tables(results.read(SUMMARY))), "utf-8")


if __name__ == "__main__":
    main()
