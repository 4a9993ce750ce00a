"""Localisation in phases (Lowy 2026, Algorithm 1): each phase is regularised around what the one before it found.

A phase has records of its own, dealt to `repetitions` blocks; every block gives an answer, and the one that most others
are near to becomes the centre of the next phase.
"""

from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from tailguard._validate import integer, real, refuse
from tailguard.domains.base import Domain
from tailguard.losses.base import Loss, RecordLoss
from tailguard.solvers.base import Estimate, FloatVector, Query, Released, Setting, Solve, Solver
from tailguard.statistics.base import block_size

__all__ = ["Localised", "Phase", "aggregated"]


@dataclass(frozen=True)
class Phase(Setting):
    """What is public about one phase.

    Parameters
    ----------
    repetitions : int
        J, the number of blocks and of answers.
    blocks, first : int
        The blocks are number first … first + J − 1 of so many (`tailguard.plans.Step`).
    ridge : float
        λ of the regulariser λ/2·‖w − centre‖².
    clip : float
        C, the longest gradient of a record.
    """

    repetitions: int
    blocks: int
    first: int
    ridge: float
    clip: float

    def __post_init__(self) -> None:
        owner = type(self).__name__
        integer("repetitions", self.repetitions, owner)
        integer("blocks", self.blocks, owner)
        integer("first", self.first, owner, at_least=0, at_most=self.blocks - self.repetitions)
        real("ridge", self.ridge, owner, above=0.0)
        real("clip", self.clip, owner, above=0.0)

    def sizes(self, n: int) -> list[int]:
        """Return the number of records of each block."""
        return [block_size(n, self.first + j, self.blocks) for j in range(self.repetitions)]


P = TypeVar("P", bound=Phase)


@dataclass(frozen=True)
class Localised(Solver, Generic[P]):
    """Algorithm 1 around any private solver of a regularised problem.

    Parameters
    ----------
    loss : Loss or RecordLoss
        Convex.
    domain : Domain
        W, convex.
    n, d, bits : int
        Number of records and features, bits of the grid.
    phases : tuple of Phase
        In order.
    """

    loss: Loss | RecordLoss
    domain: Domain
    n: int
    d: int
    bits: int
    phases: tuple[P, ...]

    def __post_init__(self) -> None:
        if not self.phases:
            raise refuse("phases", type(self).__name__, "at least one Phase", self.phases)

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        point = self.domain.project(np.zeros(self.domain.dimension))
        for phase in self.phases:
            point = aggregated((yield from self._answers(phase, point)))
        return Estimate(self.domain.project(point))

    @abstractmethod
    def _answers(self, phase: P, centre: FloatVector) -> Generator[Query, Released, list[FloatVector]]:
        """Return one private answer for each block of a phase."""


def aggregated(points: list[FloatVector]) -> FloatVector:
    """Return the point with more than half of all points in the smallest ball around it.

    If more than half of the points are within r of some place, the one returned is within 3r of it.

    Examples
    --------
    >>> aggregated([np.array([0.0]), np.array([9.0]), np.array([0.1])])
    array([0.])
    """
    cloud = np.stack(points)
    distances = np.sort(np.linalg.norm(cloud[:, None] - cloud, axis=2), axis=1)
    return np.asarray(cloud[np.argmin(distances[:, len(points) // 2])])
