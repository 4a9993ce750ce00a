"""Solvers ask and are told: they never hold a record, a generator or a number that was not released.

A solver is a frozen set of public numbers with one method, `solve`, a Python generator. It yields a `Query`, is sent
the `Released` answer, and returns an `Estimate`. Everything it computes is post-processing.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from tailguard._validate import real
from tailguard.statistics.base import Statistic

if TYPE_CHECKING:
    from tailguard.solvers.feature_range import FeatureRange

__all__ = [
    "EVERYWHERE",
    "OPTIONAL",
    "Estimate",
    "FloatVector",
    "Query",
    "Range",
    "Released",
    "Setting",
    "Solve",
    "Solver",
    "Uncertainty",
]

FloatVector: TypeAlias = NDArray[np.float64]

Range: TypeAlias = tuple[float, float]
"""The least and the greatest of some numbers."""

EVERYWHERE: Range = (-inf, inf)
"""The range of all numbers."""

OPTIONAL = {"optional": True}
"""Metadata of a field that a plan's file leaves out where it is None: plans without it stay as they were."""


@dataclass(frozen=True)
class Query:
    """What a solver asks: the plan's step it belongs to, and a bounded statistic at released or public numbers.

    A `statistic` of None passes the step over. It is charged all the same and answered by zeros: whether a step is
    needed is a released fact, what it costs was fixed before.
    """

    step: str
    statistic: Statistic | None


@dataclass(frozen=True, eq=False)
class Released:
    """The answer: a noisy sum over the step's records, in the statistic's own units.

    Attributes
    ----------
    step : str
        Name of the plan's step.
    value : float64 vector
        Released sum (for a selection: the chosen indices).
    noise : float
        Scale of the noise in each coordinate, a public number in the same units.
    exponential : bool, default=False
        Whether its tails are those of Laplace's law, and `noise` is not its deviation.
    """

    step: str
    value: FloatVector
    noise: float
    exponential: bool = False


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How far the truth may be from what was released: sampling error and the noise of privacy together.

    Attributes
    ----------
    centre : float64 vector
        An estimate that is not shrunk towards anything, in raw units: coefficients, then the intercept if there is one.
    covariance : float64 matrix
        Of the centre.
    upward : float64 vector or None
        Squared standard errors towards larger numbers minus those towards smaller ones, where they differ; their means
        are the covariance's diagonal.
    """

    centre: FloatVector
    covariance: NDArray[np.float64]
    upward: FloatVector | None = None

    @property
    def std_error(self) -> FloatVector:
        """Standard errors of the coefficients, then of the intercept."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def interval(self, level: float = 0.95) -> NDArray[np.float64]:
        """Return the lower and upper ends of confidence intervals, one pair a row.

        Parameters
        ----------
        level : float, default=0.95
            Wanted probability that an interval covers the truth, one at a time.
        """
        level = real("level", level, "interval", above=0.0, below=1.0)
        reach, apart = float(ndtri(0.5 + 0.5 * level)), 0.0 if self.upward is None else 0.5 * self.upward
        down, up = (np.sqrt(np.maximum(np.diag(self.covariance) + part, 0.0)) for part in (-apart, apart))
        return np.column_stack([self.centre - reach * down, self.centre + reach * up])


@dataclass(frozen=True, eq=False)
class Estimate:
    """A fitted linear model in raw units; for a mean, the coefficients are the mean.

    Attributes
    ----------
    coefficients, intercept : float64 vector, float
        The model.
    uncertainty : Uncertainty or None
        What is known of its error, where the recipe releases what that takes.
    prediction_range : (float, float)
        Where the targets are, by what was released of them: predictions are held in it. All numbers, where nothing was.
    feature_range : FeatureRange or None
        Where the rows are: longer ones are predicted as if they ended there. None, where nothing was released of it.
    """

    coefficients: FloatVector
    intercept: float = 0.0
    uncertainty: Uncertainty | None = None
    prediction_range: Range = EVERYWHERE
    feature_range: "FeatureRange | None" = None


Solve: TypeAlias = Generator[Query, Released, Estimate]


class Setting:
    """Public numbers that several solvers share. Subclasses are frozen dataclasses."""


class Solver(ABC):
    """A data-free iteration. Subclasses are frozen dataclasses of plain public numbers, losses and domains."""

    @abstractmethod
    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
