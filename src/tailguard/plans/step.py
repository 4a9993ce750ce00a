"""One kind of release, as the plan fixes it before any record is read."""

from dataclasses import dataclass

from tailguard._validate import integer, real
from tailguard.mechanisms.base import Mechanism
from tailguard.plans.checks import instance, store
from tailguard.privacy.events import Disjoint, Event, Repeat

__all__ = ["MOST_BLOCKS", "MOST_RELEASES", "Step"]

MOST_RELEASES, MOST_BLOCKS = 10**12, 10**6
"""Far beyond what anyone can run; a plan from a file must not exhaust numbers or memory before it is refused."""


@dataclass(frozen=True)
class Step:
    """`count` releases of one kind of statistic through one mechanism.

    Parameters
    ----------
    name : str
        What the solver calls it, for instance "gradient".
    statistic : str
        The kind of bounded statistic.
    dimension, bits : int
        Length of its integer vector, and L = 2^bits grid steps for the bound on one record.
    parts : int
        In how many parts of that vector a record counts once each; 1 for all but histograms.
    sensitivity : float
        In grid units and the mechanism's norm; must be what the statistic declares.
    mechanism : Mechanism
        How it is released.
    multiplier : float
        Noise scale ÷ sensitivity.
    count : int
        Number of releases.
    blocks : int
        1: every release uses all records. Otherwise the records are split into that many disjoint blocks, by a rule
        that looks at row numbers only, and release r uses block r mod `blocks`.
    """

    name: str
    statistic: str
    dimension: int
    bits: int
    parts: int
    sensitivity: float
    mechanism: Mechanism
    multiplier: float
    count: int = 1
    blocks: int = 1

    def __post_init__(self) -> None:
        instance("name", self.name, "Step", str, "a string")
        instance("statistic", self.statistic, "Step", str, "a string")
        instance("mechanism", self.mechanism, "Step", Mechanism, "a Mechanism")
        dimension = integer("dimension", self.dimension, "Step")
        store(
            self,
            dimension=dimension,
            bits=integer("bits", self.bits, "Step", at_most=40),
            parts=integer("parts", self.parts, "Step", at_most=dimension),
            sensitivity=real("sensitivity", self.sensitivity, "Step", above=0.0),
            multiplier=real("multiplier", self.multiplier, "Step", above=0.0),
            count=integer("count", self.count, "Step", at_most=MOST_RELEASES),
            blocks=integer("blocks", self.blocks, "Step", at_most=MOST_BLOCKS),
        )

    @property
    def release_event(self) -> Event:
        """Return the event of a single release."""
        return self.mechanism.event(self.multiplier, self.sensitivity, self.dimension)

    @property
    def event(self) -> Event:
        """Return the event of all `count` releases; a record meets at most ⌈count/blocks⌉ of them."""
        most = -(-self.count // self.blocks)
        met = Repeat(self.release_event, most) if most > 1 else self.release_event
        return Disjoint((met,) * self.blocks) if self.blocks > 1 else met
