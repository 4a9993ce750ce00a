"""What a data set, a solver and a fit are, and what a row of the results says.

A data set draws records and judges fits; a solver fits; the runner brings them together. A solver that diverges counts
as its value, one that refuses answers with the null model: neither is ever missing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Budget", "Dataset", "Drawn", "Fit", "Matrix", "Refused", "Relation", "Solver", "Task", "Vector"]

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
Task = Literal["mean", "linear", "logistic", "sparse", "sparse-logistic"]
Relation = Literal["replace-one", "add-or-remove-one", ""]


class Refused(Exception):  # noqa: N818 - an outcome, not a mistake
    """A method says, before it sees data, that the budget cannot carry it; the null model answers instead."""


@dataclass(frozen=True)
class Budget:
    """(ε, δ); δ = 0 is pure differential privacy."""

    epsilon: float
    delta: float

    @property
    def pure(self) -> bool:
        return self.delta == 0.0


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients (for a mean: the mean) and an intercept, in raw units.

    Parameters
    ----------
    coefficients : array of shape (d,)
        As a user would apply them to raw columns.
    intercept : float, default=0.0
        In units of the target, or of log-odds.
    spent : (epsilon, delta) or None, default=None
        What was really spent, recomputed by us for what was really done, in the solver's own relation.
    seconds, peak_mb : float or None, default=None
        Where the solver measures them better than the runner can, as in another process.
    predict : callable or None, default=None
        What its own software says of new rows, numbers or log-odds, where that is more than its coefficients do. Real
        tables are judged by it; where the answer is known, coefficients are.
    """

    coefficients: Vector
    intercept: float = 0.0
    spent: tuple[float, float] | None = None
    seconds: float | None = None
    peak_mb: float | None = None
    predict: Callable[[Matrix], Vector] | None = None

    def values(self, X: Matrix) -> Vector:
        """Return what the coefficients say of new rows."""
        with np.errstate(all="ignore"):
            return X @ self.coefficients + self.intercept

    def predictions(self, X: Matrix) -> Vector:
        """Return what is predicted of new rows."""
        return self.values(X) if self.predict is None else self.predict(X)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Records of one seed; labels are 0 and 1.

    Parameters
    ----------
    X, y : arrays
        What is fitted on; `y` is None for a mean.
    X_test, y_test : arrays or None
        Fresh records, for the measures alone.
    sparsity : int or None
        A public number of non-zero coefficients, which every solver is told.
    truth : object or None
        What the data set needs to judge a fit.
    """

    X: Matrix
    y: Vector | None = None
    X_test: Matrix | None = None
    y_test: Vector | None = None
    sparsity: int | None = None
    truth: Any = None

    def records(self) -> "Drawn":
        """Return what a solver may see: no test records, no truth."""
        return replace(self, X_test=None, y_test=None, truth=None)


class Dataset(ABC):
    """A task: how records are drawn, and how a fit is judged.

    Attributes
    ----------
    name : str
        Unique; no comma.
    task : {"mean", "linear", "logistic", "sparse", "sparse-logistic"}
        What is fitted.
    n, d : int
        Records that are fitted on, and columns.
    tail : str
        Tail index of features and noise, in words.
    held_out : bool
        Whether recipes were never tuned on it.
    real : bool
        Whether the records are real ones, split by a fixed public rule.
    sparsity : int or None
        Public number of non-zero coefficients.
    group : str
        Tasks of a group are averaged together: "linear", "skewed", "logistic", "mean", "sparse" or "real".
    """

    name: str
    task: Task
    n: int
    d: int
    tail: str
    held_out: bool = False
    real: bool = False
    sparsity: int | None = None
    group: str = ""

    @abstractmethod
    def draw(self, seed: int) -> Drawn:
        """Return the records of a seed; the same seed gives the same records."""

    @abstractmethod
    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        """Return the measures of a fit.

        `excess` is the excess risk ÷ the null model's (1: learned nothing; 0: the truth), for real data the held-out
        risk ÷ the null model's, and for a mean the error in units of the sample mean's standard error. Beside it, where
        they exist: `r2` or `auc`, `median_error` and `trimmed_error` (÷ the null model's), `coefficient_error`,
        `recall`.
        """


class Solver(ABC):
    """A way to fit.

    Attributes
    ----------
    name, variant : str
        Oracle tuning is done with variants: objects of one name, all of which are run; the best median is reported and
        marked as tuned by an oracle.
    tasks : tuple of str
        Tasks that it fits.
    private : bool
        False for references.
    pure : bool or "both"
        Whether it takes pure budgets only (True), approximate ones only (False), or both.
    relation : {"replace-one", "add-or-remove-one", ""}
        Neighbours that its noise is calibrated for.
    knows : str
        What it is told that a user would not know.
    slow : bool
        Whether the runner gives it fewer seeds (stated in the results).
    """

    name: str
    variant: str = ""
    tasks: tuple[str, ...]
    private: bool = True
    pure: bool | Literal["both"] = "both"
    relation: Relation = "replace-one"
    knows: str = "nothing"
    slow: bool = False

    @property
    def key(self) -> str:
        """Name, variant and relation: what tells its rows from others'."""
        return "|".join((self.name, self.variant, self.relation))

    def available(self) -> str | None:
        """Return None, or the reason why it cannot run here."""
        return None

    def supports(self, dataset: Dataset, budget: Budget) -> str | None:
        """Return None, or the reason why this task or budget is not for it."""
        if dataset.task not in self.tasks:
            return f"no {dataset.task} fits"
        if self.private and self.pure != "both" and self.pure != budget.pure:
            return "pure budgets only" if self.pure else "no pure budgets"
        return None

    @abstractmethod
    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        """Return the fit; `data` holds no test records and no truth. Raise `Refused` instead of fitting noise."""
