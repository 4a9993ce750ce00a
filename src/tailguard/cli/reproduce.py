"""`tailguard reproduce`: the figures of Hu et al. 2022 measured again."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailguard._validate import choice, integer
from tailguard.cli.console import check_writable, complain, progress, say, say_json, working
from tailguard.cli.options import Json
from tailguard.errors import DataError
from tailguard.reproduction.readings import QUESTIONS, Readings

if TYPE_CHECKING:
    from rich.table import Table

    from tailguard.reproduction.results import Line
    from tailguard.reproduction.study import Study

__all__ = ["reproduce"]

REPETITIONS, FEW = 20, 3
"""Repetitions by default, and with --fast."""


def _reading(name: str) -> Any:
    return typer.Option(help=QUESTIONS[name], rich_help_panel="Readings of the text")


def reproduce(
    figures: Annotated[list[str], typer.Argument(help="fig1 to fig11, or all.", show_default=False)],
    fast: Annotated[bool, typer.Option("--fast", help="A smaller grid and fewer repetitions.")] = False,
    repetitions: Annotated[int | None, typer.Option(help="20 by default, 3 with --fast.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(help="All data and all noise, which is simulated, follow from it.")] = 0,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of Parquet files for figures 3 and 4.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for hu.md, and for tables and pictures in hu.")] = Path("out"),
    processes: Annotated[int | None, typer.Option(help="One a processor by default.", show_default=False)] = None,
    json: Json = False,
    lognormal: Annotated[str, _reading("lognormal")] = "sigma2",
    normal: Annotated[str, _reading("normal")] = "variance",
    laplace: Annotated[str, _reading("laplace")] = "scale",
    signs: Annotated[str, _reading("signs")] = "both",
    start: Annotated[str, _reading("start")] = "random",
    noise10: Annotated[str, _reading("noise10")] = "logistic",
    scaling: Annotated[str, _reading("scaling")] = "standard",
    ridge: Annotated[float, _reading("ridge")] = 0.01,
    factor: Annotated[int, _reading("factor")] = 1,
    shift: Annotated[int, _reading("shift")] = 1,
) -> None:
    """Measure the figures of Hu et al. 2022, section 6, again: the paper's recipes and ours in one picture.

    Writes tables, pictures and a page of results. Figures 3 and 4 use what --data-dir has of the paper's data sets.

    Example: tailguard reproduce fig1 fig7 --fast
    """
    chosen: Any = (lognormal, normal, laplace, signs, start, noise10, scaling, ridge, factor, shift)
    readings = Readings(*chosen)
    integer("seed", seed, "reproduce", at_least=0)
    count = integer("repetitions", (FEW if fast else REPETITIONS) if repetitions is None else repetitions, "reproduce")
    with working("Loading", json):
        from tailguard.reproduction.draw import check_matplotlib
        from tailguard.reproduction.runner import processors

        check_matplotlib()
        workers = integer("processes", processors() if processes is None else processes, "reproduce")
        studies = _studies(figures, fast, count, seed, readings, data_dir)
    for study in studies:
        check_writable(*study.files(out).values())
    done = [(study, _carried_out(study, out, workers, json)) for study in studies]
    if json:
        say_json({study.figure.name: [_plain(line) for line in lines] for study, lines in done})
    else:
        tables = (table for study, lines in done for table in _tables(study, lines))
        say(*tables, f"Page: {out / 'hu.md'}    tables and pictures: {out / 'hu'}")


def _studies(
    names: list[str], fast: bool, repetitions: int, seed: int, readings: Readings, data: Path | None
) -> list["Study"]:
    """Return what was asked for; of `all`, what there are data for."""
    from tailguard.reproduction.figures import FIGURES
    from tailguard.reproduction.study import Study

    for name in names:
        choice("figures", name, "reproduce", (*FIGURES, "all"))
    if data is not None and not data.is_dir():
        raise DataError(f"There is no folder {str(data)!r}.")
    found = []
    for figure in FIGURES.values():
        if figure.name not in names and "all" not in names:
            continue
        study = Study(figure, fast, repetitions, seed, readings, data)
        if study.absent and (study.parts or "all" in names):
            complain(study.absent)
        elif study.absent:
            raise DataError(study.absent)
        if study.parts:
            found.append(study)
    return found


def _carried_out(study: "Study", out: Path, processes: int, quiet: bool) -> list["Line"]:
    """Measure a figure; on a terminal, show how many of its repetitions are done."""
    with progress(f"Figure {study.figure.number}", len(study.jobs), quiet) as advance:
        return study.carry_out(out, processes, lambda: advance(1))


def _tables(study: "Study", lines: list["Line"]) -> Iterator["Table"]:
    """Yield median excess risks over n, one table a data set."""
    from rich.table import Table

    from tailguard.reproduction.page import over_n

    for part in study.parts:
        heads, rows = over_n([line for line in lines if line.data == part.label])
        title = f"Figure {study.figure.number}: {study.figure.title}" + (f", {part.label}" if part.label else "")
        table = Table(heads[0], title=title, title_justify="left", caption="Median excess risk", caption_justify="left")
        for head in heads[1:]:
            table.add_column(head, justify="right")
        for row in rows:
            table.add_row(*row)
        yield table


def _plain(line: "Line") -> dict[str, Any]:
    """Return a line for machines: nothing instead of NaN."""
    return {name: None if value != value else value for name, value in asdict(line).items()}
