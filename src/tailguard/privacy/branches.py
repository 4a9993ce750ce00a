"""What one record can meet in an event tree: the leaves, with their counts, along every choice of disjoint blocks.

A record lies in one block of each `Disjoint`, and the block does not depend on the data. So the tree costs what its
dearest *branch* costs: one child chosen in every `Disjoint`, everything else composed. Composing comes first and the
maximum afterwards. Different `Disjoint` nodes may use different partitions, so all combinations count.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import TypeAlias

from tailguard._validate import refuse
from tailguard.errors import ParameterError
from tailguard.privacy.events import BoundedRange, Disjoint, Event, Gaussian, Laplace, Pure, Repeat, Sequential

__all__ = ["LIMIT", "Branch", "Costs", "expand"]

LIMIT = 1000
"""Most branches that a tree may have; beyond, it is refused."""

_NEGLIGIBLE = 1e-100  # smaller costs are rounded up to this, so that no product of them underflows
Costs: TypeAlias = tuple[tuple[float, int], ...]
Leaves: TypeAlias = Counter[Event]


@dataclass(frozen=True)
class Branch:
    """Everything that one record meets.

    Parameters
    ----------
    precision : float
        Σ 1/multiplier² over the Gaussians, so μ² of the Gaussian part and twice its ρ.
    distance : float
        Σ total variation distances of the Gaussians to ideal ones.
    pure : tuple of (epsilon, count)
        ε-differentially private events, dearest first.
    ranges : tuple of (eta, count)
        Bounded-range selections, dearest first.
    """

    precision: float
    distance: float
    pure: Costs
    ranges: Costs

    @classmethod
    def of(cls, leaves: Leaves) -> "Branch":
        """Return the summary of a multiset of leaves; exact sums, so that it does not depend on their order."""
        gaussians = [(leaf, count) for leaf, count in leaves.items() if isinstance(leaf, Gaussian)]
        return cls(
            precision=math.fsum(count * _precision(leaf.multiplier) for leaf, count in gaussians),
            distance=math.fsum(count * leaf.distance for leaf, count in gaussians),
            pure=_costs((_epsilon(leaf), n) for leaf, n in leaves.items() if isinstance(leaf, Laplace | Pure)),
            ranges=_costs((leaf.eta, n) for leaf, n in leaves.items() if isinstance(leaf, BoundedRange)),
        )

    @property
    def epsilon(self) -> float:
        """Σ ε: the pure cost of the branch, infinite with a Gaussian in it."""
        return math.inf if self.precision > 0.0 else _total(self.pure + self.ranges)

    def covers(self, other: "Branch") -> bool:
        """Whether every bound for this branch also holds for `other`."""
        return (
            self.precision >= other.precision
            and self.distance >= other.distance
            and _covers(self.pure, other.pure)
            and _covers(self.ranges, other.ranges)
        )


def expand(event: Event) -> tuple[Branch, ...]:
    """Return the branches of an event tree, without repetitions and without those that another one covers.

    Raises
    ------
    ParameterError
        For an event that the accountants do not know, or a tree with more than `LIMIT` branches.
    """
    return tuple(_dearest([Branch.of(leaves) for leaves in _branches(event)]))


def _branches(event: Event) -> list[Leaves]:
    """Return the branches as multisets of leaves."""
    # Exact types: a subclass might mean something else.
    if type(event) in (Gaussian, Laplace, BoundedRange, Pure):
        return [Counter({event: 1})]
    if type(event) is Repeat:
        return _limited(_powers(_branches(event.event), event.count))
    if type(event) is Sequential:
        return _sequence([_branches(child) for child in event.events])
    if type(event) is Disjoint:
        union = [leaves for child in event.events for leaves in _branches(child)]
        return _thinned(union) or [Counter()]
    raise refuse("event", "an accountant", "made of the events of tailguard.privacy", type(event).__name__)


def _sequence(children: list[list[Leaves]]) -> list[Leaves]:
    common: Leaves = Counter()
    for child in children:
        if len(child) == 1:
            common.update(child[0])
    branches = [common]
    for child in children:
        if len(child) > 1:
            branches = _limited(one + other for one, other in product(branches, child))
    return branches


def _powers(branches: list[Leaves], count: int) -> Iterator[Leaves]:
    """Yield every composition of `count` choices among the branches: stars and bars."""
    places = count + len(branches) - 1
    for bars in combinations(range(places), len(branches) - 1):
        shares = [right - left - 1 for left, right in pairwise((-1, *bars, places))]
        total: Leaves = Counter()
        for leaves, share in zip(branches, shares, strict=True):
            total.update({leaf: share * n for leaf, n in leaves.items() if share})
        yield total


def _limited(branches: Iterable[Leaves]) -> list[Leaves]:
    distinct: dict[frozenset[tuple[Event, int]], Leaves] = {}
    for leaves in branches:
        distinct.setdefault(frozenset(leaves.items()), leaves)
        if len(distinct) > LIMIT:
            raise ParameterError(
                f"The event tree must let a record meet its disjoint blocks in at most {LIMIT} ways, and has more."
            )
    return list(distinct.values())


def _thinned(union: list[Leaves]) -> list[Leaves]:
    """Drop what another branch covers, before it multiplies."""
    summaries = {Branch.of(leaves): leaves for leaves in union}
    return _limited(summaries[branch] for branch in _dearest(summaries))


def _dearest(branches: Iterable[Branch]) -> list[Branch]:
    """Return the branches that no other one covers; in this order a cover comes before what it covers."""
    kept: list[Branch] = []
    for branch in sorted(branches, key=_order, reverse=True):
        if not any(other.covers(branch) for other in kept):
            kept.append(branch)
    return kept


def _order(branch: Branch) -> tuple[float, float, float]:
    return branch.precision, branch.distance, _total(branch.pure + branch.ranges)


def _total(costs: Costs) -> float:
    return math.fsum(cost * count for cost, count in costs)


def _costs(leaves: Iterable[tuple[float, int]]) -> Costs:
    merged: Counter[float] = Counter()
    for cost, count in leaves:
        merged[max(cost, _NEGLIGIBLE)] += count
    return tuple(sorted(merged.items(), reverse=True))


def _covers(some: Costs, others: Costs) -> bool:
    """Whether for every cost c, `some` has as many events of cost c or more as `others`."""
    return all(_count(some, cost) >= _count(others, cost) for cost, _ in others)


def _count(costs: Costs, least: float) -> int:
    return sum(count for cost, count in costs if cost >= least)


def _precision(multiplier: float) -> float:
    return math.inf if multiplier < _NEGLIGIBLE else max((1.0 / multiplier) ** 2, _NEGLIGIBLE)


def _epsilon(leaf: Laplace | Pure) -> float:
    return leaf.epsilon if isinstance(leaf, Pure) else 1.0 / leaf.multiplier
