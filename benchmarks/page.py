"""The results page: one HTML file with plots and tables, nothing fetched from anywhere."""

import math
from collections import defaultdict
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import results
from benchmarks.plot import EASIER, STYLE, TOLD, Bar, Curve, bars, curves, number
from benchmarks.targets import OURS, private

if TYPE_CHECKING:
    from benchmarks.cli import About

__all__ = ["page"]

GROUPS = {
    "linear": "Linear regression",
    "skewed": "Linear regression with skewed heteroscedastic noise",
    "logistic": "Logistic regression",
    "mean": "Means",
    "sparse": "Sparse regression",
    "real": "Real data",
}
SCORES = {"r2": "R²", "auc": "AUC", "median_error": "median error", "trimmed_error": "trimmed error"}
"""Shown beside the risk of real data; errors are relative to the null model's."""

SHOWN = ((0.5, 1e-6), (1.0, 1e-6), (2.0, 1e-6), (1.0, 0.0))
"""Budgets that have tables of their own; all others are in the CSV file."""

CSS = """
body { margin: 2rem auto; max-width: 76rem; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif;
  color: var(--ink); background: var(--back); }
h1, h2, h3 { line-height: 1.2; } svg { width: 100%; max-width: 72rem; height: auto; margin: 0.5rem 0 1rem; }
table { border-collapse: collapse; font-size: 0.82rem; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: 0.2rem 0.6rem; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } .wide { overflow-x: auto; }
td small { color: var(--soft); } td.best { font-weight: 700; } .soft { color: var(--soft); }
pre { background: var(--panel); padding: 0.8rem; overflow-x: auto; font-size: 0.8rem; white-space: pre-wrap; }
details { margin: 0.5rem 0 1rem; } summary { cursor: pointer; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1rem; font-size: 0.9rem; }
dt { font-weight: 600; } dd { margin: 0; }
"""

INTRODUCTION = f"""
<p>Excess: excess risk over the truth's ÷ the null model's (0: the truth, 1: learned nothing); for means the error in
standard errors of the sample mean; for real data the held-out risk ÷ the null model's. Medians over seeds; geometric
means over tasks. A method that diverges counts as its value; one that refuses answers with the null model. Whiskers and
ranges are quartiles. Development tasks are those on which recipes were tuned, with other seeds; nothing was ever chosen
on held-out ones.</p>
<p>{TOLD} and a pale bar: the method was told what a user would not know, as written; of a method with variants (clip
norms, radii) the best median is shown, which takes the answer, and with few seeds the luck of the draw as well.
{EASIER} and a dashed edge: its noise is calibrated for adding or removing one record, an easier relation than replacing
one, which all others protect.</p>
"""


