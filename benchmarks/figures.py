"""`python -m benchmarks.figures`: the kept tables of rates, means and many columns as pictures in one style."""

import csv
import re
from collections import defaultdict
from pathlib import Path

from benchmarks.plot import Bar, Curve, bars, curves, document

__all__ = ["FIGURES", "main"]

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"
LOOKS = {"risk": "ours", "w = 0": "peer", "non-private": "free"}


def rates() -> str:
    """Return median errors on the papers' hard instances against n."""
    with (RESULTS / "rates.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["instance"] == "proof's q"]
    groups: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        name = f"{row['method']} ({row['parameters']}), p = {float(row['order']):g}, d = {row['d']}"
        groups[f"{name}: theorem {float(row['theorem']):.2f}"].append(row)
    lines = [
        Curve(
            Bar(name, 1.0, look="ours" if "practical" in name else "peer"),
            tuple((float(row["n"]), float(row["median"])) for row in group),
        )
        for name, group in groups.items()
    ]
    return curves("Errors on the hard instances of the theorems", lines, "median error", over="n")


def means() -> str:
    """Return the errors of mean recipes ÷ those of clipping tuned by an oracle."""
    text = (RESULTS / "means.txt").read_text("utf-8")
    heads = next(line for line in text.splitlines() if line.startswith("   d       n"))
    names = re.findall(r"(\S+ [pt]|sample mean)(?=\s|$)", heads)
    values = next(line for line in text.splitlines() if line.startswith("all")).split()[4:]
    words = {"p": "practical", "t": "theorem"}
    entries = []
    for name, value in zip(names, values, strict=True):
        if value == "nan":
            continue
        recipe, kind = name.rsplit(" ", 1)
        told = "the true second moment" if kind == "t" else ""
        label = f"{recipe} ({words[kind]})" if kind in words else name
        look = "free" if name == "sample mean" else "ours" if kind == "p" else "peer"
        entries.append(Bar(label, float(value), told=told, look=look))
    entries.sort(key=lambda entry: entry.value)
    return bars("Means, ε ≥ 0.5: error ÷ ℓ2 clipping tuned by an oracle", entries, "geometric mean")


def wide() -> str:
    """Return risks in many dimensions."""
    entries = []
    heads: list[str] = []
    for line in (RESULTS / "wide.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "design":
            heads = cells
        elif line.startswith("|") and heads and cells[0] not in ("n", "---") and len(cells) == len(heads):
            row = dict(zip(heads, cells, strict=True))
            entries += [
                Bar(f"{row['design']}, n = {row['n']}" if name == "risk" else name, value, look=look)
                for name, look in LOOKS.items()
                if (value := float(row[name])) > 0.0
            ]
    return bars("Many columns, ε = 1: excess risk", entries, "excess risk")


FIGURES = {"rates.svg": rates, "means.svg": means, "wide.svg": wide}
"""Pictures by file name."""


def main() -> None:
    """Draw all of them."""
    for name, draw in FIGURES.items():
        (RESULTS / name).write_text(document(draw()), "utf-8")


if __name__ == "__main__":
    main()
