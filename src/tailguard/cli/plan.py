"""`tailguard plan`: what a fit would do, from public facts alone."""

from typing import Annotated

import typer

from tailguard.cli.console import check_writable, working
from tailguard.cli.options import (
    Classes,
    Delta,
    Epsilon,
    Json,
    Method,
    ModelName,
    MomentBound,
    MomentOrder,
    Parameters,
    ParameterSet,
    Radius,
    Report,
    RobustLoss,
    ScalesFile,
    Sparsity,
    Threshold,
    make_estimator,
    public_classes,
    settings,
)

__all__ = ["plan"]


def plan(
    rows: Annotated[int, typer.Option(help="Number of rows, public.", show_default=False)],
    features: Annotated[int, typer.Option(help="Number of features, public.", show_default=False)],
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    model: Annotated[ModelName, typer.Option("--model", "--loss", help="What is fitted.")] = ModelName.linear,
    classes: Classes = None,
    sparsity: Sparsity = None,
    robust_loss: RobustLoss = None,
    threshold: Threshold = None,
    method: Method = "auto",
    parameters: Parameters = ParameterSet.practical,
    moment_order: MomentOrder = None,
    moment_bound: MomentBound = None,
    radius: Radius = None,
    scales: ScalesFile = None,
    report: Report = None,
    json: Json = False,
) -> None:
    """Show what a fit would do: every noisy release, its noise, its share of the budget, the guarantee.

    Needs no data.

    Example: tailguard plan --rows 10000 --features 10 --epsilon 1 --json > plan.json
    """
    with working("Planning", json):
        from tailguard.cli.carry_out import show_plan

        check_writable(report)
        options = settings(epsilon, delta, method, parameters, moment_order, moment_bound, radius, scales)
        labels = public_classes(model, classes)
        result = make_estimator(model, options, sparsity, robust_loss, threshold, labels).plan(rows, features)
    show_plan(result, json, report=report)