def page(summary: results.Rows, statements: Sequence[str], about: "About", cells: int) -> str:
    """Return the page.

    Parameters
    ----------
    summary : list of dict
        Medians and quartiles, variants apart.
    statements : sequence of str
        What the run says in words.
    about : About
        How the numbers were made.
    cells : int
        Number of fits.
    """
    rows = results.best(summary)
    facts = {"command": about.command, "fits": str(cells), **about.facts}
    terms = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    skipped = "".join(f"<li>{escape(name)}: {escape(reason)}</li>" for name, reason in about.skipped.items())
    body = [
        "<h1>Benchmark</h1>",
        INTRODUCTION,
        f"<dl>{terms}</dl>",
        f"<p>Skipped:</p><ul>{skipped}</ul>" if skipped else "",
        "<h2>In short</h2>",
        f"<pre>{escape(chr(10).join(statements))}</pre>",
        *(_part(rows, held_out) for held_out in (False, True)),
        _calibration(summary),
        _costs(rows),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Benchmark</title>'
    head += f"<style>{STYLE}{CSS}</style>"
    return f"<!doctype html><html lang='en'><head>{head}</head><body>{''.join(body)}</body></html>"


def _part(rows: results.Rows, held_out: bool) -> str:
    part = [row for row in rows if row["held_out"] == held_out]
    if not part:
        return ""
    sections = [_section(title, [row for row in part if row["group"] == group]) for group, title in GROUPS.items()]
    return f"<h2>{'Held-out' if held_out else 'Development'} tasks</h2>" + "".join(sections)


def _section(title: str, rows: results.Rows) -> str:
    if not rows:
        return ""
    plots = [_bars(rows, *budget) for budget in SHOWN]
    lines = [_curves(rows, pure) for pure in (False, True)]
    tables = [_table(rows, *budget) for budget in SHOWN]
    details = f"<details><summary>Every task</summary>{''.join(tables)}</details>"
    return "".join([f"<h3>{title}</h3>", *plots, *lines, details])


def _words(epsilon: float, delta: float) -> str:
    return f"ε = {epsilon:g}, " + (f"δ = {delta:g}" if delta else "pure")


def _name(row: dict[str, Any]) -> str:
    easier = row["relation"] == "add-or-remove-one" and not row["method"].endswith(("relation", "(add-remove)"))
    return row["method"] + (" (add-remove)" if easier else "")


def _look(row: dict[str, Any]) -> str:
    if not private(row):
        return "free"
    return "peer" if row["method"] != OURS else "ours"


def _at(rows: results.Rows, epsilon: float, delta: float) -> results.Rows:
    return [row for row in rows if not private(row) or (row["epsilon"], row["delta"]) == (epsilon, delta)]


def _by_method(rows: results.Rows) -> dict[str, results.Rows]:
    found: dict[str, results.Rows] = defaultdict(list)
    for row in rows:
        found[_name(row)].append(row)
    return found


def _mean(rows: results.Rows, column: str = "excess") -> float:
    return float(np.exp(np.mean([math.log(max(row[column], 1e-9)) for row in rows])))


def _entry(name: str, rows: results.Rows, tasks: int) -> Bar:
    told = sorted({row["knows"] for row in rows if row["knows"] not in ("", "nothing")}, key=len)
    refused = sum("refused" in row["status"] for row in rows)
    notes = [f"{len(rows)} of {tasks} tasks"] if len(rows) < tasks else []
    notes += [f"refused {refused}"] if refused else []
    notes += [results.overspending(rows)] if results.overspending(rows) else []
    return Bar(
        name,
        _mean(rows),
        (_mean(rows, "excess_low"), _mean(rows, "excess_high")),
        told[-1] if told else "",
        rows[0]["relation"] == "add-or-remove-one",
        _look(rows[0]),
        f"({', '.join(notes)})" if notes else "",
    )


def _bars(rows: results.Rows, epsilon: float, delta: float) -> str:
    found = _at(rows, epsilon, delta)
    if not any(private(row) for row in found):
        return ""
    tasks = len({row["task"] for row in found if private(row)})
    covered = {row["task"] for row in found if private(row)}
    groups = _by_method([row for row in found if row["task"] in covered])
    entries = sorted((_entry(name, group, tasks) for name, group in groups.items()), key=lambda entry: entry.value)
    return bars(f"{_words(epsilon, delta)}: {tasks} tasks", entries, "excess")


def _curves(rows: results.Rows, pure: bool) -> str:
    found = [row for row in rows if private(row) and (row["delta"] == 0.0) == pure]
    lines = []
    for name, group in _by_method(found).items():
        by_epsilon: dict[float, results.Rows] = defaultdict(list)
        for row in group:
            by_epsilon[row["epsilon"]].append(row)
        points = tuple((epsilon, _mean(part)) for epsilon, part in sorted(by_epsilon.items()))
        lines.append(Curve(_entry(name, group, 0), points))
    if len({epsilon for line in lines for epsilon, _ in line.points}) < 3:
        return ""
    return curves(f"Excess against ε, {'pure' if pure else 'δ > 0'}", lines, "geometric mean of the excess")


def _table(rows: results.Rows, epsilon: float, delta: float) -> str:
    found = _at(rows, epsilon, delta)
    if not any(private(row) for row in found):
        return ""
    methods = sorted({_name(row) for row in found}, key=[_name(row) for row in found].index)
    tasks: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in found:
        tasks[row["task"]][_name(row)] = row
    heads = "".join(f"<th>{escape(head)}</th>" for head in ("task", "tail", "seeds", *methods))
    lines = "".join(_line(task, cells, methods) for task, cells in tasks.items() if OURS in cells)
    return f"<h4>{_words(epsilon, delta)}</h4><div class='wide'><table><tr>{heads}</tr>{lines}</table></div>"


def _line(task: str, cells: dict[str, dict[str, Any]], methods: Sequence[str]) -> str:
    ours = cells[OURS]
    least = min(row["excess"] for row in cells.values() if private(row) and not results.overspending([row]))
    parts = [f"<td>{escape(task)}</td><td>{escape(ours['tail'])}</td><td>{ours['seeds']}</td>"]
    for name in methods:
        row = cells.get(name)
        parts.append(f"<td{_best(row, least)}>{_cell(row)}</td>" if row else "<td>–</td>")
    return f"<tr>{''.join(parts)}</tr>"


def _best(row: dict[str, Any], least: float) -> str:
    return " class='best'" if private(row) and row["excess"] == least else ""


def _cell(row: dict[str, Any]) -> str:
    told = TOLD if row["knows"] not in ("", "nothing") else ""
    status = "".join(f" {words}" for words in (row["status"], results.overspending([row])) if words not in ("ok", ""))
    scores = [
        f" {label} {number(row[name])}" for name, label in SCORES.items() if name in row and row["group"] == "real"
    ]
    quartiles = f"{number(row['excess_low'])}–{number(row['excess_high'])}"
    return f"{number(row['excess'])}{told} <small>{quartiles}{escape(''.join(scores) + status)}</small>"


def _calibration(summary: results.Rows) -> str:
    lines = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(rows[0]['relation'])}</td>"
        f"<td>{escape(' / '.join(sorted({row['knows'] for row in rows})))}</td><td>{_calibrations(rows)}</td></tr>"
        for name, rows in _by_method([row for row in summary if private(row)]).items()
    )
    heads = "<tr><th>method</th><th>relation</th><th>told</th><th>recomputed ε ÷ asked ε</th></tr>"
    return f"<h2>Calibration</h2><div class='wide'><table>{heads}{lines}</table></div>"


