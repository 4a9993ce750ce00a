"""`tailguard audit`: the promise tried on data, by replacing a record with monsters, and by an attack."""

from dataclasses import asdict
from math import isfinite, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailguard._validate import integer
from tailguard.cli.console import progress, say, say_json, warn, working
from tailguard.cli.options import (
    Classes,
    Data,
    Delimiter,
    Delta,
    DryRun,
    Epsilon,
    Json,
    Method,
    ModelName,
    ParameterSet,
    Sparsity,
    make_estimator,
    names,
    public_classes,
    settings,
)
from tailguard.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table

    from tailguard.audit import Attack, Replay
    from tailguard.cli.sources import Source
    from tailguard.engines.base import Engine
    from tailguard.plans import Plan

__all__ = ["audit"]

MONSTERS = {"huge": (1e308, 1e308), "huge and negative": (-1e308, -1e308), "missing": (nan, nan), "zero": (0.0, 0.0)}
"""What a record is replaced by: all its features, and its target."""
HELD = 2**30
"""Bytes of records that are held in memory for an attack, which would read a file for every release of every run."""
WORD = "This was computed from exact data: it is for those who may see them, and must not be published."


def audit(
    data: Data,
    target: Annotated[str | None, typer.Option(help="Column to predict; without it, means are audited.")] = None,
    features: Annotated[
        str | None, typer.Option(help="Columns to use, with commas between; all others by default.")
    ] = None,
    model: Annotated[ModelName, typer.Option("--model", "--loss", help="What would be fitted.")] = ModelName.linear,
    classes: Classes = None,
    row: Annotated[int, typer.Option(help="Number of the row that is replaced, 0 for the first.")] = 0,
    attack: Annotated[
        int, typer.Option(help="Attack the fit too, with this many simulated runs: 1000 or more; 0 for none.")
    ] = 0,
    sparsity: Sparsity = None,
    delimiter: Delimiter = "auto",
    epsilon: Epsilon = 1.0,
    delta: Delta = 1e-6,
    method: Method = "auto",
    seed: Annotated[int, typer.Option(help="Of all noise, which is simulated.")] = 0,
    json: Json = False,
    dry_run: DryRun = False,
) -> None:
    """Replay a fit on data in which one row is replaced by monsters, and compare every statistic with its sensitivity.

    Nothing may change by more than the plan says, and the solver may ask nothing else. An attack runs the fit many
    times, with one of two records in that row, guesses which from all that was released, and says how large ε must be
    at least. For those who may see the data: what is printed is computed from exact values, and must not be published.

    Example: tailguard audit claims.parquet --target cost --epsilon 1 --row 17
    """
    if attack:
        integer("attack", attack, "audit", at_least=100)
    with working("Planning", json):
        from tailguard.cli.carry_out import show_plan

        source = _source(data, target, features, model, classes, delimiter)
        options = settings(epsilon, delta, method, ParameterSet.practical, None, None, None)
        kind = model if target else ModelName.mean
        estimator = make_estimator(kind, options, sparsity, classes=source.classes)
        rows, columns = source.header()
        plan = estimator.plan(rows, len(columns))
    if dry_run:
        show_plan(plan, json)
        return
    warn(WORD)
    engine = source.open(json)
    found = _replays(plan, source, engine, row, seed, json)
    attacked = _attack(plan, engine, row, attack, seed, json) if attack else None
    replayed = all(replay.holds for replay in found.values())
    holds = replayed and (attacked is None or attacked.holds)
    if json:
        say_json(_document(holds, row, found, attacked))
    else:
        words = "The plan kept its promise." if replayed else "The plan BROKE its promise: please report it."
        say(_table(found), "", words, *([] if attacked is None else ["", str(attacked)]))
    raise typer.Exit(0 if holds else 1)


def _source(
    data: Path, target: str | None, features: str | None, model: ModelName, classes: str | None, delimiter: str
) -> "Source":
    from tailguard.cli.sources import Source

    if target is None and model not in (ModelName.linear, ModelName.mean):
        raise ParameterError(f"The {model.value} model needs a --target.")
    return Source(data, target, names(features), public_classes(model, classes), delimiter)


def _replays(plan: "Plan", source: "Source", engine: "Engine", row: int, seed: int, quiet: bool) -> dict[str, "Replay"]:
    from tailguard.audit import Neighbour, replay_plan
    from tailguard.cli.sources import read_to_the_end

    found = {}
    with progress("Replaying", len(MONSTERS), quiet) as advance, read_to_the_end():
        for name, (x, y) in MONSTERS.items():
            label = y if source.classes is None or y != y else float(y > 0.0)
            found[name] = replay_plan(plan, engine, Neighbour(engine, row, x, label), seed=seed)
            advance(1)
    return found


def _attack(plan: "Plan", engine: "Engine", row: int, runs: int, seed: int, quiet: bool) -> "Attack":
    from tailguard import engines
    from tailguard.audit import attack_plan
    from tailguard.cli.sources import read_to_the_end

    with progress("Attacking", runs, quiet) as advance, read_to_the_end():
        held = engines.open(*engine.gather()) if 8 * engine.n * (engine.d + 1) <= HELD else engine
        return attack_plan(plan, held, row=row, runs=runs, seed=seed, advance=advance)


def _document(holds: bool, row: int, found: dict[str, "Replay"], attacked: "Attack | None") -> dict[str, Any]:
    """Return what was found, for machines."""
    document: dict[str, Any] = {"holds": holds, "row": row}
    document["changes"] = {name: replay.by_step for name, replay in found.items()}
    if attacked is not None:
        document["attack"] = {"verdict": attacked.verdict, **asdict(attacked)}
        if not isfinite(attacked.noise_upper):
            document["attack"]["noise_upper"] = None
    return document


def _table(found: dict[str, "Replay"]) -> "Table":
    """Return the largest change of every step, as a share of its sensitivity."""
    from rich.table import Table

    table = Table("step", title="Change of exact statistics ÷ sensitivity", title_justify="left")
    for name in found:
        table.add_column(name, justify="right")
    for step in next(iter(found.values())).by_step:
        table.add_row(step, *(f"{replay.by_step.get(step, nan):.3f}" for replay in found.values()))
    return table
