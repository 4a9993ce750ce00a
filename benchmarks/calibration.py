"""No baseline with too little noise is ever compared with: recomputed ε ÷ asked ε, and a replay on neighbours.

Run as `python -m benchmarks.calibration`. For every private method of the registry, each variant, task and budget: what
was spent, recomputed from the noise that was really added, ÷ what was asked. For the baselines written here also a
replay: the method runs on two neighbouring data sets and is told the same noisy answers on both. Then every exact
statistic may have moved by at most its declared sensitivity, the questions must be the same, and so must the fit, or
the method knows more than it was told. The records put in its way are 1e308, NaN, infinities, far outliers and flipped
signs.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.noise import Departed, Noise
from benchmarks.objective import Budget, Dataset, Drawn, Fit, Refused, Solver
from benchmarks.solvers import solvers
from benchmarks.solvers.baseline import Baseline
from benchmarks.solvers.peer import PeerSolver

__all__ = ["Line", "Replayed", "Small", "check", "neighbours", "replay"]

BUDGETS = tuple(Budget(epsilon, delta) for epsilon in (0.1, 0.5, 1.0, 2.0, 8.0) for delta in (1e-6, 0.0))
FEW = (Budget(1.0, 1e-6), Budget(1.0, 0.0))
"""Budgets of methods that run in another process."""

ROOM = 1e-6
"""Relative rounding that is forgiven: sums in floats, searches in calibrations."""

OUT = Path("docs/results/calibration.md")
HEAD = """# Calibration of the private methods

