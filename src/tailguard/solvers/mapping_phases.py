"""Localisation by picks from a net, scored by the gradient mapping (Lowy 2026, Algorithms 1 and 5)."""

from collections.abc import Generator
from dataclasses import dataclass

from tailguard._validate import real, refuse
from tailguard.domains.box import Box
from tailguard.domains.l2_ball import L2Ball
from tailguard.solvers.base import FloatVector, Query, Released
from tailguard.solvers.localisation import Localised, Phase
from tailguard.solvers.net import Net, inside, picked
from tailguard.statistics.gradient_mapping import GradientMapping, Region
from tailguard.statistics.view import View

__all__ = ["MappingPhase", "MappingPhases"]


@dataclass(frozen=True)
class MappingPhase(Phase):
    """A phase with a net around its centre.

    Parameters
    ----------
    net : Net
        Its points are moved into the domain; the minimiser of the clipped problem is within clip/ridge of the centre.
    step : float
        γ of the gradient mapping, public.
    """

    net: Net
    step: float

    def __post_init__(self) -> None:
        super().__post_init__()
        real("step", self.step, "MappingPhase", above=0.0)


@dataclass(frozen=True)
class MappingPhases(Localised[MappingPhase]):
    """Algorithm 1 with Algorithm 5 inside: every answer is one pick (step "net")."""

    domain: Region

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, Box | L2Ball):
            raise refuse("domain", "MappingPhases", "a Box or an L2Ball", self.domain)

    def _answers(self, phase: MappingPhase, centre: FloatVector) -> Generator[Query, Released, list[FloatVector]]:
        points, answers = inside(self.domain, phase.net.points(centre)), []
        for size in phase.sizes(self.n):
            scores = GradientMapping(
                view=View(self.d),
                loss=self.loss,
                points=points,
                threshold=phase.clip,
                bits=self.bits,
                size=size,
                region=self.domain,
                step=phase.step,
                ridge=phase.ridge,
                centre=centre,
            )
            answers.append(picked((yield Query("net", scores)), points))
        return answers
