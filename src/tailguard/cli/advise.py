"""`tailguard advise`: which recipe, and what error to expect, from public facts alone."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailguard._validate import refuse
from tailguard.cli.console import say, say_json, working
from tailguard.cli.options import (
    Delta,
    Epsilon,
    Json,
    ModelName,
    Radius,
    RobustLoss,
    ScalesFile,
    make_estimator,
    public_units,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tailguard.recipes import Advice

__all__ = ["advise"]


def advise(
    rows: Annotated[int, typer.Option(help="Number of rows, public.", show_default=False)],
    features: Annotated[int, typer.Option(help="Number of features, public.", show_default=False)],
    model: Annotated[ModelName, typer.Option("--model", "--loss", help="What is fitted.")] = ModelName.linear,
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    sparsity: Annotated[
        int | None, typer.Option(help="Sparse models: how many columns, public.", rich_help_panel="Method")
    ] = None,
    robust_loss: RobustLoss = None,
    radius: Radius = None,
    signal_to_noise: Annotated[
        float, typer.Option(help="Assumed: variance of the signal ÷ that of the noise, R² ÷ (1 − R²).")
    ] = 1.0,
    error: Annotated[float, typer.Option(help="Say how many rows such an error needs.")] = 0.1,
    scales: ScalesFile = None,
    json: Json = False,
) -> None:
    """Rank the recipes by the error to expect, and show the price of privacy; no data is needed.

    Example: tailguard advise --rows 20000 --features 12 --epsilon 1
    """
    with working("Planning", json):
        from tailguard.privacy import Privacy
        from tailguard.recipes import advise as ask

        if sparsity is None and "sparse" in model.value:
            raise refuse("sparsity", "advise", "an integer for sparse models", sparsity)
        given = {"radius": radius, "scales": public_units(scales)}
        estimator = make_estimator(model, given, None if sparsity is None else str(sparsity), robust_loss)
        problem = estimator.problem(rows, features)
        advice = ask(
            rows,
            features,
            problem.loss,
            Privacy(epsilon, delta),
            domain=problem.domain,
            signal_to_noise=signal_to_noise,
            scales=problem.scales,
        )
        needed = advice.rows_for(error)
    if json:
        say_json(_document(advice, error, needed))
        return
    say(_title(advice), "", _options(advice), "", _curve(advice), "", *_notes(advice, error, needed))


def _title(advice: "Advice") -> str:
    problem = advice.problem
    return f"Advice for {problem.n} rows and {problem.d} features, {problem.loss.name} loss, {advice.privacy}"


def _options(advice: "Advice") -> "RenderableType":
    from rich.table import Table

    table = Table("recipe", box=None, pad_edge=False, header_style="bold")
    table.add_column("predicted error", justify="right", no_wrap=True)
    table.add_column("")
    for option in advice.options:
        taken = "what method=auto takes" + ", with δ = 0" * (option.delta < advice.privacy.delta)
        remark = option.refusal or (taken if option.automatic else option.source)
        table.add_row(option.recipe, _number(option.predicted, option.refusal), remark)
    return table


def _curve(advice: "Advice") -> "RenderableType":
    from rich.table import Table

    table = Table("ε", box=None, pad_edge=False, header_style="bold")
    table.add_column("predicted error", justify="right", no_wrap=True)
    table.add_column("recipe")
    for point in advice.curve:
        recipe = point.recipe + " with δ = 0" * (point.delta < advice.privacy.delta)
        table.add_row(f"{point.epsilon:g}", _number(point.predicted, point.refusal), point.refusal or recipe)
    return table


def _number(predicted: float | None, refusal: str | None) -> str:
    return "refused" if refusal else "unknown" if predicted is None else f"{predicted:.2g}"


def _notes(advice: "Advice", error: float, needed: int | None) -> list[str]:
    notes = [
        f"Predicted error: {advice.unit}; assumed: a signal {advice.signal_to_noise:g} times as strong as the noise, "
        "usual tails."
    ]
    if needed is not None:
        notes.append(f"An error of {error:g} needs about {needed} rows at this budget.")
    return notes


def _document(advice: "Advice", error: float, needed: int | None) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "rows": advice.problem.n,
        "features": advice.problem.d,
        "loss": advice.problem.loss.name,
        "epsilon": advice.privacy.epsilon,
        "delta": advice.privacy.delta,
        "signal_to_noise": advice.signal_to_noise,
        "unit": advice.unit,
        "options": [asdict(option) for option in advice.options],
        "curve": [asdict(point) for point in advice.curve],
        "rows_for_error": {"error": error, "rows": needed},
    }
