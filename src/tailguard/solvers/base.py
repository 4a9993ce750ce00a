"""Solvers ask and are told: they never hold a record, a generator or a number that was not released.

A solver is a frozen set of public numbers with one method, `solve`, a Python generator. It yields a `Query`, is sent
the `Released` answer, and returns an `Estimate`. Everything it computes is post-processing.
"""

from abc import ABC, abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tailguard.statistics.base import Statistic

__all__ = ["Estimate", "FloatVector", "Query", "Released", "Setting", "Solve", "Solver"]

FloatVector: TypeAlias = NDArray[np.float64]


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
    """

    step: str
    value: FloatVector
    noise: float


@dataclass(frozen=True, eq=False)
class Estimate:
    """A fitted linear model in raw units; for a mean, the coefficients are the mean."""

    coefficients: FloatVector
    intercept: float = 0.0


Solve: TypeAlias = Generator[Query, Released, Estimate]


class Setting:
    """Public numbers that several solvers share. Subclasses are frozen dataclasses."""


class Solver(ABC):
    """A data-free iteration. Subclasses are frozen dataclasses of plain public numbers, losses and domains."""

    @abstractmethod
    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
