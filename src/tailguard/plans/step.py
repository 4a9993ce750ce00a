"""One kind of release, as the plan fixes it before any record is read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tailguard._validate import integer, real
from tailguard.mechanisms.base import Mechanism
from tailguard.plans.checks import instance, store
from tailguard.privacy.events import Disjoint, Event, Repeat, Sequential

__all__ = ["MOST_BLOCKS", "MOST_RELEASES", "Step", "composition"]

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
        that looks at row numbers only, and release r uses block (`first` + r) mod `blocks`.
    first : int
        The block of the first release. Phases on halves, quarters and eighths of the records are steps with 2, 4 and 8
        blocks that begin at 0, 2 and 6.
    columns : tuple of int or None
        The features that the statistic sees, by number; None is all of them.
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
    first: int = 0
    columns: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        instance("name", self.name, "Step", str, "a string")
        instance("statistic", self.statistic, "Step", str, "a string")
        instance("mechanism", self.mechanism, "Step", Mechanism, "a Mechanism")
        dimension = integer("dimension", self.dimension, "Step")
        blocks = integer("blocks", self.blocks, "Step", at_most=MOST_BLOCKS)
        store(
            self,
            dimension=dimension,
            bits=integer("bits", self.bits, "Step", at_most=40),
            parts=integer("parts", self.parts, "Step", at_most=dimension),
            sensitivity=real("sensitivity", self.sensitivity, "Step", above=0.0),
            multiplier=real("multiplier", self.multiplier, "Step", above=0.0),
            count=integer("count", self.count, "Step", at_most=MOST_RELEASES),
            blocks=blocks,
            first=integer("first", self.first, "Step", at_least=0, at_most=blocks - 1),
        )
        if self.columns is not None:
            instance("columns", self.columns, "Step", tuple, "a tuple of integers or None")
            store(self, columns=tuple(integer("columns", column, "Step", at_least=0) for column in self.columns))

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

    def block(self, release: int) -> int:
        """Return the block that a release meets."""
        return (self.first + release) % self.blocks

    @property
    def _partial(self) -> bool:
        """Whether some records are met by no release."""
        return self.count < self.blocks

    def _meets(self, place: Fraction) -> bool:
        """Whether a record at this place of the circle of blocks is met by a release of a partial step."""
        return (int(place * self.blocks) - self.first) % self.blocks < self.count


def composition(steps: Sequence[Step]) -> Event:
    """Return the event of several steps, one after the other.

    Steps that leave out records (fewer releases than blocks) are met by those in their blocks only. All partitions cut
    one circle at fractions k/blocks of it (`tailguard.engines.Block`), so it is known which steps a record can meet
    together.

    Examples
    --------
    >>> from tailguard.mechanisms import Laplace
    >>> half = Step("mean", "clamped sum", 1, 20, 1, 2.0**21, Laplace(), 4.0, blocks=2)
    >>> other = Step("mean", "clamped sum", 1, 20, 1, 2.0**21, Laplace(), 2.0, blocks=2, first=1)
    >>> composition([half, other]).events[0].events
    (Sequential(events=(Laplace(multiplier=4.0),)), Sequential(events=(Laplace(multiplier=2.0),)))
    """
    everywhere = tuple(step.event for step in steps if not step._partial)
    partial = [step for step in steps if step._partial]
    if not partial:
        return Sequential(everywhere)
    met = {tuple(step.release_event for step in partial if step._meets(place)): None for place in _places(partial)}
    return Sequential((*everywhere, Disjoint(tuple(Sequential(events) for events in met if events))))


def _places(partial: Sequence[Step]) -> Iterator[Fraction]:
    """Yield a place between any two neighbouring ends of the arcs that partial steps cover."""
    ends = {
        Fraction(end % step.blocks, step.blocks) for step in partial for end in (step.first, step.first + step.count)
    }
    for start, stop in pairwise((*sorted(ends | {Fraction(0)}), Fraction(1))):
        yield (start + stop) / 2
