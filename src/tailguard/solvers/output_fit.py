"""Pure privacy by output perturbation: one noisy minimiser a phase, each around the answer before it.

Why one release a phase is enough: output_fit.md.
"""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from tailguard._validate import refuse
from tailguard.domains.base import Domain
from tailguard.losses.base import Loss
from tailguard.solvers.base import FloatVector, Query, Released, Solve, Solver
from tailguard.solvers.ending import Ending
from tailguard.solvers.localisation import Phase, aggregated
from tailguard.solvers.perturbed_fit import Start, started
from tailguard.solvers.pure_units import PureUnits
from tailguard.statistics.minimiser import Minimiser

__all__ = ["OutputFit"]

FARTHEST = 100.0
"""Longest model around which a phase looks, in private units: what asks for more is noise."""


@dataclass(frozen=True)
class OutputFit(Solver):
    """Localisation by single output perturbations, in private units.

    Parameters
    ----------
    loss, domain, n, d, bits, intercept, units, width, curvature
        As in `PerturbedFit`.
    phases : tuple of Phase
        In order; each has records of its own. Their ridges are for rows of length √k; their clip levels are in units of
        that length or, without private units, as they are.
    ending : Ending
        What happens to the last answer.
    """

    loss: Loss
    domain: Domain
    n: int
    d: int
    bits: int
    intercept: bool
    units: PureUnits | None
    width: float
    curvature: float
    phases: tuple[Phase, ...]
    ending: Ending

    def __post_init__(self) -> None:
        if not self.phases:
            raise refuse("phases", "OutputFit", "at least one Phase", self.phases)

    def solve(self) -> Solve:
        """Yield queries, receive releases, return the estimate."""
        start = yield from started(self.loss, self.units, self.n, self.d, self.bits, self.intercept)
        point = np.zeros(start.view.dimension)
        for phase in self.phases:
            point = _near(aggregated((yield from self._answers(phase, start, point))))
        return (yield from start.end(self.ending, point, self.domain))

    def _answers(
        self, phase: Phase, start: Start, centre: FloatVector
    ) -> Generator[Query, Released, list[FloatVector]]:
        """Return one private answer for each block of a phase."""
        loss = start.shifted(self.width)
        usual = start.length**2 * (loss.smoothness or 1.0)
        answers = []
        for size in phase.sizes(self.n):
            minimiser = Minimiser(
                start.view,
                loss,
                phase.clip * (1.0 if self.units is None else start.length),
                phase.ridge * start.length**2 / start.view.dimension,
                centre,
                size,
                self.bits,
                curvature=self.curvature * usual,
            )
            reply = yield Query("solution", minimiser)
            answers.append(reply.value)
        return answers


def _near(point: FloatVector) -> FloatVector:
    length = float(np.linalg.norm(point))
    return point if length <= FARTHEST else point * (FARTHEST / length)
