"""Public units: centres and scales of columns and target that somebody knows without looking at the records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from tailguard._validate import real, refuse
from tailguard.errors import ParameterError
from tailguard.solvers.base import FloatVector, Setting

__all__ = ["LARGEST", "Scales"]

LARGEST, SMALLEST = 1e75, 1e-75
"""Largest scale and distance of a centre from 0, and the smallest scale: their products stay finite."""


Columns: TypeAlias = float | Sequence[float] | Mapping[str, float] | None


@dataclass(frozen=True)
class Scales(Setting):
    """Scales and centres that are public: known from elsewhere, and **never computed from the records** of a fit.

    What is given is not sought, so that its share of the budget goes to the model. A scale is a usual distance from the
    centre, such as a standard deviation, half the width of the middle two thirds, or the unit in which people think of
    a column; a factor of two is nothing. A wrong one costs accuracy, never privacy. One that was computed from the
    records breaks the promise, and nothing can notice it.

    Parameters
    ----------
    features : float, sequence or mapping, default=None
        Scales of the columns: one for all, one each in their order, or one each by name. None: sought privately.
    target : float, default=None
        Scale of the target, in regressions of a number. None: sought privately.
    centres : float, sequence or mapping, default=None
        Centres of the columns, like `features`; for means, and for models with an intercept. None: sought privately.
    target_centre : float, default=None
        Centre of the target, in regressions of a number with an intercept. None: sought privately.

    Examples
    --------
    >>> import tailguard as tg
    >>> scales = tg.Scales({"age": 15.0, "income": 20_000.0}, target=500.0, centres={"age": 45.0, "income": 40_000.0})
    >>> plan = tg.LinearRegression(epsilon=0.5, scales=scales).plan(n_rows=20_000, n_features=2)
    >>> [step.name for step in plan.steps if "feature" in step.name or "target" in step.name]
    ['target centre']
    """

    features: Columns = None
    target: float | None = None
    centres: Columns = None
    target_centre: float | None = None

    def __post_init__(self) -> None:
        numbers = {"features": _columns("features", self.features, SMALLEST)}
        numbers["centres"] = _columns("centres", self.centres, -LARGEST)
        numbers["target"] = None if self.target is None else _number("target", self.target, SMALLEST)
        middle = self.target_centre
        numbers["target_centre"] = None if middle is None else _number("target_centre", middle, -LARGEST)
        for name, value in numbers.items():
            object.__setattr__(self, name, value)

    def of(self, d: int, names: Sequence[str] | None = None) -> "Scales":
        """Return the same with a tuple of d numbers in place of one number or of names.

        Parameters
        ----------
        d : int
            Number of columns.
        names : sequence of str or None, default=None
            Their names, in their order. Without any, a mapping is taken in its own order.
        """
        features, centres = (_each(name, getattr(self, name), d, names) for name in ("features", "centres"))
        return replace(self, features=features, centres=centres)

    @property
    def scale(self) -> FloatVector | None:
        """The scales of the columns as a vector, after `of`."""
        return None if self.features is None else np.array(self.features, dtype=np.float64)

    @property
    def centre(self) -> FloatVector | None:
        """The centres of the columns as a vector, after `of`."""
        return None if self.centres is None else np.array(self.centres, dtype=np.float64)

    @property
    def empty(self) -> bool:
        """Whether nothing is given."""
        return self == Scales()


def _columns(name: str, value: Any, least: float) -> Columns:
    """Return one number, a tuple of them or a dict of them, all within limits."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {str(key): _number(name, number, least) for key, number in value.items()}
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) and np.ndim(value) == 1:
        return tuple(_number(name, number, least) for number in value)
    return _number(name, value, least, "a number, a sequence of numbers or a mapping from names to them, each ")


def _number(name: str, value: Any, least: float, kinds: str = "a number ") -> float:
    rule = f"{kinds}from {least:g} to {LARGEST:g}"
    return real(name, value, "Scales", at_least=least, at_most=LARGEST, rule=rule)


def _each(name: str, value: Columns, d: int, names: Sequence[str] | None) -> tuple[float, ...] | None:
    if value is None:
        return None
    if isinstance(value, float):
        return (value,) * d
    if isinstance(value, dict) and names is not None:
        if set(value) != set(names) or len(set(names)) < len(names):
            raise _unknown(name, value, names)
        return tuple(value[key] for key in names)
    found = tuple(value.values()) if isinstance(value, Mapping) else tuple(value)
    if len(found) != d:
        raise refuse(name, "Scales", f"{d} numbers, one for each column", f"{len(found)} of them")
    return found


def _unknown(name: str, value: dict[str, float], names: Sequence[str]) -> ParameterError:
    odd = sorted(set(value) ^ set(names)) or [key for key in names if list(names).count(key) > 1]
    return refuse(name, "Scales", "numbers for exactly the columns of the records, by name", f"{odd[:3]} amiss")
