"""`tailguard predict`: a private model applied to new rows."""

import csv
import sys
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tailguard.cli.console import check_writable, working, write
from tailguard.cli.options import Data, Delimiter

if TYPE_CHECKING:
    from tailguard.cli.model_file import Model
    from tailguard.statistics.arrays import FloatVector

__all__ = ["predict"]


def predict(
    model: Annotated[Path, typer.Argument(help="Model file from 'fit'.", show_default=False)],
    data: Data,
    output: Annotated[Path | None, typer.Option(help="CSV file to write; standard output by default.")] = None,
    delimiter: Delimiter = "auto",
) -> None:
    """Predict new rows with a model from 'fit'.

    The model is private, the new rows are not protected: whoever sees the predictions learns about these rows.

    Example: tailguard predict model.json new.csv --output predictions.csv
    """
    with working("Predicting"):
        from tailguard.cli.model_file import read_model

        check_writable(output)
        fitted = read_model(model)
        text = (
            _class_table(fitted, data, delimiter) if fitted.rows else _table(fitted, _scores(fitted, data, delimiter))
        )
    if output is None:
        sys.stdout.write(text)
    else:
        write(output, text)


def _scores(model: "Model", data: Path, delimiter: str) -> "FloatVector":
    """Return intercept + ⟨x, coefficients⟩ for each row; a column with coefficient 0 need not be there."""
    import numpy as np

    from tailguard.cli.sources import Source

    used = {name: value for name, value in zip(model.names, model.coefficients, strict=True) if value != 0.0}
    source = Source(data, features=list(used), delimiter=delimiter)
    if not used:
        return np.full(source.size()[0], model.intercept)
    rows, _ = source.open().gather()
    return np.asarray(rows @ np.array(list(used.values())) + model.intercept)


def _table(model: "Model", scores: "FloatVector") -> str:
    """Return the predictions as CSV; those of a row with a missing value are nan."""
    from scipy.special import expit

    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    if model.classes is None:
        table.writerow(["prediction"])
        table.writerows([f"{score:.17g}"] for score in scores)
    else:
        negative, positive = model.classes[0], model.classes[-1]
        table.writerow(["prediction", "margin" if model.margins else "probability"])
        for score, beside in zip(scores, scores if model.margins else expit(scores), strict=True):
            label = "nan" if score != score else positive if score > 0 else negative
            table.writerow([label, f"{beside:.17g}"])
    return text.getvalue()


def _class_table(model: "Model", data: Path, delimiter: str) -> str:
    """Return the classes and their probabilities as CSV; those of a row with a missing value are nan."""
    import numpy as np

    from tailguard.cli.sources import Source
    from tailguard.losses.multinomial import softmax

    rows, _ = Source(data, features=list(model.names), delimiter=delimiter).open().gather()
    probabilities = softmax(np.asarray(rows @ np.array(model.rows).T + np.array(model.offsets)))
    text = StringIO()
    table = csv.writer(text, lineterminator="\n")
    classes = model.classes or ()
    table.writerow(["prediction", *(f"probability {label}" for label in classes)])
    for row in probabilities:
        label = "nan" if np.isnan(row).any() else classes[int(np.argmax(row))]
        table.writerow([label, *(f"{value:.17g}" for value in row)])
    return text.getvalue()
