"""Privacy profiles by enumeration, with no formula of the library in them."""

import itertools
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tailguard.privacy import Disjoint, Event, Repeat, Sequential

Law = NDArray[np.float64]


def hockey_stick(first: Law, second: Law, epsilon: float) -> float:
    """Return the exact δ of two laws on the same finite set, the worse of both directions."""
    factor = math.exp(epsilon)
    return float(max(np.maximum(first - factor * second, 0.0).sum(), np.maximum(second - factor * first, 0.0).sum()))


def product_law(laws: Sequence[Law]) -> Law:
    """Return the joint law of independent releases."""
    joint = np.ones(1)
    for law in laws:
        joint = np.outer(joint, law).ravel()
    return joint


def leaf_choices(event: Event) -> set[frozenset[tuple[Event, int]]]:
    """Return all multisets of leaves that a record can meet: the definition, with no thinning and no shortcut."""
    return {frozenset(Counter(leaves).items()) for leaves in _choices(event)}


def _choices(event: Event) -> list[tuple[Event, ...]]:
    if isinstance(event, Repeat):
        return _choices(Sequential((event.event,) * event.count))
    if isinstance(event, Disjoint):
        return [leaves for child in event.events for leaves in _choices(child)]
    if isinstance(event, Sequential):
        rows = itertools.product(*map(_choices, event.events))
        return [tuple(itertools.chain.from_iterable(row)) for row in rows]
    return [(event,)]
