"""`tailguard fit`: a private regression on a file."""

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
from tailguard.errors import ParameterError

__all__ = ["fit"]


def fit(
    data: Data,
    target: Annotated[str, typer.Option(help="Column to predict.", show_default=False)],
    features: Annotated[
        str | None, typer.Option(help="Columns to use, with commas between; all others by default.")
    ] = None,
    model: Annotated[ModelName, typer.Option("--model", "--loss", help="What is fitted.")] = ModelName.linear,
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

        if model is ModelName.mean:
            raise ParameterError("A mean has no target: use 'tailguard mean'.")
        labels = public_classes(model, classes)
        options = settings(epsilon, delta, method, parameters, moment_order, moment_bound, radius, scales)
        estimator = make_estimator(model, options, sparsity, robust_loss, threshold, labels)
        source = Source(data, target, names(features), labels, delimiter)
        job = Job(estimator, source, seed, output, report, json, certificate, session)
    if dry_run:
        job.show_plan()
    else:
        job.carry_out()
