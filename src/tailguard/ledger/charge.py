"""One line of a ledger: what was paid for, what it cost, and the link to the line before it."""

import hashlib
import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from tailguard.errors import LedgerError, PlanError
from tailguard.plans.codec import decode, encode
from tailguard.plans.plan import Plan
from tailguard.privacy.events import Disjoint, Event, Repeat, Sequential
from tailguard.privacy.filter import Cost

__all__ = ["Charge", "compact", "link"]


@dataclass(frozen=True)
class Charge:
    """What a session paid for. Everything in it is public: it is known before any record is read.

    Attributes
    ----------
    number : int
        1 for the first charge.
    time : str
        When it was written, UTC, to the minute.
    label : str
        The recipe and loss of a fit, or a note about what was done elsewhere.
    digest : str or None
        Digest of the plan; None for what was done elsewhere.
    n, d : int or None
        Rows and columns of the plan.
    event : dict or None
        The event tree of the plan, as JSON values; equal blocks stand once.
    rho, epsilon, delta : float
        What was added: ρ of zero-concentrated privacy, pure ε (infinite where there is none), and δ.
    alone : float
        ε at the session's δ if this were all.
    """

    number: int
    time: str
    label: str
    digest: str | None
    n: int | None
    d: int | None
    event: dict[str, Any] | None
    rho: float
    epsilon: float
    delta: float
    alone: float

    @property
    def cost(self) -> Cost:
        """What it adds to the sums of a filter."""
        return Cost(self.rho, self.epsilon, self.delta, self.alone)

    def body(self) -> str:
        """Return the charge as canonical JSON; an infinite cost is null."""
        values = {name: None if value == math.inf else value for name, value in asdict(self).items()}
        return json.dumps(values, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)

    @classmethod
    def of(cls, body: str) -> "Charge":
        """Return the charge that a body was written for."""
        values = json.loads(body)
        if values.keys() != {field.name for field in fields(cls)}:
            raise LedgerError("The ledger is damaged: a charge has the wrong fields.")
        for name in ("epsilon", "alone"):
            values[name] = math.inf if values[name] is None else values[name]
        return cls(**values)

    @classmethod
    def for_plan(cls, number: int, time: str, plan: Plan, digest: str, cost: Cost) -> "Charge":
        """Return the charge of a plan."""
        problem = plan.problem
        label = f"{plan.recipe}, {problem.loss.name} loss"
        event = encode(compact(plan.event))
        return cls(number, time, label, digest, problem.n, problem.d, event, **asdict(cost))

    def recomputed(self, delta: float) -> bool:
        """Whether the stored cost is at least what the stored events cost, in a session with this δ."""
        if self.event is None:
            return True
        try:
            true = Cost.of(decode(self.event), delta)
        except (PlanError, ValueError):
            return False
        pairs = ((self.rho, true.rho), (self.epsilon, true.epsilon), (self.alone, true.alone))
        return all(stored >= (1.0 - 1e-6) * cost for stored, cost in pairs)  # another version may round another way


def link(before: str, body: str) -> str:
    """Return the hash that binds a line to all lines before it."""
    return hashlib.sha256(f"{before}\n{body}".encode()).hexdigest()


def compact(event: Event) -> Event:
    """Return an event tree of the same cost in which equal blocks stand once.

    Examples
    --------
    >>> from tailguard.privacy import Laplace
    >>> compact(Disjoint((Laplace(2.0),) * 1000))
    Disjoint(events=(Laplace(multiplier=2.0),))
    """
    match event:
        case Repeat(child, count):
            return Repeat(compact(child), count)
        case Sequential(children):
            return Sequential(tuple(map(compact, children)))
        case Disjoint(children):
            return Disjoint(tuple(dict.fromkeys(map(compact, children))))
    return event
