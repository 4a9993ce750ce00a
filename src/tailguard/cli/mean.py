"""`tailguard mean`: private means of the columns of a file."""

from typing import Annotated

import typer

from tailguard.cli.console import working
from tailguard.cli.options import (
    CertificateFile,
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
    ScalesFile,
    Seed,
    SessionFile,
    make_estimator,
    names,
    settings,
)

__all__ = ["mean"]


def mean(
    data: Data,
    columns: Annotated[str | None, typer.Option(help="Columns to use, with commas between; all by default.")] = None,
    sparsity: Annotated[
        int | None, typer.Option(help="How many columns have a mean other than 0, public; all by default.")
    ] = None,
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
    """Estimate the means of columns of a Parquet, CSV, Arrow or Feather file.

    Example: tailguard mean claims.csv --columns cost,age --epsilon 0.5
    """
    with working("Planning", json):
        from tailguard.cli.carry_out import Job
        from tailguard.cli.sources import Source

        options = settings(epsilon, delta, method, parameters, moment_order, moment_bound, radius, scales)
        source = Source(data, features=names(columns), delimiter=delimiter)
        count = None if sparsity is None else str(sparsity)
        job = Job(
            make_estimator(ModelName.mean, options, count), source, seed, output, report, json, certificate, session
        )
    if dry_run:
        job.show_plan()
    else:
        job.carry_out()
