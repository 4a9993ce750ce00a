"""Pictures of the lines, with Matplotlib from the optional extra `plots`."""

import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailguard.errors import TailguardError
from tailguard.reproduction.figures import Cell, Figure, Panel, Part
from tailguard.reproduction.methods import REFERENCES, methods_of
from tailguard.reproduction.results import Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["check_matplotlib", "draw"]

STYLE: Any = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.5,
    "legend.frameon": False,
}
PAPER = ("#c0392b", "#e08e3c", "#8e5a2b", "#c27ba0")
OURS = ("#1f5fa8", "#2a9d8f", "#6a4c93")
GREYS = {
    "zero": ("#555555", "--"),
    "start": ("#aaaaaa", "--"),
    "non-private": ("#000000", "-"),
    "minimiser": ("#777777", ":"),
    "truth": ("#777777", "-."),
}
X_LABELS = {"n": "n", "epsilon": "ε", "sparsity": "s*", "d": "d"}
SMALLEST = 1e-9
"""What lies below has no place on a logarithmic axis: it is the minimiser itself."""


def check_matplotlib() -> None:
    """Say in one sentence that Matplotlib is missing, before anything is measured."""
    if find_spec("matplotlib") is None:
        raise TailguardError("Pictures need Matplotlib, which is not installed: pip install 'tailguard[plots]'.")


def draw(figure: Figure, parts: Sequence[Part], lines: Sequence[Line], path: Path) -> None:
    """Draw a figure: a row of pictures a panel, one picture for each of its curves' values; quartiles are shaded.

    Parameters
    ----------
    figure : Figure
        What is drawn.
    parts : sequence of Part
        Its panels.
    lines : sequence of Line
        What was measured.
    path : Path
        PNG file to write.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = _layout(parts)
    columns = max(map(len, rows))
    with matplotlib.rc_context(STYLE):
        size = (1.0 + 2.6 * max(columns, 2), 0.9 + 2.1 * len(rows))
        picture, grid = pyplot.subplots(
            len(rows), columns, figsize=size, sharey="row", squeeze=False, layout="constrained"
        )
        for axes, row in zip(grid, rows, strict=True):
            for place, axis in enumerate(axes):
                if place < len(row):
                    _picture(axis, figure, row[place], lines)
                else:
                    axis.set_axis_off()
            axes[0].set_ylabel("excess risk")
        labels: dict[str, Any] = {}
        for axis in grid.flat:
            labels |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
        order = sorted(labels, key=lambda label: label in REFERENCES.values())
        picture.legend([labels[label] for label in order], order, loc="outside lower center", ncols=max(columns, 2))
        picture.suptitle(f"Hu et al. 2022, figure {figure.number}: {figure.title}")
        picture.savefig(path, dpi=80, metadata={"Software": None})
        pyplot.close(picture)


Place = tuple[Part, Panel, list[Cell]]


def _layout(parts: Sequence[Part]) -> list[list[Place]]:
    """Return rows of pictures: panels with several curves have a row, others share one."""
    rows: list[list[Place]] = []
    for part in parts:
        panels = [_pictures(part, panel) for panel in part.panels]
        single = all(len(pictures) == 1 for pictures in panels)
        rows += [[pictures[0] for pictures in panels]] if single else panels
    return rows


def _pictures(part: Part, panel: Panel) -> list[Place]:
    cells = list(panel.cells(part.grid))
    values = dict.fromkeys(getattr(cell, panel.by) for cell in cells)
    return [(part, panel, [cell for cell in cells if getattr(cell, panel.by) == value]) for value in values]


def _picture(axis: "Axes", figure: Figure, place: Place, lines: Sequence[Line]) -> None:
    part, panel, cells = place
    known = {(line.method, line.n, line.d, line.sparsity, line.epsilon): line for line in _of(part, lines)}
    for name, label in REFERENCES.items():
        found = [_reference(lines, part, name, cell) for cell in cells]
        _curve(axis, panel, cells, found, label, *GREYS[name], marker="")
    paper, ours = iter(PAPER), iter(OURS)
    for method in methods_of(figure.algorithm):
        found = [known.get((method.name, cell.n, cell.d, cell.sparsity, cell.epsilon)) for cell in cells]
        _curve(axis, panel, cells, found, method.label, next(ours if method.ours else paper), "-", marker="o")
    fixed = f"{X_LABELS[panel.by]} = {getattr(cells[0], panel.by):g}"
    axis.set_title(f"({panel.letter}) {fixed}" if panel.letter else f"{part.label}, {fixed}", fontsize=8)
    axis.set(xlabel=X_LABELS[panel.x], yscale="log")
    if panel.x == "epsilon":
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _of(part: Part, lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if line.data == part.label]


def _reference(lines: Sequence[Line], part: Part, name: str, cell: Cell) -> Line | None:
    setting = (name, cell.n, cell.d, cell.sparsity)
    same = (line for line in _of(part, lines) if (line.method, line.n, line.d, line.sparsity) == setting)
    return next(same, None)


def _curve(
    axis: "Axes",
    panel: Panel,
    cells: Sequence[Cell],
    found: Sequence[Line | None],
    label: str,
    colour: str,
    dash: str,
    marker: str,
) -> None:
    """Draw medians and quartiles; a cross at the bottom is a setting in which the plan was refused."""
    pairs = [(getattr(cell, panel.x), line) for cell, line in zip(cells, found, strict=True) if line is not None]
    for x, line in pairs:
        if line.repetitions == 0:
            axis.plot(x, 0.02, "x", color=colour, transform=axis.get_xaxis_transform())
    shown = [(x, line) for x, line in pairs if not math.isnan(line.median) and line.median > SMALLEST]
    if shown:
        xs = [x for x, _ in shown]
        axis.plot(xs, [line.median for _, line in shown], dash, color=colour, marker=marker, label=label)
        low, high = (
            [max(value, SMALLEST) for value in side] for side in zip(*((p.low, p.high) for _, p in shown), strict=True)
        )
        axis.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
