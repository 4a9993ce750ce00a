"""All rates in one table, and the table as text. A new paper adds its module's `RATES` here."""

from collections.abc import Iterable

from tailguard._validate import real
from tailguard.theory import explicit, hu, lowy, tao, zhao
from tailguard.theory.rate import Rate

__all__ = ["rates", "render"]

_RATES: tuple[Rate, ...] = (*tao.RATES, *zhao.RATES, *hu.RATES, *lowy.RATES, *explicit.RATES)

_HEADER = ("name", "source", "kind", "task", "privacy", "moment of", "p", "n", "d", "ε", "n, sampling", "formula")


def rates() -> tuple[Rate, ...]:
    """Return every rate and bound, upper and lower.

    Examples
    --------
    >>> next(rate for rate in rates() if rate.name == "truncated mean").exponent_n(1.5)
    -0.33333333333333337
    """
    return _RATES


def render(table: Iterable[Rate] | None = None, *, order: float | None = None) -> str:
    """Return rates as a Markdown table, with a list of what is wrong with the statements as printed.

    Parameters
    ----------
    table : iterable of Rate or None
        What to show; None shows all of them.
    order : float or None
        Moment order p at which to show the exponents; None shows them as functions of κ = 1 − 1/p.

    Returns
    -------
    str
        Markdown. Exponents are those of the leading private term; constants of a "rate" are 1.
    """
    shown = rates() if table is None else tuple(table)
    p = None if order is None else real("order", order, "render", above=1.0)
    lines = [_row(_HEADER), _row("---" for _ in _HEADER), *(_row(_cells(rate, p)) for rate in shown)]
    notes = [f"- *{rate.name}*: {rate.caveat}" for rate in shown if rate.caveat]
    return "\n".join([*lines, "", *notes]) + "\n"


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(rate: Rate, p: float | None) -> tuple[str, ...]:
    exponents = (rate.exponent_n, rate.exponent_d, rate.exponent_epsilon, rate.exponent_sampling)
    shown = ("–" if e is None else str(e) if p is None else f"{e(p):.3g}".replace("-", "−") for e in exponents)
    kind = f"{rate.kind} {'bound' if rate.explicit else 'rate'}"
    return (
        rate.name,
        f"{rate.paper}, {rate.statement}",
        kind,
        rate.task,
        rate.privacy,
        rate.moment,
        _orders(rate.orders),
        *shown,
        rate.formula,
    )


def _orders(orders: tuple[float, float]) -> str:
    least, greatest = orders
    left = f"p > {least:g}" if least == 1.0 else f"p ≥ {least:g}"
    return left if greatest == float("inf") else f"{least:g} < p ≤ {greatest:g}"
