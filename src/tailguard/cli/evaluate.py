"""`tailguard evaluate`: how well a model predicts rows that it has not seen, privately."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailguard.cli.console import check_writable, say, say_json, warn, working, write
from tailguard.cli.options import Data, Delimiter, DryRun, Epsilon, Json, Report, Seed, SessionFile, names

if TYPE_CHECKING:
    from tailguard.cli.model_file import Model
    from tailguard.engines import Engine
    from tailguard.plans import Release
    from tailguard.recipes.evaluation import Judged

__all__ = ["evaluate"]


def evaluate(
    model: Annotated[Path, typer.Argument(help="Model file from 'fit'.", show_default=False)],
    data: Data,
    target: Annotated[str | None, typer.Option(help="Column to predict; the model's own name by default.")] = None,
    measures: Annotated[
        str | None, typer.Option(help="With commas between: r2, median_absolute_error; error_rate, log_loss, auc.")
    ] = None,
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.95,
    delimiter: Delimiter = "auto",
    epsilon: Epsilon = 1.0,
    delta: Annotated[float, typer.Option(help="δ of the budget, below 1; 0 is pure.", rich_help_panel="Budget")] = 0.0,
    report: Report = None,
    session: SessionFile = None,
    json: Json = False,
    dry_run: DryRun = False,
    seed: Seed = None,
) -> None:
    """Measure how well a model from 'fit' predicts rows that were not used to fit it, privately.

    On the rows of the fit itself the costs of both add up, and the model looks better than it is.

    Example: tailguard evaluate model.json test.parquet --epsilon 0.5
    """
    with working("Planning", json):
        from tailguard.cli.carry_out import run_with_progress, show_plan
        from tailguard.cli.model_file import read_model
        from tailguard.cli.sources import Source
        from tailguard.ledger import session_of
        from tailguard.privacy import Privacy
        from tailguard.recipes.evaluation import plan_evaluation
        from tailguard.report import html, renderable
        from tailguard.report.words import NOT_PRIVATE
        from tailguard.run import make_randomness

        check_writable(report)
        fitted = read_model(model)
        judged = _judged(fitted)
        source = Source(data, target or fitted.target, list(fitted.names), fitted.classes, delimiter)
        asked = _checked(names(measures), judged)
        plan = plan_evaluation(judged, source.header()[0], Privacy(epsilon, delta), asked, _inside(level))
    if dry_run:
        show_plan(plan, json, session, report, source.target)
        return
    randomness = make_randomness(seed)
    if not (randomness.private and fitted.private):
        warn(NOT_PRIVATE)
    account = session_of("evaluate", session)
    engine = _guesses(fitted, source.open(json)) if fitted.rows else source.open(json)
    release = run_with_progress(plan, engine, randomness, "Evaluating", account, json)
    if report is not None:
        write(report, html(release, target=source.target))
    if json:
        say_json(_document(release))
    else:
        say(renderable(release))


def _judged(model: "Model") -> "Judged":
    from tailguard.recipes.evaluation import Judged

    if model.rows:
        return Judged((1.0,), 0.0, "mistakes")
    target = "numbers" if model.classes is None else "margins" if model.margins else "log-odds"
    return Judged(model.coefficients, model.intercept, target, model.within, model.ends)


def _guesses(model: "Model", engine: "Engine") -> "Engine":
    """Return records of 1 where one of several classes is predicted as it is, else −1; without a score, of nothing."""
    import numpy as np

    from tailguard.engines.changed import Changed
    from tailguard.statistics import View

    view, offsets = View(len(model.names), basis=np.array(model.rows).T), np.array(model.offsets)

    def judged(X: Any, y: Any) -> tuple[Any, Any]:
        with np.errstate(all="ignore"):
            scores = view.dense(X) + offsets
        known = np.isfinite(y) & ~np.isnan(scores).any(axis=1)
        return np.where(scores.argmax(axis=1) == y, 1.0, -1.0)[:, np.newaxis], np.where(known, 1.0, np.nan)

    return Changed(engine, judged, d=1)


def _checked(asked: list[str] | None, judged: "Judged") -> tuple[str, ...]:
    from tailguard._validate import choice

    return judged.measures if not asked else tuple(choice("measures", n, "evaluate", judged.measures) for n in asked)


def _inside(level: float) -> float:
    from tailguard._validate import real

    return real("level", level, "evaluate", above=0.0, below=1.0)


def _document(release: "Release") -> dict[str, Any]:
    from json import loads

    from tailguard.plans import dumps
    from tailguard.solvers.measures import Evaluated

    assert isinstance(release.estimate, Evaluated)
    fields = ("value", "standard_error", "privacy_error", "low", "high")
    return {
        "format": "tailguard evaluation 1",
        "private": release.private,
        "measures": {
            measure.name: {field: _number(getattr(measure, field)) for field in fields}
            for measure in release.estimate.measures
        },
        "clip": release.estimate.clip,
        "guarantee": {"epsilon": release.guarantee.epsilon, "delta": release.guarantee.delta},
        "numerics": release.numerics,
        "promise": loads(dumps(release.plan)),
    }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
