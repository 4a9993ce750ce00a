"""The page of results, made from the tables alone."""

import math
from collections.abc import Sequence
from pathlib import Path

from tailguard.reproduction.figures import FIGURES, Figure
from tailguard.reproduction.methods import METHODS, REFERENCES
from tailguard.reproduction.readings import QUESTIONS, Readings
from tailguard.reproduction.results import Line, load

__all__ = ["FOLDER", "over_n", "page"]

SMALLEST = 1e-7
"""What numerical minimisers leave."""

FOLDER = "hu"
"""Folder of tables and pictures, beside the page."""

HEAD = """# Hu et al. 2022, section 6, measured again

`tailguard reproduce` writes this page from its tables; do not edit it. Settings, distributions and the constants of the
paper's recipes are those of section 6; the grids of ε, d and s\\* are ours, because the text does not give them.
Second lines of the paper's recipes have constants of its theorems and are told the moments that these assume.
δ = n^−1.1. Noise is simulated, so that a seed repeats every number.

- **Excess risk** is the population risk above that of the true minimiser over the paper's domain (with a free
  intercept), computed without privacy from the known distribution: in closed form for the squared loss, by integrals
  for Gaussian logistic regression, else over 40 000 fixed rows (real data: over the whole data set). The squared loss
  is (⟨w, x⟩ − y)², as in the paper. Where the noise is not symmetric its mean belongs to an intercept, which the
  paper's model does not have; then only the coefficients are judged.
- **w = 0** needs no data. The **random start** is where the paper's recipes begin. The **non-private optimum**
  minimises the same records' average loss over the same domain. The **constrained minimiser without intercept** and
  **w\\*** show where the paper's own target lies: for logistic regression, w\\* is not the minimiser.
- The paper's recipes fit no intercept, as in the paper; ours do.
- The paper says that d matters little, that the error falls with n and with ε, and that it grows with s\\*: the second
  table of a figure has these four as ratios of medians.
- Medians over the repetitions, quartiles shaded; a cross at the bottom of a picture is a setting that the plan refused.
"""


def page(folder: Path) -> str:
    """Return the page for the tables in `folder`/hu, figure by figure, in Markdown."""
    parts = [HEAD, _readings()]
    for figure in FIGURES.values():
        table = folder / FOLDER / f"{figure.name}.csv"
        if table.is_file():
            parts.append(_entry(figure, load(table)))
    return "\n".join(part.rstrip() + "\n" for part in parts)


def _readings() -> str:
    rows = [[f"`--{name}`", f"`{getattr(Readings(), name)}`", question] for name, question in QUESTIONS.items()]
    return (
        "## Readings of the text\n\nWhere the text allows several, these options decide.\n\n"
        + markdown(["option", "default", "question"], rows)
        + "\n\nNot options: the printed log-gamma density lacks an exponential and is read as exp(cw − eʷ)/Γ(c); "
        "figure 6(b) varies n and ε, as the text says.\n"
    )


def _entry(figure: Figure, lines: Sequence[Line]) -> str:
    """Return the section of one figure: picture, one table a data set, and how errors move."""
    first = lines[0]
    most = max(line.repetitions for line in lines)
    changed = f" Readings: `{first.readings}`." if first.readings else ""
    text = [
        f"## Figure {figure.number}: {figure.title} (Algorithm {figure.algorithm})",
        f"![Figure {figure.number}]({FOLDER}/{figure.name}.png)",
        f"{most} repetitions, seed {first.seed}.{changed} {figure.note}".rstrip(),
    ]
    for data in dict.fromkeys(line.data for line in lines):
        of_data = [line for line in lines if line.data == data]
        text += [f"{data}, median excess risk:" if data else "Median excess risk:", markdown(*over_n(of_data))]
        text.append(_movements(of_data))
    return "\n\n".join(text)