`python -m benchmarks.calibration`, development seed 501, small data sets (n = 3000, d = 5) of every task; ε = .1 … 8
with δ = 1e-6 and δ = 0, where a method takes them (libraries in environments of their own: ε = 1). *Recomputed ÷
asked*: the guarantee from the noise that was really added, through a second accountant, in the method's own relation;
the worst over variants, tasks and budgets.
*Change ÷ sensitivity*: for the first variant of each baseline written here, how far each exact statistic moved between
neighbouring data sets with strange records, as a share of its declared sensitivity; at most 1, and close to 1 where the
bound is tight.
"""
TASKS = ("mean", "linear", "logistic", "sparse", "sparse-logistic")


class Small(Dataset):
    """A few thousand heavy-tailed records in five columns of different units: enough for every budget but the least."""

    def __init__(self, task: str, n: int = 3000, d: int = 5) -> None:
        self.name, self.task, self.n, self.d, self.tail = f"small {task}", task, n, d, "t3"
        self.sparsity = 2 if task.startswith("sparse") else None

    def draw(self, seed: int) -> Drawn:
        rng = np.random.default_rng([seed, self.n, self.d])
        X = rng.standard_t(3, (self.n, self.d))
        w = np.where(np.arange(self.d) < (self.sparsity or self.d), 1.0, 0.0)
        score = X @ w + rng.standard_t(3, self.n)
        raw = X * 10.0 ** np.linspace(-2, 2, self.d) + 1.0
        if self.task == "mean":
            return Drawn(raw)
        y = (score > 0.0).astype(float) if self.task.endswith("logistic") else 100.0 + 5.0 * score
        return Drawn(raw, y, sparsity=self.sparsity)

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        return {}


@dataclass(frozen=True)
class Replayed:
    """What a replay found: the largest change ÷ declared sensitivity by release, and whether anything else leaks."""

    ratios: dict[str, float]
    same_questions: bool
    same_fit: bool

    @property
    def worst(self) -> float:
        return max(self.ratios.values(), default=0.0)

    @property
    def holds(self) -> bool:
        return self.same_questions and self.same_fit and self.worst <= 1.0 + ROOM


@dataclass(frozen=True)
class Line:
    """Calibration of one method: the worst ratio of recomputed to asked ε, the worst replay, over what it supports."""

    method: str
    variant: str
    relation: str
    runs: int
    spent: float
    replayed: Replayed | None

    @property
    def holds(self) -> bool:
        return self.spent <= 1.0 + ROOM and (self.replayed is None or self.replayed.holds)


def neighbours(data: Drawn, relation: str) -> Iterator[tuple[Drawn, Drawn]]:
    """Yield pairs of data sets that differ in one record.

    Where records are added or removed, n being public, one of a pair has a record that counts for nothing.
    """
    strange = list(_strange(data))
    if relation == "add-or-remove-one":
        missing = _put(data, np.full(data.X.shape[1], np.nan), math.nan)
        yield from ((missing, other) for other in [data, *strange])
        return
    yield from ((data, other) for other in strange)
    yield from zip(strange[:-1:2], strange[1::2], strict=False)


def _strange(data: Drawn) -> Iterator[Drawn]:
    """Yield data sets whose record in the middle is another one; neighbours in this order are opposite."""
    d = data.X.shape[1]
    spread, base = data.X.std(axis=0), data.X.mean(axis=0)
    high, low = (1.0, 0.0) if data.y is not None and set(np.unique(data.y)) <= {0.0, 1.0} else (1e6, -1e6)
    for far in (30.0, 1e9):
        yield _put(data, base + far * spread, high)
        yield _put(data, base - far * spread, high)
        yield _put(data, base + far * spread, high)
        yield _put(data, base + far * spread, low)
    yield _put(data, base + spread * np.where(np.arange(d) % 2, 40.0, -40.0), low)
    yield _put(data, -data.X[len(data.X) // 2], low)
    for number in (1e308, -1e308, np.inf, -np.inf, np.nan, 0.0, 5e-324):
        yield _put(data, np.full(d, number), number)
    yield _put(data, base, 7.0)


def _put(data: Drawn, row: np.ndarray, target: float) -> Drawn:
    X, i = data.X.copy(), len(data.X) // 2
    X[i] = row
    if data.y is None:
        return replace(data, X=X)
    y = data.y.copy()
    y[i] = target
    return replace(data, X=X, y=y)


def replay(solver: Baseline, task: str, data: Drawn, pair: tuple[Drawn, Drawn], budget: Budget, seed: int) -> Replayed:
    """Run a baseline on both data sets of a pair, told the same facts (of `data`) and the same noisy answers."""
    told = solver.told(task, data)
    first = Noise(seed)
    fit = _outcome(solver, task, pair[0], budget, first, told)
    second = Noise(seed, told=first)
    try:
        other = _outcome(solver, task, pair[1], budget, second, told)
        same_questions = len(first.asked) == len(second.asked) and first.event == second.event
    except Departed:
        other, same_questions = None, False
    ratios: dict[str, float] = {}
    for one, two in zip(first.asked, second.asked, strict=False):
        same_questions &= (one.name, one.sensitivity, one.norm) == (two.name, two.sensitivity, two.norm)
        ratios[one.name] = max(ratios.get(one.name, 0.0), one.change(two))
    return Replayed(ratios, same_questions, same_questions and other is not None and fit == other)


def _outcome(solver: Baseline, task: str, data: Drawn, budget: Budget, noise: Noise, told: object) -> bytes | str:
    try:
        fit = solver.answer(task, data, budget, noise, told)
    except Refused as refusal:
        return str(refusal)
    return np.append(fit.coefficients, fit.intercept).tobytes()


def _merged(parts: Sequence[Replayed]) -> Replayed:
    names = {name for part in parts for name in part.ratios}
    worst = {name: max(part.ratios.get(name, 0.0) for part in parts) for name in sorted(names)}
    return Replayed(worst, all(part.same_questions for part in parts), all(part.same_fit for part in parts))


def check(
    solver: Solver,
    budgets: Sequence[Budget] = BUDGETS,
    *,
    replayed: Sequence[Budget] | None = None,
    n: int = 3000,
    seed: int = 501,
) -> Line:
    """Return the calibration of a solver over the tasks and budgets that it supports.

    Parameters
    ----------
    solver : Solver
        A private one.
    budgets : sequence of Budget
        At which ε is recomputed.
    replayed : sequence of Budget, optional
        At which a baseline is replayed; by default ε = 1 and 8.
    n, seed : int
        Size and seed of the small data sets; development seeds.
    """
    ratios, replays = [], []
    replayed = [budget for budget in budgets if budget.epsilon in (1.0, 8.0)] if replayed is None else replayed
    for task in TASKS:
        dataset = Small(task, n)
        data = dataset.draw(seed)
        for budget in budgets:
            if solver.supports(dataset, budget) is not None:
                continue
            ratios += _spent(solver, task, data, budget, seed)
            if isinstance(solver, Baseline) and budget in replayed:
                pairs = neighbours(data, solver.relation)
                replays += [replay(solver, task, data, pair, budget, seed) for pair in pairs]
    worst = max(ratios, default=0.0)
    return Line(solver.name, solver.variant, solver.relation, len(ratios), worst, _merged(replays) if replays else None)


def _spent(solver: Solver, task: str, data: Drawn, budget: Budget, seed: int) -> list[float]:
    """Return recomputed ε ÷ asked ε; nothing where the method refuses, infinity where it does not say."""
    try:
        fit = solver.fit(task, data, budget, seed)
    except Refused:
        return []
    if fit.spent is None or fit.spent[1] > budget.delta:
        return [math.inf]
    return [fit.spent[0] / budget.epsilon]


def table(lines: Sequence[Line]) -> str:
    """Return a Markdown table, one row a method: the worst of its variants."""
    rows = [
        "| method | neighbours | variants | fits | recomputed ε ÷ asked ε | largest change ÷ sensitivity | verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(line.method for line in lines):
        mine = [line for line in lines if line.method == name]
        spent, fits = max(line.spent for line in mine), sum(line.runs for line in mine)
        replays = [line.replayed for line in mine if line.replayed is not None]
        changes = (
            ", ".join(f"{step} {ratio:.3f}" for step, ratio in _merged(replays).ratios.items()) or "not replayed here"
        )
        verdict = "holds" if all(line.holds for line in mine) else "FAILS"
        ratio = f"{spent:.6f}" if fits else "refused everywhere"
        rows.append(f"| {name} | {mine[0].relation} | {len(mine)} | {fits} | {ratio} | {changes} | {verdict} |")
    return "\n".join(rows)


def main() -> None:
    lines, honest = [], True
    for solver in solvers():
        if solver.private and solver.available() is None:
            # Variants differ in public numbers alone: one of each method is replayed.
            known = any(line.method == solver.name for line in lines)
            budgets = FEW if isinstance(solver, PeerSolver) else BUDGETS
            lines.append(check(solver, budgets, replayed=[] if known else None))
            # A library that spends more than asked is marked wherever it is shown, and is never the best peer.
            honest &= lines[-1].holds or isinstance(solver, PeerSolver)
            print(f"{solver.name}, {solver.variant}: {'holds' if lines[-1].holds else 'FAILS'}", flush=True)
    OUT.write_text(f"{HEAD}\n{table(lines)}\n")
    print(f"\n{table(lines)}\n\nWritten to {OUT}.")
    if not honest:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