def _calibrations(rows: results.Rows) -> str:
    found = [row["calibration"] for row in rows if row.get("calibration") is not None]
    return f"{min(found):.3f} – {max(found):.3f}" if found else "not recomputed"


def _costs(rows: results.Rows) -> str:
    sizes = sorted({(row["n"], row["d"]) for row in rows if row["group"] in ("linear", "logistic")})
    heads = "".join(f"<th>n = {n}, d = {d}</th>" for n, d in sizes)
    lines = []
    for name, group in _by_method([row for row in rows if row["group"] in ("linear", "logistic")]).items():
        cells = "".join(f"<td>{_cost([row for row in group if (row['n'], row['d']) == size])}</td>" for size in sizes)
        lines.append(f"<tr><td>{escape(name)}</td>{cells}</tr>")
    note = "<p>Median seconds of a fit and megabytes by which it raised the memory of its process.</p>"
    table = f"<table><tr><th>method</th>{heads}</tr>{''.join(lines)}</table>"
    return f"<h2>Time and memory</h2>{note}<div class='wide'>{table}</div>"


def _cost(rows: results.Rows) -> str:
    if not rows:
        return "–"
    seconds, peak = (float(np.median([row.get(name, 0.0) for row in rows])) for name in ("seconds", "peak_mb"))
    return f"{number(seconds)} s <small>{peak:.0f} MB</small>"