def over_n(lines: Sequence[Line]) -> tuple[list[str], list[list[str]]]:
    """Return heads and rows of a table: median excess risks over n, at ε = 1 and where most sizes were measured."""
    d, sparsity = _fullest(lines)
    here = [line for line in lines if (line.d, line.sparsity) == (d, sparsity)]
    chosen = [line for line in here if _is_reference(line) or line.epsilon == 1.0]
    sizes = sorted({line.n for line in chosen})
    rows = []
    for name, label in _labels(chosen).items():
        of_method = {line.n: line for line in chosen if line.method == name}
        over = number(of_method[sizes[-1]].median_over_truth) if sizes[-1] in of_method else ""
        rows.append([label, *(number(of_method[n].median) if n in of_method else "" for n in sizes), over])
    where = f"d = {d}" + (f", s* = {sparsity}" if sparsity else "")
    return [f"{where}, ε = 1", *(f"n = {n}" for n in sizes), f"over w*, n = {sizes[-1]}"], rows


def _movements(lines: Sequence[Line]) -> str:
    """Return the paper's four claims as ratios: largest ÷ smallest value of one axis, all else in the middle."""
    axes = {"d": "of d", "n": "of n", "epsilon": "of ε", "sparsity": "of s*"}
    private = [line for line in lines if not _is_reference(line)]
    varied = {axis: text for axis, text in axes.items() if len({getattr(line, axis) for line in private}) > 1}
    rows = []
    for name, label in _labels(private).items():
        mine = [line for line in private if line.method == name]
        rows.append([label, *(_ratio(mine, axis) for axis in varied), *_against_zero(mine, lines)])
    heads = ["error at largest ÷ smallest value", *varied.values(), "settings better than w = 0", "worse by over 5 %"]
    return markdown(heads, rows)


def _ratio(lines: Sequence[Line], axis: str) -> str:
    """Return the ratio over the settings that differ in this axis alone, from the group that has most of them."""
    others = [name for name in ("n", "d", "sparsity", "epsilon") if name != axis]
    groups: dict[tuple[float, ...], list[Line]] = {}
    for line in lines:
        groups.setdefault(tuple(getattr(line, name) for name in others), []).append(line)
    largest = max(groups.values(), key=len)
    group = sorted(largest, key=lambda line: float(getattr(line, axis)))
    return "" if len(group) < 2 else number(group[-1].median / group[0].median)


def _against_zero(mine: Sequence[Line], lines: Sequence[Line]) -> tuple[str, str]:
    zero = {(line.n, line.d, line.sparsity): line.median for line in lines if line.method == "zero"}
    ratios = [line.median / zero[line.n, line.d, line.sparsity] for line in mine]
    better, worse = sum(ratio < 1.0 for ratio in ratios), sum(ratio > 1.05 for ratio in ratios)
    return f"{better} of {len(mine)}", f"{worse} of {len(mine)}"


def _fullest(lines: Sequence[Line]) -> tuple[int, int]:
    """Return the d and s* with most sizes n at ε = 1; among equals, those in the middle."""
    sizes: dict[tuple[int, int], set[int]] = {}
    for line in lines:
        if line.epsilon == 1.0:
            sizes.setdefault((line.d, line.sparsity), set()).add(line.n)
    most = max(map(len, sizes.values()))
    fullest = sorted(setting for setting, found in sizes.items() if len(found) == most)
    return fullest[len(fullest) // 2]


def _is_reference(line: Line) -> bool:
    return line.method in REFERENCES


def _labels(lines: Sequence[Line]) -> dict[str, str]:
    """Return the labels of what the lines hold: private methods first, the paper's before ours."""
    known = {name: method.label for name, method in METHODS.items()} | REFERENCES
    there = dict.fromkeys(line.method for line in lines)
    ours = {name for name, method in METHODS.items() if method.ours}
    order = sorted(there, key=lambda name: (name in REFERENCES, name in ours))
    return {name: known.get(name, name) for name in order}


def number(value: float) -> str:
    """Return three digits, or a word for a plan that was refused; what rounding leaves of nothing is 0."""
    if math.isnan(value):
        return "refused"
    return "0" if abs(value) < SMALLEST else f"{value:.3g}".replace("-", "−")


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
