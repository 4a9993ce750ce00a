"""What was done to the data, as an accountant needs it. The meaning of an event never changes.

Every multiplier is noise scale ÷ sensitivity for *replacing one record*. An event says nothing about data; it is
public, and belongs to the plan before a record is read.
"""

from dataclasses import dataclass

from tailguard._validate import integer, real

__all__ = ["BoundedRange", "Disjoint", "Event", "Gaussian", "Laplace", "Pure", "Repeat", "Sequential"]


@dataclass(frozen=True)
class Event:
    """Base of all events; only the classes of this module are known to the accountants."""


@dataclass(frozen=True)
class Gaussian(Event):
    """Gaussian noise of standard deviation `multiplier` × ℓ2 sensitivity was added.

    The law is exactly 1/(2·multiplier²)-zCDP, and within total variation `distance` of a rounded continuous Gaussian
    vector, which is (1/multiplier)-GDP. A continuous Gaussian has distance 0, a discrete one on a fine grid a tiny
    positive one.
    """

    multiplier: float
    distance: float = 0.0

    def __post_init__(self) -> None:
        real("multiplier", self.multiplier, "Gaussian", above=0.0)
        real("distance", self.distance, "Gaussian", at_least=0.0, at_most=1.0)


@dataclass(frozen=True)
class Laplace(Event):
    """Laplace noise of scale `multiplier` × sensitivity was added, in the norm of its mechanism: (1/multiplier)-DP."""

    multiplier: float

    def __post_init__(self) -> None:
        real("multiplier", self.multiplier, "Laplace", above=0.0)


@dataclass(frozen=True)
class BoundedRange(Event):
    """One selection by Gumbel noise or the exponential mechanism: `eta`-bounded range, hence (η²/8)-zCDP and η-DP.

    Laplace or exponential noise in a noisy maximum does *not* have this property and must not report this event.
    """

    eta: float

    def __post_init__(self) -> None:
        real("eta", self.eta, "BoundedRange", above=0.0)


@dataclass(frozen=True)
class Pure(Event):
    """Anything that is `epsilon`-differentially private with δ = 0."""

    epsilon: float

    def __post_init__(self) -> None:
        real("epsilon", self.epsilon, "Pure", above=0.0)


@dataclass(frozen=True)
class Repeat(Event):
    """The same event, `count` times on the same records."""

    event: Event
    count: int

    def __post_init__(self) -> None:
        integer("count", self.count, "Repeat", at_least=1)


@dataclass(frozen=True)
class Sequential(Event):
    """Several events on the same records, one after the other, each allowed to depend on earlier releases."""

    events: tuple[Event, ...]


@dataclass(frozen=True)
class Disjoint(Event):
    """Several events on disjoint blocks of records, fixed without looking at them: a record meets only one."""

    events: tuple[Event, ...]
