"""`tailguard fit`: a private regression on a file."""

from enum import StrEnum
from typing import Annotated

import typer

from tailguard.cli.console import working
from tailguard.cli.options import (
    CertificateFile,
    Classes,
    Data,
    Delimiter,
    Delta,
    DryRun,
    Epsilon,
    Json,
    Method,
    ModelName,
    MomentBound,
    MomentOrder,
    Output,
    Parameters,
    ParameterSet,
    Radius,
    Report,
    RobustLoss,
    ScalesFile,
    Seed,
    SessionFile,
    Sparsity,
    Threshold,
    make_estimator,
    names,
    public_classes,
    settings,
)

__all__ = ["fit"]


class RegressionName(StrEnum):
    """Models with a target."""

    linear = "linear"
    logistic = "logistic"
    lasso = "lasso"
    robust = "robust"
    least_absolute = "least-absolute"
    svc = "svc"
    sparse_linear = "sparse-linear"
    sparse_logistic = "sparse-logistic"


def fit(
    data: Data,
    target: Annotated[str, typer.Option(help="Column to predict.", show_default=False)],
    features: Annotated[
        str | None, typer.Option(help="Columns to use, with commas between; all others by default.")
    ] = None,
    model: Annotated[RegressionName, typer.Option("--model", "--loss", help="What is fitted.")] = RegressionName.linear,
    classes: Classes = None,
    sparsity: Sparsity = None,
    robust_loss: RobustLoss = None,
    threshold: Threshold = None,
    delimiter: Delimiter = "auto",
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    method: Method = "auto",
    parameters: Parameters = ParameterSet.practical,
    moment_order: MomentOrder = None,
    moment_bound: MomentBound = None,
    radius: Radius = None,
    scales: ScalesFile = None,
    output: Output = None,
    report: Report = None,
    certificate: CertificateFile = None,
    session: SessionFile = None,
    json: Json = False,
    dry_run: DryRun = False,
    seed: Seed = None,
) -> None:
    """Fit a private regression to a Parquet, CSV, Arrow or Feather file.

    A CSV cell that is no number is missing, and a row with a missing value contributes nothing.

    Example: tailguard fit claims.parquet --target cost --epsilon 1 --output model.json --report report.html
    """
    with working("Planning", json):
        from tailguard.cli.carry_out import Job
        from tailguard.cli.sources import Source

        labels = public_classes(ModelName(model.value), classes)
        options = settings(epsilon, delta, method, parameters, moment_order, moment_bound, radius, scales)
        estimator = make_estimator(ModelName(model.value), options, sparsity, robust_loss, threshold, labels)
        source = Source(data, target, names(features), labels, delimiter)
        job = Job(estimator, source, seed, output, report, json, certificate, session)
    if dry_run:
        job.show_plan()
    else:
        job.carry_out()
