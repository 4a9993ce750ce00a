"""A privacy filter: whether one more fit, chosen after a look at earlier results, stays inside a total budget.

Composition theorems are for events that are fixed beforehand. A filter is for those that are not: what the next fit
costs may depend on what the last one showed. For an approximate budget zero-concentrated costs ρ are added, for a pure
one ε; both sums are filters without any loss. The note of the same name has the proofs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tailguard._validate import real
from tailguard.privacy import cumulants
from tailguard.privacy.branches import Branch, expand
from tailguard.privacy.budget import Privacy
from tailguard.privacy.calibration import zcdp_rho
from tailguard.privacy.composition import epsilon as composed_epsilon
from tailguard.privacy.composition import renyi_epsilon
from tailguard.privacy.events import Event, Gaussian, Pure

__all__ = ["Cost", "Filter"]

_ROOM = 1e-7  # left in ρ, relatively, for the rounding of the conversion


@dataclass(frozen=True)
class Cost:
    """What a fit adds to the sums of a filter.

    Parameters
    ----------
    rho : float
        ρ of zero-concentrated privacy.
    epsilon : float
        Pure ε; infinite where there is none.
    delta : float, default=0.0
        Probability with which neither holds; 0 for every event of tailguard.
    alone : float, default=inf
        ε at the δ of the whole budget if nothing else is ever done, by the best composition.
    """

    rho: float
    epsilon: float
    delta: float = 0.0
    alone: float = math.inf

    @classmethod
    def of(cls, event: Event, delta: float = 0.0) -> "Cost":
        """Return the cost of an event tree in a session with this δ: that of its dearest branches.

        Examples
        --------
        >>> Cost.of(Gaussian(multiplier=8.0)).rho
        0.0078125
        """
        branches = expand(event)
        rho = max(map(_concentrated, branches))
        return cls(rho, max(branch.epsilon for branch in branches), 0.0, composed_epsilon(event, delta))

    @classmethod
    def elsewhere(cls, privacy: Privacy, delta: float = 0.0) -> "Cost":
        """Return the cost of anything that is (ε, δ)-differentially private, in a session with the second δ."""
        pure = cls.of(Pure(privacy.epsilon), delta)
        if privacy.pure:
            return pure
        return cls(pure.rho, math.inf, privacy.delta, privacy.epsilon if privacy.delta <= delta else math.inf)


@dataclass(frozen=True)
class Filter:
    """Decides what a total budget still carries.

    Parameters
    ----------
    privacy : Privacy
        The total budget. With δ = 0 pure costs are added up, otherwise zero-concentrated ones.
    slack : float, default=0.0
        Part of δ set aside for costs with a δ of their own.

    Examples
    --------
    >>> budget = Filter(Privacy(epsilon=1.0, delta=1e-6))
    >>> fit = Cost.of(Gaussian(multiplier=15.0), delta=1e-6)
    >>> [budget.admits([fit] * done, fit) for done in (0, 9, 10)]
    [True, True, False]
    >>> round(budget.epsilon([fit] * 10), 4)
    0.9521
    """

    privacy: Privacy
    slack: float = 0.0

    def __post_init__(self) -> None:
        real("slack", self.slack, "Filter", at_least=0.0)
        if self.slack and self.slack >= self.privacy.delta:
            real("slack", self.slack, "Filter", below=self.privacy.delta)

    @cached_property
    def rho(self) -> float:
        """The largest Σρ: what the budget carries by conversion at δ − slack. Zero for a pure budget."""
        if self.privacy.pure:
            return 0.0
        return zcdp_rho(Privacy(self.privacy.epsilon, self.privacy.delta - self.slack)) * (1.0 - _ROOM)

    def admits(self, spent: Sequence[Cost], asked: Cost) -> bool:
        """Whether the asked cost may follow those that were spent, however it was chosen."""
        if not spent and asked.alone <= self.privacy.epsilon:
            return True  # the first fit has seen nothing, so that the choice is not adaptive
        costs = (*spent, asked)
        return math.fsum(cost.epsilon for cost in costs) <= self.privacy.epsilon or (
            math.fsum(cost.rho for cost in costs) <= self.rho and math.fsum(cost.delta for cost in costs) <= self.slack
        )

    def epsilon(self, spent: Sequence[Cost]) -> float:
        """Return the ε that was spent, at the δ of the budget."""
        if not spent:
            return 0.0
        alone = spent[0].alone if len(spent) == 1 else math.inf
        pure, rho = math.fsum(cost.epsilon for cost in spent), math.fsum(cost.rho for cost in spent)
        if self.privacy.pure or math.fsum(cost.delta for cost in spent) > self.slack:
            return min(alone, pure)
        log_delta = math.log(self.privacy.delta - self.slack)
        return min(alone, pure, renyi_epsilon(lambda h: cumulants.concentrated(rho, h), log_delta))

    def left(self, spent: Sequence[Cost]) -> float:
        """Return what may still be spent: ε of a pure budget, ρ of an approximate one; never negative."""
        if self.privacy.pure:
            return max(0.0, self.privacy.epsilon - math.fsum(cost.epsilon for cost in spent))
        return max(0.0, self.rho - math.fsum(cost.rho for cost in spent))

    def next_epsilon(self, spent: Sequence[Cost], fits: int = 1) -> float:
        """Return the largest ε, at the δ of the budget, with which `fits` more fits by Gaussian noise can be made.

        Fits that hold pure events or selections cost more ρ than that for the same ε.
        """
        if self.privacy.pure:
            return self.left(spent) / fits
        if not spent and fits == 1:
            return self.privacy.epsilon
        rho = self.left(spent) / fits
        if rho <= 0.0:
            return 0.0
        return composed_epsilon(Gaussian(1.0 / math.sqrt(2.0 * rho)), self.privacy.delta)


def _concentrated(branch: Branch) -> float:
    """Return the ρ of what one record meets."""
    parts = [0.5 * branch.precision]
    parts += [count * min(0.5 * epsilon * epsilon, epsilon) for epsilon, count in branch.pure]
    parts += [count * min(eta * eta / 8.0, eta) for eta, count in branch.ranges]
    return math.fsum(parts)
