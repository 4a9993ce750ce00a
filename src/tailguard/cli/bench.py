"""`tailguard bench`: the benchmark of a checkout."""

import csv
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

import tailguard
from tailguard._validate import integer
from tailguard.cli.console import say_json
from tailguard.cli.options import Json
from tailguard.errors import DataError, TailguardError

__all__ = ["bench"]


def bench(
    fast: Annotated[bool, typer.Option("--fast", help="A part that ends within ten minutes on two cores.")] = False,
    tasks: Annotated[list[str] | None, typer.Option(help="Tasks by name, part of it or pattern; repeatable.")] = None,
    methods: Annotated[list[str] | None, typer.Option(help="Methods likewise.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder of Parquet or CSV files with a column target.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for tables and page.", show_default=False)] = None,
    jobs: Annotated[int, typer.Option(help="Processes, with one BLAS thread each.")] = 2,
    json: Json = False,
) -> None:
    """Compare the recipes with peers and with fits without privacy; needs a checkout of the repository.

    A run that was stopped continues where it was. Results: summary.csv, raw.csv and index.html.

    Example: tailguard bench --fast --tasks linear --methods tailguard --methods non-private
    """
    integer("jobs", jobs, "bench")
    if data_dir is not None and not data_dir.is_dir():
        raise DataError(f"There is no folder {str(data_dir)!r}.")
    words = ["--fast"] if fast else []
    words += ["--tasks", *tasks] if tasks else []
    words += ["--methods", *methods] if methods else []
    words += ["--data-dir", str(data_dir.resolve())] if data_dir else []
    folder = (out or Path("out") / ("bench-fast" if fast else "bench-full")).resolve()
    command = [sys.executable, "-m", "benchmarks", *words, "--out", str(folder), "--jobs", str(jobs)]
    done = subprocess.run(command, cwd=_checkout(), stdout=subprocess.DEVNULL if json else None)
    if json and not done.returncode:
        with (folder / "summary.csv").open(encoding="utf-8", newline="") as table:
            say_json(list(csv.DictReader(table)))
    raise typer.Exit(done.returncode)


def _checkout() -> Path:
    """Return the nearest folder that holds the benchmark: here, above here, or where the package was installed from."""
    here = Path.cwd()
    for folder in (here, *here.parents, *Path(tailguard.__file__).resolve().parents):
        if (folder / "benchmarks" / "objective.py").is_file():
            return folder
    raise TailguardError("The benchmark is not part of the installed package: run it in a checkout of the repository.")
