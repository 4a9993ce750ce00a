"""Localisation by output perturbation, and a second private stage in the ball that it leaves (Lowy 2026)."""

from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from tailguard._validate import real, refuse
from tailguard.domains.ball_intersection import BallIntersection
from tailguard.losses.base import Loss
from tailguard.solvers.base import FloatVector, Query, Released
from tailguard.solvers.localisation import Localised, Phase
from tailguard.solvers.net import Net, picked
from tailguard.statistics.base import Statistic
from tailguard.statistics.joint_minimiser import JointMinimiser
from tailguard.statistics.minimiser import Minimiser
from tailguard.statistics.potential import Potential
from tailguard.statistics.view import View

__all__ = ["SECOND_ACCURACY", "DoubleOutput", "OutputPhase", "PotentialPhases"]

SECOND_ACCURACY = 1.0 / 6.0
"""Distance to the exact minimiser in Algorithm 4, in units of C/(λm); in Algorithm 2 it is 1."""

NOWHERE = 1e-100
"""A net that is shorter is a single point."""


@dataclass(frozen=True)
class OutputPhase(Phase):
    """A phase whose first stage leaves a ball.

    Parameters
    ----------
    radius : float
        Of W_0 around the first release: 100·ζ·C·d/(λmε) for the ε of the first stage (Algorithm 2).
    """

    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        real("radius", self.radius, "OutputPhase", above=0.0)


@dataclass(frozen=True)
class _TwoStages(Localised[OutputPhase]):
    """Algorithm 2 (step "localisation") for every block, then a second stage inside the balls."""

    loss: Loss

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.loss, Loss) or not self.loss.convex:
            raise refuse("loss", type(self).__name__, "a convex loss of predictions", self.loss)

    def _answers(self, phase: OutputPhase, centre: FloatVector) -> Generator[Query, Released, list[FloatVector]]:
        balls = []
        for size in phase.sizes(self.n):
            reply = yield Query("localisation", self._minimiser(phase, centre, size, None))
            balls.append(BallIntersection(self.domain, tuple(self.domain.project(reply.value).tolist()), phase.radius))
        answers = []
        for size, ball in zip(phase.sizes(self.n), balls, strict=True):
            answers.append((yield from self._second(phase, centre, size, ball)))
        return answers

    def _minimiser(
        self, phase: OutputPhase, centre: FloatVector, size: int, ball: BallIntersection | None
    ) -> Statistic:
        """Return the minimiser over W, or over the ball that is left of it."""
        domain = self.domain if ball is None else ball
        return Minimiser(View(self.d), self.loss, phase.clip, phase.ridge, centre, size, self.bits, domain)

    @abstractmethod
    def _second(
        self, phase: OutputPhase, centre: FloatVector, size: int, ball: BallIntersection
    ) -> Generator[Query, Released, FloatVector]:
        """Return a private answer inside the ball."""


@dataclass(frozen=True)
class DoubleOutput(_TwoStages):
    """Algorithms 1, 2 and 4: the minimiser over W_0, released with noise again (step "solution") and projected.

    Parameters
    ----------
    row_bound : float or None, default=None
        None minimises by Newton's method with a certificate. A number minimises by Algorithm 3, as printed, with rows
        cut to that length.
    """

    row_bound: float | None = None

    def _minimiser(
        self, phase: OutputPhase, centre: FloatVector, size: int, ball: BallIntersection | None
    ) -> Statistic:
        if self.row_bound is None:
            return super()._minimiser(phase, centre, size, ball)
        numbers = (phase.clip, phase.ridge, centre, size, self.bits, self.domain, self.row_bound)
        if ball is None:
            return JointMinimiser(View(self.d), self.loss, *numbers)
        return JointMinimiser(View(self.d), self.loss, *numbers, SECOND_ACCURACY, (ball.centre, ball.radius))

    def _second(
        self, phase: OutputPhase, centre: FloatVector, size: int, ball: BallIntersection
    ) -> Generator[Query, Released, FloatVector]:
        reply = yield Query("solution", self._minimiser(phase, centre, size, ball))
        return ball.project(reply.value)


@dataclass(frozen=True)
class PotentialPhases(_TwoStages):
    """Algorithms 1, 2 and 7: a pick from a net of W_0, scored by the regularised extension (step "net").

    Parameters
    ----------
    net : Net
        Of reach 1, stretched to the ball; points outside the ball are left out, those outside W moved into it.
    """

    net: Net

    @property
    def _unit_points(self) -> FloatVector:
        cube = self.net.points(np.zeros(self.domain.dimension))
        return np.asarray(cube[np.linalg.norm(cube, axis=1) <= 1.0])

    @property
    def points(self) -> int:
        """Number of points of the net that lie in the ball."""
        return len(self._unit_points)

    def _second(
        self, phase: OutputPhase, centre: FloatVector, size: int, ball: BallIntersection
    ) -> Generator[Query, Released, FloatVector]:
        middle = np.array(ball.centre)
        points = np.array([self.domain.project(point) for point in middle + phase.radius * self._unit_points])
        if np.linalg.norm(points - middle, axis=1).max() < NOWHERE:
            yield Query("net", None)
            return middle
        scores = Potential(
            view=View(self.d),
            loss=self.loss,
            points=points,
            clip=phase.clip,
            bits=self.bits,
            size=size,
            anchor=middle,
            ridge=phase.ridge,
            centre=centre,
        )
        return picked((yield Query("net", scores)), points)
