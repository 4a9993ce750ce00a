"""Which cells a run has: tasks, budgets and seeds of the full and of the fast benchmark."""

import fnmatch
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.datasets import development, folder, held_out
from benchmarks.objective import Budget, Dataset, Solver

__all__ = ["FIRST_SEED", "Level", "Unit", "choose", "tasks", "units"]

DELTA = 1e-6
NO_BUDGET = Budget(math.inf, 0.0)
"""What references without privacy are listed under; they run once a seed."""

LARGE, WIDE, HEAVY = 60_000, 100, 3_000_000
"""Records, columns and numbers above which fits are costly."""

COMPARED, MOST_COMPARED = ("linear", "skewed", "logistic"), 2.0
"""Groups of tasks, and the largest ε, at which recipes are compared to the best tuned peer of each task."""

OWN, NOISES = ("tailguard", "private null"), 10
"""What is compared with each other in median, at every budget; and its seeds on real data: their split is fixed, so
that seeds vary the noise alone."""

FIRST_SEED = {False: 83_000, True: 84_000}
"""By whether a task is held out. Nobody tunes on these seeds."""

FAST_TASKS = (
    "linear gaussian n=10000 d=20",
    "linear t3 n=10000 d=5",
    "linear t3 n=10000 d=20",
    "linear lognormal1 n=10000 d=20",
    "linear lognormal1 with skewed noise n=10000 d=20",
    "logistic gaussian n=10000 d=20",
    "logistic t3 n=10000 d=20",
    "logistic lognormal1 n=10000 d=5",
    "mean t3 n=10000 d=10",
    "mean lognormal1 n=10000 d=10",
    "sparse figure 7b n=10000 d=400",
    "real randhie visits",
    "linear pareto2.5 n=10000 d=20",
    "linear weibull0.6 n=10000 d=20",
    "logistic weibull0.6 n=10000 d=20",
    "mean pareto2.5 n=10000 d=10",
    "real fair any affair",
)


@dataclass(frozen=True)
class Level:
    """How much is run.

    Parameters
    ----------
    name : str
        "full" or "fast".
    compared : (int, int)
        Of synthetic regressions with up to 60 000 records, and of larger ones, at ε ≤ 2 with δ > 0: there tuned peers
        are the judge, and the best of a dozen variants on few seeds is the luckiest one. Ours at every ε.
    own : (int, int)
        Of peers that are told nothing there; of ours and the private null model on other synthetic tasks and with pure
        budgets.
    seeds : int
        Of others, on other synthetic tasks with up to 60 000 records, at ε = 0.5, 1 and 2 with δ > 0.
    few : int
        Of larger, sparse and real tasks, and of other budgets.
    fewest : int
        Of solvers that are slow, or run in other processes, on large and sparse tasks; at ε = 1 alone.
    large : bool
        Whether every budget is run, and larger tasks.
    limit : float
        Seconds after which a fit is given up.
    """

    name: str
    compared: tuple[int, int]
    own: tuple[int, int]
    seeds: int
    few: int
    fewest: int
    large: bool
    limit: float

    def budgets(self, dataset: Dataset, solver: Solver) -> list[Budget]:
        """Return the budgets of a solver on a task."""
        main = [Budget(epsilon, DELTA) for epsilon in (0.5, 1.0, 2.0)]
        if not solver.private:
            return [NO_BUDGET]
        if _is_rare(dataset, solver):
            return [main[1]]
        if solver.relation != "replace-one":
            return main  # a second row of methods that are judged in our relation
        if not self.large and dataset.group in ("mean", "sparse"):
            return [main[1]]
        if not self.large or _is_large(dataset):
            return [*main, Budget(1.0, 0.0)]
        pure = [Budget(epsilon, 0.0) for epsilon in (0.1, 0.5, 1.0, 2.0, 8.0)]
        return [Budget(0.1, DELTA), *main, Budget(8.0, DELTA), *pure]

    def repetitions(self, dataset: Dataset, solver: Solver, budget: Budget) -> int:
        """Return the number of seeds."""
        usual = budget.epsilon in (0.5, 1.0, 2.0) and not budget.pure
        large, own = _is_large(dataset), solver.name in OWN
        compared = self.compared[large] if dataset.group in COMPARED else 0
        if not solver.private:
            return 1 if dataset.real else max(self.own[large], compared)
        if dataset.real and own:
            return NOISES
        if _is_rare(dataset, solver):
            return self.fewest
        if solver.relation != "replace-one":
            return self.few
        judged = compared > 0 and not budget.pure and (own or budget.epsilon <= MOST_COMPARED)
        if judged and (own or solver.knows != "nothing"):
            return compared
        if own or judged:
            return self.own[large]
        return self.seeds if usual and dataset.n <= LARGE and dataset.group not in ("sparse", "real") else self.few


