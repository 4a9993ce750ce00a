"""`python -m benchmarks`: run, summarise, draw the page, say what it says."""

import argparse
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console

from benchmarks import kept, plan, results, targets
from benchmarks.cost import estimate
from benchmarks.objective import Budget
from benchmarks.page import page
from benchmarks.run import missing, run
from benchmarks.solvers import solvers
from benchmarks.store import Store

__all__ = ["main"]

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "results" / "benchmark"
PACKAGES = ("tailguard", "numpy", "scipy", "scikit-learn", "numba", "opendp", "dp-accounting", "statsmodels")
RAW_LIMIT = 1_000_000
TUNED = "tuned.txt"
"""What was said against peers that were tuned on other seeds, of the last run with all of their fits."""


@dataclass(frozen=True)
class About:
    """How the numbers were made."""

    command: str
    facts: dict[str, str]
    skipped: dict[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return an exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser().parse_args(words)
    level = plan.FAST if options.fast else plan.FULL
    console = Console(soft_wrap=True, highlight=False)
    store = Store(options.out or Path("out") / f"bench-{level.name}")
    datasets, skipped_files = plan.tasks(level, options.data_dir)
    chosen = plan.choose([dataset.name for dataset in datasets], options.tasks)
    if not chosen:
        console.print(f"No task is called {', '.join(map(repr, options.tasks))}.")
        return 2
    datasets = [dataset for dataset in datasets if dataset.name in chosen]
    names = plan.choose([solver.name for solver in solvers()], options.methods)
    reasons = {solver.name: solver.available() for solver in solvers() if solver.name in names}
    skipped = skipped_files | {name: reason for name, reason in reasons.items() if reason is not None}
    usable = [solver for solver in solvers() if reasons.get(solver.name, "not chosen") is None]
    units = plan.units(level, datasets, usable, options.seeds, options.budgets)
    for name, reason in skipped.items():
        console.print(f"skipped: {name}: {reason}")
    left = missing(units, store)
    cells, todo = (sum(len(unit.cells) for unit in part) for part in (units, left))
    minutes = estimate(left) / options.jobs / 60.0
    console.print(
        f"{level.name} benchmark: {len(datasets)} tasks, {len(usable)} solvers, {cells} cells, {todo} to run."
    )
    console.print(
        f"About {minutes:.0f} minutes in {options.jobs} processes on idle cores; results in {store.path.parent}."
    )
    if todo and not options.report:
        store.note(_session(words, options.jobs))
        run(left, store, options.jobs, level.limit, console)
    about = _about(store.sessions(), skipped)
    if options.kept:
        say_kept(store, about, units, console, publish=options.publish)
    else:
        report(store, about, units, console, publish=options.publish)
    return 0


def report(store: Store, about: About, units: Sequence[plan.Unit], console: Console, publish: bool) -> None:
    """Write the tables and the page, and print what they say.

    A task and seed of which cells are missing is left out, so that all methods are compared on the same records.
    """
    raw, covers = _whole(store, units)
    about = replace(about, facts=about.facts | {"covers": covers})
    summary = results.summarise(raw)
    chosen = results.best(summary)
    tuned = list(targets.tuned_lines(summary, raw))
    text = [*targets.lines(chosen), "", *tuned]
    results.write(store.path.parent / "variants.csv", summary, results.SUMMARY)
    for folder in [store.path.parent, *([KEPT] if publish else [])]:
        results.write(folder / "summary.csv", chosen, results.SUMMARY)
        (folder / "index.html").write_text(page(summary, text, about, len(raw)), "utf-8")
    results.write(store.path.parent / "raw.csv", raw, results.RAW)
    if publish:
        _publish_raw(raw)
        (KEPT / TUNED).write_text("\n".join(tuned) + "\n", "utf-8")
        (KEPT / "about.md").write_text(_kept(about, summary, len(raw)), "utf-8")
    for line in text:
        console.print(line)
    failures = sorted({f"{row['method']}: {row['status']}" for row in raw if row["status"].startswith("skipped")})
    for failure in failures:
        console.print(failure)


def say_kept(store: Store, about: About, units: Sequence[plan.Unit], console: Console, publish: bool) -> None:
    """Print what the kept rows say with those of this run in their places, and keep that if asked to.

    All fits of all peers take hours. What needs every one of them (peers tuned on other seeds) stays as it was, unless
    they were all run.
    """
    raw, covers = _whole(store, units)
    summary = results.summarise(raw)
    before, new = results.read(KEPT / "summary.csv"), results.best(summary)
    chosen = kept.merged(before, new)
    if kept.repeats(before, new, plan.COMPARED):
        tuned = list(targets.tuned_lines(summary, raw))
        text = [*targets.lines(chosen), "", *tuned]
    else:
        tuned = (KEPT / TUNED).read_text("utf-8").splitlines()
        text = [*targets.lines(chosen), "", "As of the kept run before:", *tuned]
    told = (KEPT / "about.md").read_text("utf-8").strip()
    commit, date = (about.facts.get(name, "unknown") for name in ("commit", "date"))
    again = f"Run again: `{about.command}`, {len(raw)} fits, {covers}; commit: {commit}; date: {date}."
    if publish:
        whole = replace(about, facts=about.facts | {"all others": told})
        (KEPT / "index.html").write_text(page(chosen, text, whole, len(raw)), "utf-8")
        results.write(KEPT / "summary.csv", chosen, results.SUMMARY)
        (KEPT / TUNED).write_text("\n".join(tuned) + "\n", "utf-8")
        (KEPT / "about.md").write_text(f"{told} {again}\n", "utf-8")
    for line in text:
        console.print(line)


def _whole(store: Store, units: Sequence[plan.Unit]) -> tuple[results.Rows, str]:
    """Return the rows of units whose cells are all there, and how much of the plan that is."""
    rows = store.rows()
    whole = [unit for unit in units if all(key in rows for key in unit.names())]
    wanted = [rows[key] for unit in whole for key in unit.names()]
    raw = sorted(wanted, key=lambda row: [str(row[name]) for name in results.RAW[:14]])
    return raw, _coverage(whole, units)


def _coverage(whole: Sequence[plan.Unit], units: Sequence[plan.Unit]) -> str:
    """Return how much of the plan was run."""
    tasks = len({unit.dataset.name for unit in whole}), len({unit.dataset.name for unit in units})
    part = "the whole plan" if len(whole) == len(units) else "a run that was stopped"
    return f"{part}: {tasks[0]} of {tasks[1]} tasks, {len(whole)} of {len(units)} pairs of a task and a seed"


def _kept(about: About, summary: results.Rows, cells: int) -> str:
    """Return what the pages say about the kept run."""
    epsilons = {
        name: ", ".join(f"{epsilon:g}" for epsilon in sorted({row["epsilon"] for row in summary if pick(row)}))
        for name, pick in (("δ > 0", lambda row: row["delta"] > 0.0), ("pure", targets.is_pure))
    }
    seeds = sorted({row["seeds"] for row in summary if targets.private(row)})
    facts = "; ".join(
        f"{name}: {about.facts[name]}" for name in ("covers", "commit", "date", "machine") if name in about.facts
    )
    budgets = "; ".join(f"ε = {values} ({name})" for name, values in epsilons.items() if values)
    counts = f"{cells} fits, {seeds[0]} to {seeds[-1]} seeds"
    return f"`{about.command}`: {counts}; {budgets}. {facts[:1].upper()}{facts[1:]}.\n"


def _publish_raw(raw: results.Rows) -> None:
    path = KEPT / "raw.csv.gz"
    results.write(path, raw, results.RAW)
    if path.stat().st_size > RAW_LIMIT:
        path.unlink()


def _session(words: Sequence[str], jobs: int) -> dict[str, str]:
    """Return how the cells of a session are made."""
    return {
        "command": shlex.join(["python", "-m", "benchmarks", *_public(words)]),
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, {jobs} processes with one BLAS thread each",
        "Python": platform.python_version(),
        "versions": ", ".join(f"{name} {found}" for name in PACKAGES if (found := _version(name))),
        "commit": _commit(),
        "date": time.strftime("%Y-%m-%d"),
    }


def _about(sessions: Sequence[dict[str, str]], skipped: dict[str, str]) -> About:
    """Return the facts of the sessions that made the cells, each said once."""
    facts = {name: "; ".join(dict.fromkeys(session[name] for session in sessions)) for name in (sessions or [{}])[0]}
    seeds = f"from {plan.FIRST_SEED[False]} (development), from {plan.FIRST_SEED[True]} (held out)"
    return About(facts.pop("command", ""), {"seeds": seeds, **facts}, skipped)


def _public(words: Sequence[str]) -> list[str]:
    """Return the arguments with folders cut to their names; a budget such as 1/0 is none."""
    return [word if re.fullmatch(r"\d[^/]*/\d[^/]*", word) else Path(word).name for word in words]


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _commit() -> str:
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _budget(text: str) -> Budget:
    """Return a budget such as 1, which has the usual δ, or 1/0, which is pure."""
    epsilon, _, delta = text.partition("/")
    return Budget(float(epsilon), float(delta) if delta else plan.DELTA)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--fast", action="store_true", help="a part that ends within ten minutes on two cores")
    parser.add_argument("--tasks", nargs="*", default=[], help="names, parts of names or shell patterns")
    parser.add_argument("--methods", nargs="*", default=[], help="names, parts of names or shell patterns")
    parser.add_argument("--budgets", nargs="*", type=_budget, default=[], help="ε or ε/δ, such as 0.5 1 1/0")
    parser.add_argument("--data-dir", type=Path, help="a folder of Parquet or CSV files with a column `target`")
    parser.add_argument("--out", type=Path, help="where results go (default: out/bench-full or out/bench-fast)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--seeds", type=int, help="number of seeds, instead of the level's")
    parser.add_argument("--report", action="store_true", help="run nothing; write tables and page of what is there")
    parser.add_argument("--kept", action="store_true", help="take all rows that are not run here from the kept summary")
    parser.add_argument("--publish", action="store_true", help="keep summary and page in docs/results/benchmark")
    return parser
