"""The options that several verbs share, and what they mean to an estimator."""

from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailguard._validate import refuse
from tailguard.errors import ParameterError

if TYPE_CHECKING:
    from tailguard.estimators.base import PrivateEstimator
    from tailguard.plans import Scales

__all__ = [
    "CertificateFile",
    "Classes",
    "Data",
    "Delimiter",
    "Delta",
    "DryRun",
    "Epsilon",
    "Json",
    "Method",
    "ModelName",
    "MomentBound",
    "MomentOrder",
    "Output",
    "ParameterSet",
    "Parameters",
    "Radius",
    "Report",
    "RobustLoss",
    "RobustLossName",
    "ScalesFile",
    "Seed",
    "SessionFile",
    "Sparsity",
    "Threshold",
    "make_estimator",
    "names",
    "public_classes",
    "public_units",
    "settings",
]


class ModelName(StrEnum):
    """What can be fitted."""

    linear = "linear"
    logistic = "logistic"
    lasso = "lasso"
    robust = "robust"
    least_absolute = "least-absolute"
    svc = "svc"
    sparse_linear = "sparse-linear"
    sparse_logistic = "sparse-logistic"
    mean = "mean"


class RobustLossName(StrEnum):
    """What a robust regression minimises."""

    huber = "huber"
    biweight = "biweight"


class ParameterSet(StrEnum):
    """Which of a recipe's parameter sets."""

    practical = "practical"
    paper = "paper"


_BUDGET, _METHOD, _RESULT = "Budget", "Method", "Result"

