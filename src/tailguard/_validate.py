"""Checks of public parameters, in one sentence form for the whole library."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from tailguard.errors import ParameterError

__all__ = ["choice", "integer", "real", "refuse"]


def refuse(name: str, owner: str, rule: str, got: object) -> ParameterError:
    """Return the library's one sentence about a wrong parameter, as an error to raise."""
    return ParameterError(f"The '{name}' parameter of {owner} must be {rule}. Got {got!r} instead.")


def real(
    name: str,
    value: Any,
    owner: str,
    *,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    at_most: float = math.inf,
    rule: str | None = None,
) -> float:
    """Return `value` as a finite float inside the given limits, or raise the library's sentence."""
    # Exact types first: an abstract class takes ten times as long to ask, and a plan asks a million times.
    if type(value) is float or (isinstance(value, Real) and not isinstance(value, bool)):
        try:
            number = float(value)
        except OverflowError:  # an integer beyond the floats
            number = math.inf
        inside = above < number < below and at_least <= number <= at_most
        if math.isfinite(number) and inside:
            return number
    raise refuse(name, owner, rule or _interval(above, at_least, below, at_most), value)


def integer(name: str, value: Any, owner: str, *, at_least: int = 1, at_most: int | None = None) -> int:
    """Return `value` as an int inside the given limits, or raise the library's sentence."""
    if type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool)):
        number = int(value)
        if at_least <= number and (at_most is None or number <= at_most):
            return number
    limit = "" if at_most is None else f" and at most {at_most}"
    raise refuse(name, owner, f"an integer of at least {at_least}{limit}", value)


def choice(name: str, value: Any, owner: str, options: Iterable[str]) -> str:
    """Return `value` if it is one of `options`, or raise the library's sentence."""
    known = tuple(options)
    if isinstance(value, str) and value in known:
        return value
    raise refuse(name, owner, "one of " + ", ".join(repr(option) for option in known), value)


def _interval(above: float, at_least: float, below: float, at_most: float) -> str:
    parts = [
        f"greater than {above:g}" if above > -math.inf else "",
        f"at least {at_least:g}" if at_least > -math.inf else "",
        f"less than {below:g}" if below < math.inf else "",
        f"at most {at_most:g}" if at_most < math.inf else "",
    ]
    limits = " and ".join(part for part in parts if part)
    return f"a finite number {limits}".strip()
