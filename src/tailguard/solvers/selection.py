"""Several fits in one plan, and a private choice among them."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tailguard._validate import choice
from tailguard.losses.absolute import Absolute
from tailguard.losses.logistic import Logistic
from tailguard.losses.squared import Squared
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Setting, Solve, Solver
from tailguard.solvers.feature_range import FeatureRange
from tailguard.solvers.picked import magnitude
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.coordinatewise import Clamped
from tailguard.statistics.improvement import LeastLoss, MiddleRegret, Regret, Valued
from tailguard.statistics.judged import Misclassified
from tailguard.statistics.scores import Shifted
from tailguard.statistics.view import View

__all__ = ["SCORINGS", "Candidate", "ModelSelection", "Scoring", "Selected", "step_name"]

Scoring = Literal["squared", "absolute", "log_loss", "error_rate"]

SCORINGS: dict[str, Valued] = {
    "squared": Squared(),
    "absolute": Absolute(smoothing=1e-200),
    "log_loss": Logistic(),
    "error_rate": Misclassified(),
}
"""By what models are compared."""

PER_COEFFICIENT = {"log_loss": 1.0, "error_rate": 0.5}
"""By how much a sum of losses over the records that were fitted to falls for every coefficient, in mere noise; for
numbers it is a multiple of the usual loss."""


@dataclass(frozen=True)
class Candidate(Setting):
    """A fit that may be chosen.

    Parameters
    ----------
    solver : Solver
        How it is fitted.
    columns : tuple of int or None
        The columns it sees; None is all of them.
    size : float
        Number of coefficients, or what counts as such: larger models look better on the records they were fitted to.
    """

    solver: Solver
    columns: tuple[int, ...] | None
    size: float


@dataclass(frozen=True, eq=False)
class Selected(Estimate):
    """The chosen model on all columns, and all that were fitted.

    Attributes
    ----------
    winner : int
        Number of the chosen one.
    models : tuple of Estimate
        What was fitted, each on its own columns.
    noise : float
        Scale of the noise of the choice, in losses per record.
    """

    winner: int = 0
    models: tuple[Estimate, ...] = ()
    noise: float = 0.0


@dataclass(frozen=True)
class ModelSelection(Solver):
    """Fit every candidate, then pick the one whose clipped losses are least, less what fitting alone explains.

    Parameters
    ----------
    candidates : tuple of Candidate
        At least two. The steps of candidate k are called as `step_name(k, …)`.
    scoring : {"squared", "absolute", "log_loss", "error_rate"}
        The loss.
    n, d, bits : int
        Number of records and of columns, bits of the grid.
    tail, widening : float
        Share of the records beyond the picked size of a difference (step "choice level"), and how much farther one
        counts.
    pick : float
        Noise multiplier of the choice (step "choice").
    """

    candidates: tuple[Candidate, ...]
    scoring: Scoring
    n: int
    d: int
    bits: int
    tail: float
    widening: float
    pick: float

    def __post_init__(self) -> None:
        choice("scoring", self.scoring, "ModelSelection", SCORINGS)

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the chosen model."""
        models = []
        for number, candidate in enumerate(self.candidates):
            model = yield from _named(candidate.solver.solve(), number)
            models.append(replace(model, uncertainty=None))  # intervals do not survive a choice
        wide = [self._wide(model, candidate.columns) for model, candidate in zip(models, self.candidates, strict=True)]
        slopes, offsets = np.stack(wide, axis=1)[: self.d], np.array([model[self.d] for model in wide])
        regret = Regret(View(self.d, basis=slopes), SCORINGS[self.scoring], offsets, 1.0)
        unit = yield from self._unit(regret)
        limit = yield from self._limit(regret)
        sizes = np.array([candidate.size for candidate in self.candidates])
        scores = Clamped(replace(regret, half=0.5 * limit), 0.5 * limit, self.bits)
        reply = yield Query("choice", Shifted(scores, unit * (sizes.min() - sizes)))
        winner = int(np.clip(reply.value[0], 0, len(models) - 1))
        noise = limit * self.pick / self.n
        slopes, offset = wide[winner][: self.d], float(wide[winner][self.d])
        return Selected(
            slopes,
            offset,
            prediction_range=models[winner].prediction_range,
            feature_range=self._among(models[winner], self.candidates[winner].columns),
            winner=winner,
            models=tuple(models),
            noise=noise,
        )

    def _among(self, model: Estimate, columns: tuple[int, ...] | None) -> FeatureRange | None:
        """Return where the rows with all columns are."""
        found = model.feature_range
        return found if found is None or columns is None else found.among(self.d, columns)

    def _wide(self, model: Estimate, columns: tuple[int, ...] | None) -> FloatVector:
        """Return coefficients for all columns, and the intercept."""
        everywhere = np.zeros(self.d + 1)
        everywhere[list(range(self.d) if columns is None else columns)] = np.nan_to_num(model.coefficients)
        everywhere[self.d] = model.intercept
        return everywhere

    def _unit(self, regret: Regret) -> Generator[Query, Released, float]:
        """Return what every coefficient gains by fitting noise; a multiple of usual losses (step "usual error")."""
        if self.scoring in PER_COEFFICIENT:
            return PER_COEFFICIENT[self.scoring]
        usual = yield from magnitude("usual error", LeastLoss(regret), 0.5, self.n, self.bits)
        return 4.0 * usual if self.scoring == "squared" else usual

    def _limit(self, regret: Regret) -> Generator[Query, Released, float]:
        """Return how much a record may count for or against a model."""
        if self.scoring == "error_rate":
            return 1.0
        found = yield from magnitude("choice level", MiddleRegret(regret), 1.0 - self.tail, self.n, self.bits)
        return float(np.clip((found or 1.0) * self.widening, 2.0**LOW, 2.0**HIGH))


def step_name(number: int, name: str) -> str:
    """Return the name that a step of a candidate has in the plan of a selection."""
    return f"{number + 1}: {name}"


def _named(solve: Solve, number: int) -> Solve:
    """Let a candidate's solver ask under the names that its steps have in the plan."""
    try:
        query = next(solve)
        while True:
            query = solve.send((yield replace(query, step=step_name(number, query.step))))
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
