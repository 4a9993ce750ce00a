"""One cell: a solver fits the records of a task and a seed, and the task judges the fit."""

import math
import resource
import signal
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.objective import Budget, Dataset, Drawn, Fit, Refused, Solver
from benchmarks.solvers.null import constant

__all__ = ["MEASURES", "WORST", "row"]

MEASURES = (
    "excess",
    "r2",
    "auc",
    "wrong",
    "median_error",
    "trimmed_error",
    "coefficient_error",
    "recall",
)
WORST = 1e12
"""What a measure without a finite value counts as."""

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def row(dataset: Dataset, solver: Solver, budget: Budget, seed: int, drawn: Drawn, limit: float) -> dict[str, Any]:
    """Return the row of a cell."""
    found = {
        "task": dataset.name,
        "kind": dataset.task,
        "group": dataset.group,
        "n": dataset.n,
        "d": dataset.d,
        "tail": dataset.tail,
        "held_out": dataset.held_out,
        "method": solver.name,
        "variant": solver.variant,
        "knows": solver.knows,
        "relation": solver.relation,
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "seed": seed,
    }
    return found | _outcome(dataset, solver, budget, seed, drawn, limit)


def _outcome(dataset: Dataset, solver: Solver, budget: Budget, seed: int, drawn: Drawn, limit: float) -> dict[str, Any]:
    reason = solver.available()
    if reason is not None:
        return {"status": f"skipped: {reason}"}
    try:
        fit, seconds, peak = _measured(lambda: solver.fit(dataset.task, drawn.records(), budget, seed), limit)
    except Refused:
        null = constant(dataset.task, drawn)
        return {**_judged(dataset, drawn, null), "seconds": 0.0, "peak_mb": 0.0, "status": "refused"}
    except Exception as error:  # a peer may fail in any way; the row says how
        return {"status": f"skipped: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:200]}
    measures = _judged(dataset, drawn, fit)
    finite = np.all(np.isfinite(fit.coefficients)) and math.isfinite(fit.intercept)
    spent = fit.spent or (None, None)
    return {
        **measures,
        "seconds": seconds if fit.seconds is None else fit.seconds,
        "peak_mb": peak if fit.peak_mb is None else fit.peak_mb,
        "spent_epsilon": spent[0],
        "spent_delta": spent[1],
        "status": "ok" if finite and abs(measures["excess"]) < WORST else "diverged",
    }


def _judged(dataset: Dataset, drawn: Drawn, fit: Fit) -> dict[str, float]:
    """Return the measures; what is not finite counts as the worst."""
    worst = {"r2": -WORST, "auc": 0.5, "recall": 0.0, "wrong": 1.0}
    found = dataset.measures(drawn, fit)
    return {name: value if math.isfinite(value) else worst.get(name, WORST) for name, value in found.items()}


def _measured(action: Callable[[], Fit], limit: float) -> tuple[Fit, float, float]:
    """Return the fit, its wall-clock seconds, and the megabytes by which it raised the process's memory."""
    before, reset = _memory("VmRSS"), _reset_peak()
    begun = time.perf_counter()
    with _deadline(limit), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        fit = action()
    seconds = time.perf_counter() - begun
    return fit, seconds, max(0.0, _memory("VmHWM") - before) if reset else math.nan


def _reset_peak() -> bool:
    """Forget the highest memory so far, where the system can (Linux)."""
    try:
        CLEAR.write_text("5")
    except OSError:
        return False
    return True


def _memory(name: str) -> float:
    if not STATUS.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024.0


@contextmanager
def _deadline(seconds: float):
    """Raise TimeoutError after that many seconds, at the next line of Python."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
