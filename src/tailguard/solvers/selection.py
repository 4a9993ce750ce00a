"""Several fits in one plan, and a private choice among them."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from tailguard._validate import choice
from tailguard.losses.absolute import Absolute
from tailguard.losses.logistic import Logistic
from tailguard.losses.squared import Squared
from tailguard.solvers.base import OPTIONAL, Estimate, Query, Released, Setting, Solve, Solver
from tailguard.solvers.class_descent import ClassEstimate
from tailguard.solvers.feature_range import FeatureRange
from tailguard.solvers.picked import magnitude
from tailguard.solvers.spread import HIGH, LOW
from tailguard.statistics.arrays import FloatMatrix
from tailguard.statistics.class_regret import ClassLogLoss, ClassMistakes, ClassRegret
from tailguard.statistics.coordinatewise import Clamped
from tailguard.statistics.improvement import LeastLoss, MiddleRegret, Regret, Valued
from tailguard.statistics.judged import Misclassified
from tailguard.statistics.scores import Shifted
from tailguard.statistics.view import View

__all__ = ["SCORINGS", "Candidate", "ModelSelection", "Scoring", "Selected", "SelectedClasses", "step_name"]

Scoring = Literal["squared", "absolute", "log_loss", "error_rate"]

SCORINGS: dict[str, Valued] = {
    "squared": Squared(),
    "absolute": Absolute(smoothing=1e-200),
    "log_loss": Logistic(),
    "error_rate": Misclassified(),
}
"""By what models are compared."""

CLASS_SCORINGS = {"log_loss": ClassLogLoss(), "error_rate": ClassMistakes()}
"""The same for more than two classes."""

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


@dataclass(frozen=True, eq=False)
class SelectedClasses(Selected, ClassEstimate):
    """The same for models of more than two classes."""


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
    classes : int or None, default=None
        How many classes there are, where there are more than two.
    """

    candidates: tuple[Candidate, ...]
    scoring: Scoring
    n: int
    d: int
    bits: int
    tail: float
    widening: float
    pick: float
    classes: int | None = field(default=None, metadata=OPTIONAL)

    def __post_init__(self) -> None:
        choice("scoring", self.scoring, "ModelSelection", SCORINGS if self.classes is None else CLASS_SCORINGS)

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the chosen model."""
        models = []
        for number, candidate in enumerate(self.candidates):
            model = yield from _named(candidate.solver.solve(), number)
            models.append(replace(model, uncertainty=None))  # intervals do not survive a choice
        wide = [self._wide(model, candidate.columns) for model, candidate in zip(models, self.candidates, strict=True)]
        regret = self._regret(wide)
        unit = yield from self._unit(regret)
        limit = yield from self._limit(regret)
        sizes = np.array([candidate.size for candidate in self.candidates])
        scores = Clamped(replace(regret, half=0.5 * limit), 0.5 * limit, self.bits)
        reply = yield Query("choice", Shifted(scores, unit * (sizes.min() - sizes)))
        winner = int(np.clip(reply.value[0], 0, len(models) - 1))
        noise = limit * self.pick / self.n
        return self._selected(wide[winner], winner, models, noise)

    def _regret(self, wide: list[FloatMatrix]) -> Regret:
        """Return what records have against the models."""
        everything = np.concatenate(wide, axis=1)
        view, offsets = View(self.d, basis=everything[: self.d]), everything[self.d]
        if self.classes is None:
            return Regret(view, SCORINGS[self.scoring], offsets, 1.0)
        return ClassRegret(view, CLASS_SCORINGS[self.scoring], offsets, 1.0, self.classes)  # type: ignore[arg-type]

    def _selected(self, chosen: FloatMatrix, winner: int, models: list[Estimate], noise: float) -> Selected:
        """Return the chosen model on all columns."""
        common = {"winner": winner, "models": tuple(models), "noise": noise}
        if self.classes is not None:
            return SelectedClasses(chosen[: self.d].T, offsets=chosen[self.d], **common)  # type: ignore[arg-type]
        return Selected(
            chosen[: self.d, 0],
            float(chosen[self.d, 0]),
            prediction_range=models[winner].prediction_range,
            feature_range=self._among(models[winner], self.candidates[winner].columns),
            **common,  # type: ignore[arg-type]
        )

    def _among(self, model: Estimate, columns: tuple[int, ...] | None) -> FeatureRange | None:
        """Return where the rows with all columns are."""
        found = model.feature_range
        return found if found is None or columns is None else found.among(self.d, columns)

    def _wide(self, model: Estimate, columns: tuple[int, ...] | None) -> FloatMatrix:
        """Return coefficients for all columns, then the intercept: a column of them, or one for each class."""
        offsets = model.offsets if isinstance(model, ClassEstimate) else np.array([model.intercept])
        everywhere = np.zeros((self.d + 1, offsets.size))
        seen = list(range(self.d) if columns is None else columns)
        everywhere[seen] = np.nan_to_num(np.atleast_2d(model.coefficients)).T
        everywhere[self.d] = np.nan_to_num(offsets)
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
