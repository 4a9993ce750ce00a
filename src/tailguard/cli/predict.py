"""`tailguard predict`: a private model applied to new rows, a batch of them at a time."""

import csv
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import repeat
from json import dumps
from math import isfinite
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from tailguard.cli.console import check_writable, not_writable, progress, say, say_json, warn, working
from tailguard.cli.options import Data, Delimiter, DryRun

if TYPE_CHECKING:
    from tailguard.cli.model_file import Model
    from tailguard.cli.sources import Source
    from tailguard.engines import Engine
    from tailguard.statistics.arrays import FloatMatrix

__all__ = ["predict"]


def predict(
    model: Annotated[Path, typer.Argument(help="Model file from 'fit'.", show_default=False)],
    data: Data,
    output: Annotated[Path | None, typer.Option(help="CSV file to write; standard output by default.")] = None,
    delimiter: Delimiter = "auto",
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line instead of CSV.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Predict new rows with a model from 'fit'.

    The model is private, the new rows are not protected: whoever sees the predictions learns about these rows.

    Example: tailguard predict model.json new.csv --output predictions.csv
    """
    with working("Loading", json):
        from tailguard.cli.model_file import read_model
        from tailguard.report.words import NOT_PRIVATE

        check_writable(output)
        fitted = read_model(model)
        source = _source(fitted, data, delimiter)
    if dry_run:
        _show_plan(fitted, source, json)
        return
    quiet = json or output is None
    engine = source.open(quiet) if source.features else None  # before a file is written over
    rows = _constant(fitted, source.rows()) if engine is None else _predictions(fitted, engine, quiet)
    if not fitted.private:
        warn(NOT_PRIVATE)
    with _opened(output) as file:
        _write(file, _headings(fitted), rows, json)


def _source(model: "Model", data: Path, delimiter: str) -> "Source":
    """Return the columns that the model needs; one whose coefficients are all 0 need not be there."""
    from tailguard.cli.sources import Source

    needed = [name for name, used in zip(model.names, model.used, strict=True) if used]
    return Source(data, features=needed, delimiter=delimiter)


def _show_plan(model: "Model", source: "Source", as_json: bool) -> None:
    columns, headings = list(source.features or ()), _headings(model)
    rows = source.header()[0] if columns else source.rows()
    if as_json:
        say_json({"rows": rows, "reads": columns, "writes": headings})
    else:
        say(f"Would read {rows} rows of {', '.join(columns) or 'no column'}, and write {', '.join(headings)}.")


def _headings(model: "Model") -> list[str]:
    if model.classes is None:
        return ["prediction"]
    if model.rows:
        return ["prediction", *(f"probability {label}" for label in model.classes)]
    return ["prediction", "margin" if model.margins else "probability"]


def _constant(model: "Model", rows: int) -> Iterator[list[Any]]:
    """Yield the cells of every row of a model that looks at no column."""
    import numpy as np

    return repeat(next(_cells(model, np.empty((1, 0)))), rows)


def _predictions(model: "Model", engine: "Engine", quiet: bool) -> Iterator[list[Any]]:
    """Yield the cells of every row; those of a row with a missing value are NaN."""
    from tailguard.cli.sources import read_to_the_end
    from tailguard.statistics import passes

    with progress("Predicting", engine.n, quiet) as advance, read_to_the_end():
        for rows, _ in engine.chunks():
            X = passes.dense(rows)
            yield from _cells(model, X)
            advance(len(X))


def _cells(model: "Model", X: "FloatMatrix") -> Iterator[list[Any]]:
    import numpy as np
    from scipy.special import expit

    from tailguard.losses.multinomial import softmax

    used = np.array(model.used, dtype=bool)
    if model.rows:
        chances = softmax(np.asarray(X @ np.array(model.rows)[:, used].T + np.array(model.offsets)))
        for row in chances.tolist():
            yield [_label(model, None if row[0] != row[0] else int(np.argmax(row))), *row]
        return
    slopes = np.array(model.coefficients)[used]
    scores = np.asarray(X @ slopes + model.intercept)
    if model.ends is not None:
        scores = model.ends.of(np.flatnonzero(used).tolist()).held(X, scores, slopes, model.intercept)
    if model.within is not None:
        scores = np.clip(scores, *model.within)
    if model.classes is None:
        yield from ([score] for score in scores.tolist())
        return
    beside = scores if model.margins else expit(np.clip(scores, -model.most, model.most))
    for score, number in zip(scores.tolist(), beside.tolist(), strict=True):
        yield [_label(model, None if score != score else int(score > 0)), number]


def _label(model: "Model", place: int | None) -> str | None:
    return None if place is None else (model.classes or ())[place]


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    try:
        with output.open("w", encoding="utf-8", newline="") as file:
            yield file
    except OSError:
        raise not_writable(output) from None


def _write(file: IO[str], headings: list[str], rows: Iterator[list[Any]], as_json: bool) -> None:
    if as_json:
        for row in rows:
            cells = (cell if isinstance(cell, str) or (cell is not None and isfinite(cell)) else None for cell in row)
            file.write(dumps(dict(zip(headings, cells, strict=True)), ensure_ascii=False) + "\n")
        return
    table = csv.writer(file, lineterminator="\n")
    table.writerow(headings)
    table.writerows(["nan" if cell is None else _text(cell) for cell in row] for row in rows)


def _text(cell: str | float) -> str:
    return cell if isinstance(cell, str) else f"{cell:.17g}"
