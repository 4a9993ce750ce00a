"""Drawings of the report, as places on a canvas: intervals around 0, and predicted errors against ε."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tailguard.plans import Plan, Release
from tailguard.plans.result import LEVEL
from tailguard.recipes.advice import EPSILONS, Point, advise

__all__ = ["Curve", "Mark", "curve", "marks"]

WIDTH, HEIGHT = 560.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 14.0, 34.0
"""Canvas of the curve, and its margins."""


@dataclass(frozen=True)
class Mark:
    """An interval in per cent of its cell; every row has a scale of its own, on which 0 can be seen."""

    zero: float
    low: float
    high: float
    value: float


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis."""

    place: float
    label: str


@dataclass(frozen=True)
class Curve:
    """Predicted errors against ε, both on logarithmic axes."""

    points: tuple[tuple[float, float], ...]
    here: tuple[float, float] | None
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    unit: str
    width: float = WIDTH
    height: float = HEIGHT

    @property
    def path(self) -> str:
        """The line through the points."""
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


def marks(release: Release) -> tuple[Mark | None, ...]:
    """Return a mark for every coefficient, then for the intercept; empty where no intervals are known."""
    found, estimate = release.estimate.uncertainty, release.estimate
    if found is None:
        return ()
    middles = [*estimate.coefficients.tolist(), float(estimate.intercept)]
    ends = found.interval(LEVEL).tolist()
    return tuple(_mark(low, value, high) for (low, high), value in zip(ends, middles, strict=False))


def _mark(low: float, value: float, high: float) -> Mark | None:
    first, last = min(low, value, 0.0), max(high, value, 0.0)
    span = last - first
    if not (math.isfinite(span) and span > 0.0):
        return None
    first, span = first - 0.05 * span, 1.1 * span
    return Mark(*(round(100.0 * (place - first) / span, 2) for place in (0.0, low, high, value)))


def curve(plan: Plan) -> Curve | None:
    """Return the errors to expect at other budgets, from public facts alone; None where nobody has measured them."""
    problem = plan.problem
    if plan.predicted_error is None or plan.parameters != "practical":
        return None
    epsilons = sorted({*EPSILONS, plan.privacy.epsilon})
    advice = advise(
        problem.n,
        problem.d,
        problem.loss,
        plan.privacy,
        domain=problem.domain,
        intercept=problem.intercept,
        epsilons=epsilons,
    )
    planned = [point for point in advice.curve if point.predicted is not None and point.predicted > 0.0]
    return _drawn(planned, plan.privacy.epsilon, advice.unit) if len(planned) > 1 else None


def _drawn(planned: Sequence[Point], epsilon: float, unit: str) -> Curve:
    errors = [float(point.predicted or 0.0) for point in planned]
    low, high = 10.0 ** math.floor(math.log10(min(errors))), 10.0 ** math.ceil(math.log10(max(errors)) + 1e-9)
    first, last = planned[0].epsilon, planned[-1].epsilon

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(value / first) / math.log(last / first)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(value / low) / math.log(high / low)

    points = [(across(point.epsilon), up(error)) for point, error in zip(planned, errors, strict=True)]
    here = [place for place, point in zip(points, planned, strict=True) if point.epsilon == epsilon]
    powers = range(round(math.log10(low)), round(math.log10(high)) + 1)
    return Curve(
        points=tuple(points),
        here=here[0] if here else None,
        across=tuple(Tick(across(value), f"{value:g}") for value in EPSILONS if first <= value <= last),
        up=tuple(Tick(up(10.0**power), f"{10.0**power:g}") for power in powers),
        unit=unit,
    )
