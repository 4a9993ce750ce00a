"""From shares of a budget to the steps of a plan: one calibration for every recipe."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tailguard.mechanisms import Gaussian, L2Laplace, Laplace, LaplacePeeling, Mechanism, Peeling, TopK
from tailguard.plans.step import Step, composition
from tailguard.privacy.budget import Privacy
from tailguard.privacy.calibration import calibrate
from tailguard.privacy.events import Event
from tailguard.statistics.base import Statistic

__all__ = ["Draft", "assemble"]


@dataclass(frozen=True)
class Draft:
    """A step whose noise is not known yet.

    Parameters
    ----------
    name : str
        What the solver calls it.
    statistic : type of Statistic
        What is released.
    dimension : int
        Length of its integer vector.
    share : float
        Part of the budget that all its releases get together: of μ² under Gaussian noise, of ε under Laplace noise.
    count : int
        Number of releases.
    parts : int
        As in `Step`.
    picks : int
        0 releases the whole vector. Otherwise Gumbel noise picks so many coordinates (`TopK`).
    peeled : bool
        Whether the picked coordinates are released with their values (`Peeling`), not only named.
    blocks, first : int
        As in `Step`; a record meets one release in `blocks`.
    """

    name: str
    statistic: type[Statistic]
    dimension: int
    share: float
    count: int = 1
    parts: int = 1
    picks: int = 0
    peeled: bool = False
    blocks: int = 1
    first: int = 0

    def step(self, scale: float, bits: int, *, pure: bool) -> Step:
        """Return the step for a whole-budget noise multiplier of `scale`."""
        mechanism = self._mechanism(pure)
        sensitivity = self.statistic.sensitivity_of(mechanism.norm, self.dimension, bits, self.parts)
        met = -(-self.count // self.blocks)
        part = met * self._weight(pure) / self.share
        return Step(
            name=self.name,
            statistic=self.statistic.kind,
            dimension=self.dimension,
            bits=bits,
            parts=self.parts,
            sensitivity=sensitivity,
            mechanism=mechanism,
            multiplier=scale * (part if pure else math.sqrt(part)),
            count=self.count,
            blocks=self.blocks,
            first=self.first,
        )

    def _mechanism(self, pure: bool) -> Mechanism:
        """Gaussian noise; with δ = 0 Laplace noise in ℓ1 where the statistic offers it, else in ℓ2."""
        if self.picks and not self.peeled:
            return TopK(self.picks)
        if self.picks:
            return LaplacePeeling(self.picks) if pure else Peeling(self.picks)
        if not pure:
            return Gaussian()
        return Laplace() if "l1" in self.statistic.norms else L2Laplace()

    def _weight(self, pure: bool) -> float:
        """Return what a release costs at multiplier 1, in 1/2 of zCDP or in ε.

        A pick of bounded range 2 costs 2²/8 of zCDP, as much as a Gaussian release, or ε = 2; the value of a picked
        coordinate as much again, or ε = 1.
        """
        if not self.picks:
            return 1.0
        if pure:
            return float(self.picks * (3 if self.peeled else 2))
        return float(self.picks * (2 if self.peeled else 1))


def assemble(drafts: Sequence[Draft], privacy: Privacy, bits: int) -> tuple[Step, ...]:
    """Return the steps whose noise just fits the budget.

    The search runs over the very events that the run will report, so that what is calibrated is what is done.
    """

    def steps(scale: float) -> tuple[Step, ...]:
        made = {draft: draft.step(scale, bits, pure=privacy.pure) for draft in set(drafts)}
        return tuple(made[draft] for draft in drafts)

    def event(scale: float) -> Event:
        return composition(steps(scale))

    return steps(calibrate(event, privacy))