Data = Annotated[Path, typer.Argument(help="Parquet, CSV, Arrow or Feather file, by its suffix.", show_default=False)]
Epsilon = Annotated[float, typer.Option(help="ε of the budget, above 0.", rich_help_panel=_BUDGET)]
Delta = Annotated[float, typer.Option(help="δ of the budget, below 1; 0 is pure.", rich_help_panel=_BUDGET)]
Method = Annotated[str, typer.Option(help="Name of a recipe, or auto.", rich_help_panel=_METHOD)]
Parameters = Annotated[
    ParameterSet, typer.Option(help="Good constants, or those of the paper's theorem.", rich_help_panel=_METHOD)
]
MomentOrder = Annotated[
    float | None, typer.Option(help="Public assumption: order of the finite moment.", rich_help_panel=_METHOD)
]
MomentBound = Annotated[
    float | None, typer.Option(help="Public assumption: bound on that moment.", rich_help_panel=_METHOD)
]
Radius = Annotated[
    float | None,
    typer.Option(help="Public bound on the length of the coefficients; lasso: on their sum.", rich_help_panel=_METHOD),
]
ScalesFile = Annotated[
    Path | None,
    typer.Option(
        "--scales",
        help="JSON file of public units, never computed from the data: features, target, centres, target_centre.",
        rich_help_panel=_METHOD,
    ),
]
Sparsity = Annotated[
    str | None,
    typer.Option(help="Sparse models: how many columns, public; auto chooses privately.", rich_help_panel=_METHOD),
]
RobustLoss = Annotated[
    RobustLossName | None, typer.Option(help="Robust: what is minimised; huber by default.", rich_help_panel=_METHOD)
]
Threshold = Annotated[
    float | None,
    typer.Option(help="Robust: public residual beyond which a row counts less.", rich_help_panel=_METHOD),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Delimiter = Annotated[
    str, typer.Option(help="One character between the cells of a CSV file; auto looks at its first line alone.")
]
Classes = Annotated[
    str | None, typer.Option(help="Public labels, the positive of two last, 0,1 by default; logistic takes more.")
]
Seed = Annotated[
    int | None, typer.Option(help="Repeatable simulation, NOT PRIVATE: for tests and teaching.", show_default=False)
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan and stop; no value is read.")]
Output = Annotated[Path | None, typer.Option(help="Model file to write, JSON.", rich_help_panel=_RESULT)]
Report = Annotated[Path | None, typer.Option(help="Report to write, one HTML page.", rich_help_panel=_RESULT)]
CertificateFile = Annotated[
    Path | None, typer.Option("--certificate", help="Certificate to write, JSON.", rich_help_panel=_RESULT)
]
SessionFile = Annotated[
    Path | None,
    typer.Option("--session", help="Ledger of a total budget, from 'ledger create'.", rich_help_panel=_BUDGET),
]


def names(text: str | None) -> list[str] | None:
    """Return the column names of a list with commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def public_classes(model: ModelName, text: str | None) -> tuple[str, ...] | None:
    """Return labels from a list with commas: two, for logistic models more; a model of numbers has none."""
    if model not in (ModelName.logistic, ModelName.sparse_logistic, ModelName.svc):
        if text is not None:
            raise refuse("classes", f"the {model.value} model", "left out: it has none", text)
        return None
    labels, several = names("0,1" if text is None else text) or [], model is ModelName.logistic
    if len(labels) < 2 or len(set(labels)) < len(labels) or (len(labels) > 2 and not several):
        rule = "two or more different labels with commas" if several else "two different labels with a comma between"
        raise refuse("classes", "fit", rule, text)
    return tuple(labels)


def settings(
    epsilon: float,
    delta: float,
    method: str,
    parameters: ParameterSet,
    moment_order: float | None,
    moment_bound: float | None,
    radius: float | None,
    scales: Path | None = None,
) -> dict[str, Any]:
    """Return the options as parameters of an estimator."""
    from tailguard.plans import Moment

    moment = None
    if moment_order is not None or moment_bound is not None:
        moment = Moment(2.0 if moment_order is None else moment_order, moment_bound)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "method": method,
        "parameters": parameters.value,
        "moment": moment,
        "radius": radius,
        "scales": public_units(scales),
    }


def public_units(path: Path | None) -> "Scales | None":
    """Return the public units of a JSON file, if there is one."""
    from tailguard.plans import Scales
    from tailguard.plans.codec import strict_json

    if path is None:
        return None
    try:
        given = strict_json(path.read_text("utf-8"), "file of scales")
    except (OSError, UnicodeError):
        raise ParameterError(f"The file of scales {str(path)!r} cannot be read.") from None
    known = [field.name for field in fields(Scales)]
    if not isinstance(given, dict) or not set(given) <= set(known):
        raise refuse("scales", "the command line", f"a JSON object with fields among {', '.join(known)}", str(path))
    return Scales(**given)


def make_estimator(
    model: ModelName,
    parameters: dict[str, Any],
    sparsity: str | None = None,
    robust_loss: RobustLossName | None = None,
    threshold: float | None = None,
    classes: tuple[str, ...] | None = None,
) -> "PrivateEstimator":
    """Return the estimator of a model; an option that it does not have is refused."""
    import tailguard as tg

    kinds = {
        ModelName.linear: tg.LinearRegression,
        ModelName.logistic: tg.LogisticRegression,
        ModelName.lasso: tg.Lasso,
        ModelName.robust: tg.RobustRegression,
        ModelName.least_absolute: tg.LeastAbsoluteDeviations,
        ModelName.svc: tg.LinearSVC,
        ModelName.sparse_linear: tg.SparseLinearRegression,
        ModelName.sparse_logistic: tg.SparseLogisticRegression,
        ModelName.mean: tg.Mean if sparsity is None else tg.SparseMean,
    }
    loss = None if robust_loss is None else robust_loss.value
    # A source makes numbers of labels; two of them are what an estimator takes by default.
    several = None if classes is None or len(classes) == 2 else tuple(range(len(classes)))
    special = {"sparsity": _count(sparsity), "loss": loss, "threshold": threshold, "classes": several}
    special = {name: value for name, value in special.items() if value is not None}
    known = kinds[model]().get_params()
    for name in special.keys() - known.keys():
        option = "robust-loss" if name == "loss" else name
        raise refuse(option, f"the {model.value} model", "left out: it has none", special[name])
    estimator: PrivateEstimator = kinds[model](**parameters, **special)
    return estimator


def _count(text: str | None) -> int | str | None:
    """Return a number where a text is one; the estimators say what else they take."""
    return int(text) if text is not None and text.isascii() and text.isdecimal() else text
