"""Where the budget goes: the part of each kind of release in the cost of the whole plan."""

from dataclasses import dataclass
from itertools import groupby

from tailguard.errors import PlanError
from tailguard.plans import Plan, Step
from tailguard.privacy.events import BoundedRange, Disjoint, Event, Gaussian, Laplace, Pure, Repeat, Sequential

__all__ = ["Share", "shares"]


@dataclass(frozen=True)
class Share:
    """All steps of one name, taken together.

    Attributes
    ----------
    name : str
        What the solver calls them.
    statistic : str
        Kind of bounded statistic.
    mechanism : str
        Name of the mechanism.
    dimension : int
        How many numbers one release has.
    releases : int
        How often they are released.
    multipliers : tuple of (float, float)
        Smallest and largest noise multiplier, noise scale ÷ sensitivity.
    share : float
        Part of the budget, between 0 and 1.
    """

    name: str
    statistic: str
    mechanism: str
    dimension: int
    releases: int
    multipliers: tuple[float, float]
    share: float


def shares(plan: Plan) -> tuple[Share, ...]:
    """Return the steps of a plan by name, each with its part of the budget.

    The unit is what adds up under composition: ε for a pure budget, and otherwise the ρ of zero-concentrated privacy,
    which for Gaussian noise is proportional to 1 ÷ multiplier².

    Examples
    --------
    >>> import tailguard as tg
    >>> parts = shares(tg.Mean(epsilon=1.0).plan(n_rows=20_000, n_features=3))
    >>> parts[-1].name, round(sum(part.share for part in parts), 9)
    ('mean square', 1.0)
    """
    total = sum(_cost(step.event, plan.privacy.pure) for step in plan.steps)
    order = {step.name: place for place, step in reversed(list(enumerate(plan.steps)))}
    ordered = sorted(plan.steps, key=lambda step: order[step.name])
    groups = groupby(ordered, key=lambda step: step.name)
    return tuple(_share(list(steps), plan.privacy.pure, total) for _, steps in groups)


def _share(steps: list[Step], pure: bool, total: float) -> Share:
    first = steps[0]
    multipliers = [step.multiplier for step in steps]
    return Share(
        name=first.name,
        statistic=first.statistic,
        mechanism=type(first.mechanism).__name__,
        dimension=first.dimension,
        releases=sum(step.count for step in steps),
        multipliers=(min(multipliers), max(multipliers)),
        share=sum(_cost(step.event, pure) for step in steps) / total,
    )


def _cost(event: Event, pure: bool) -> float:
    match event:
        case Repeat(child, count):
            return count * _cost(child, pure)
        case Sequential(children):
            return sum(_cost(child, pure) for child in children)
        case Disjoint(children):
            return max((_cost(child, pure) for child in children), default=0.0)
        case Gaussian(multiplier) if not pure:
            return 0.5 / multiplier**2
        case BoundedRange(eta):
            return eta if pure else eta**2 / 8.0
        case Laplace(multiplier):
            return 1.0 / multiplier if pure else 0.5 / multiplier**2
        case Pure(epsilon):
            return epsilon if pure else 0.5 * epsilon**2
    raise PlanError("The plan holds an event that its budget does not allow.")