FULL = Level("full", compared=(16, 6), own=(9, 4), seeds=3, few=2, fewest=1, large=True, limit=300.0)
FAST = Level("fast", compared=(5, 3), own=(5, 3), seeds=5, few=3, fewest=1, large=False, limit=60.0)


@dataclass(frozen=True, eq=False)
class Unit:
    """A task and a seed: records are drawn once, and every cell is fitted on them."""

    dataset: Dataset
    seed: int
    cells: tuple[tuple[str, Budget], ...]

    def names(self) -> list[tuple[str, str, float, float, int]]:
        """Return what names the rows of the cells."""
        return [(self.dataset.name, key, budget.epsilon, budget.delta, self.seed) for key, budget in self.cells]


def _is_large(dataset: Dataset) -> bool:
    return dataset.n > LARGE


def _is_rare(dataset: Dataset, solver: Solver) -> bool:
    """Return whether a fit costs so much that few are made; tuned methods take a dozen fits for each of ours."""
    if dataset.n * dataset.d > HEAVY and dataset.task != "mean" and solver.name != "tailguard":
        return True
    return (solver.slow or hasattr(solver, "peer")) and (_is_large(dataset) or dataset.d > WIDE)


def tasks(level: Level, data_dir: Path | None = None) -> tuple[list[Dataset], dict[str, str]]:
    """Return the tasks of a level, and the tables that make none, with the reason."""
    found = [*development.tasks(), *held_out.tasks()]
    if not level.large:
        found = [dataset for dataset in found if dataset.name in FAST_TASKS]
    extra, skipped = folder.tables(data_dir) if data_dir else ([], {})
    absent = {} if find_spec("statsmodels") else {"tables of statsmodels": "it is not installed"}
    return [*found, *extra], absent | skipped


def choose(names: Sequence[str], patterns: Sequence[str]) -> set[str]:
    """Return the names that contain one of the patterns, or match it as a shell pattern; all without patterns."""
    if not patterns:
        return set(names)
    return {name for name in names for word in patterns if word in name or fnmatch.fnmatch(name, word)}


def units(
    level: Level,
    datasets: Sequence[Dataset],
    solvers: Sequence[Solver],
    seeds: int | None = None,
    budgets: Sequence[Budget] = (),
) -> list[Unit]:
    """Return the units of a run: small tasks first, and one seed of all of them before the next seed.

    A run that is stopped early then covers every small task with fewer seeds.

    Parameters
    ----------
    level : Level
        How much.
    datasets, solvers : sequence
        What is chosen.
    seeds : int or None, default=None
        Number of seeds instead of the level's.
    budgets : sequence of Budget, default=()
        Budgets that are kept of the level's; without any, all.
    """
    found = [unit for dataset in datasets for unit in _units(level, dataset, solvers, seeds, budgets)]
    return sorted(found, key=lambda unit: (_is_large(unit.dataset), unit.seed - _first(unit.dataset)))


def _first(dataset: Dataset) -> int:
    return FIRST_SEED[dataset.held_out]


def _units(
    level: Level, dataset: Dataset, solvers: Sequence[Solver], seeds: int | None, budgets: Sequence[Budget]
) -> Iterator[Unit]:
    offered = [
        (solver, budget, seeds or level.repetitions(dataset, solver, budget))
        for solver in solvers
        for budget in level.budgets(dataset, solver)
        if solver.supports(dataset, budget) is None and (not budgets or budget in (*budgets, NO_BUDGET))
    ]
    for index in range(max((count for *_, count in offered), default=0)):
        cells = tuple((solver.key, budget) for solver, budget, count in offered if index < count)
        yield Unit(dataset, _first(dataset) + index, cells)
