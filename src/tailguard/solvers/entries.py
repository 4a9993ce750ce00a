"""How the coordinates of a gradient are bounded one by one: shrunken, smoothed, truncated or clamped.

Thresholding and Frank–Wolfe look at single coordinates, so their gradients are bounded in ℓ∞. Each paper does that in
its own way; the rest of the iteration is the same.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

from tailguard._validate import real
from tailguard.solvers.base import Setting
from tailguard.statistics import smoothing
from tailguard.statistics.base import checked_scale
from tailguard.statistics.catoni import Catoni
from tailguard.statistics.coordinatewise import Clamped, Truncated
from tailguard.statistics.fields import Field
from tailguard.statistics.shrunken import Shrunken
from tailguard.statistics.view import View

__all__ = ["ClampedEntries", "Entries", "ShrunkenEntries", "SmoothedEntries", "TruncatedEntries"]


@dataclass(frozen=True)
class Entries(Setting):
    """Bounds every coordinate of slope · row.

    Parameters
    ----------
    threshold : float
        Where entries are bounded; a public number, or a multiple of a released level.
    """

    threshold: float = 1.0

    def __post_init__(self) -> None:
        checked_scale("threshold", self.threshold, type(self).__name__)

    def seen(self, view: View) -> View:
        """Return how records are looked at; mostly as they are."""
        return view

    def times(self, level: float) -> Self:
        """Return the same bound where slopes have this released size."""
        return replace(self, threshold=self.threshold * level)

    @property
    def reach(self) -> float:
        """The most that an entry can count."""
        return self.threshold

    @abstractmethod
    def statistic(self, field: Field, bits: int) -> Shrunken | Catoni | Truncated | Clamped:
        """Return the bounded sum."""


@dataclass(frozen=True)
class ShrunkenEntries(Entries):
    """Features and targets are shrunk to ±threshold, and slopes to ±limit (Hu et al. 2022, Algorithm 3).

    With ‖w‖₂ ≤ r and s non-zero entries, a residual of shrunken records is at most threshold·(√s·r + 1). At that limit
    nothing is ever cut off; a smaller one bounds residuals on its own.
    """

    limit: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_scale("limit", self.limit, "ShrunkenEntries")

    def seen(self, view: View) -> View:
        """Return the view that shrinks."""
        return replace(view, limit=self.threshold, target_limit=self.threshold)

    def times(self, level: float) -> Self:
        """Return the same bound where slopes have this released size; rows keep theirs."""
        return replace(self, limit=self.limit * level)

    @property
    def reach(self) -> float:
        """The most that an entry can count."""
        return self.threshold * self.limit

    def statistic(self, field: Field, bits: int) -> Shrunken:
        """Return the bounded sum."""
        return Shrunken(field, self.threshold, self.limit, bits)


@dataclass(frozen=True)
class SmoothedEntries(Entries):
    """Entries go through Catoni's smoothed function at scale `threshold` (Hu et al. 2022, Algorithm 5).

    Parameters
    ----------
    threshold : float
        k of the algorithm.
    beta : float
        Precision of the smoothing.
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        real("beta", self.beta, "SmoothedEntries", at_least=smoothing.SMALLEST_BETA, at_most=smoothing.LARGEST_BETA)

    @property
    def reach(self) -> float:
        """The most that an entry can count."""
        return self.threshold * smoothing.bound(self.beta)

    def statistic(self, field: Field, bits: int) -> Catoni:
        """Return the bounded sum."""
        return Catoni(field, self.threshold, bits, self.beta)


@dataclass(frozen=True)
class TruncatedEntries(Entries):
    """Entries beyond ±threshold count as 0 (Tao et al. 2022, Algorithm 5)."""

    def statistic(self, field: Field, bits: int) -> Truncated:
        """Return the bounded sum."""
        return Truncated(field, self.threshold, bits)


@dataclass(frozen=True)
class ClampedEntries(Entries):
    """Entries are clamped to ±threshold."""

    def statistic(self, field: Field, bits: int) -> Clamped:
        """Return the bounded sum."""
        return Clamped(field, self.threshold, bits)
