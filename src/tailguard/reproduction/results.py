"""Results as tables: one row a fit, one line a setting. Pictures and the page are made from the lines."""

import csv
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from tailguard.errors import DataError

__all__ = ["FITTED", "Line", "Row", "load", "save", "summarise"]

FITTED = "fitted"
"""The outcome of a fit that was made; any other outcome is the sentence of a refusal."""

_WORST = 1e300  # a fit that overflowed is as bad as can be, not missing


@dataclass(frozen=True)
class Row:
    """One fit of one repetition.

    Attributes
    ----------
    figure, data : str
        Name of the figure, and of the data set where the data are real.
    method : str
        Name of the method or reference.
    n, d, sparsity, epsilon, delta : numbers
        The setting. References cost nothing or keep nothing: their ε and δ are NaN.
    repetition, seed : int
        Which repetition, and the seed of its noise (of its data, for a reference).
    excess : float
        Population risk above that of the minimiser over the domain with a free intercept.
    excess_over_truth : float
        The same above w*; negative where w* is not the minimiser.
    seconds : float
        For planning and fitting.
    outcome : str
        "fitted", or the sentence with which the plan was refused.
    """

    figure: str
    data: str
    method: str
    n: int
    d: int
    sparsity: int
    epsilon: float
    delta: float
    repetition: int
    seed: int
    excess: float
    excess_over_truth: float
    seconds: float
    outcome: str = FITTED

    @property
    def setting(self) -> tuple[Any, ...]:
        """What the rows of one line have in common; NaN as text, because it equals nothing."""
        return self.figure, self.data, self.method, self.n, self.d, self.sparsity, str(self.epsilon), str(self.delta)


@dataclass(frozen=True)
class Line:
    """All fits of one method in one setting.

    Attributes
    ----------
    figure, data, method, n, d, sparsity, epsilon, delta
        As in `Row`.
    median, low, high, mean : float
        Quartiles and mean of the excess risk over the fits that were made.
    median_over_truth : float
        Median excess over w*.
    seconds : float
        Median time of a fit.
    repetitions, refused : int
        Fits that were made, and plans that were refused.
    seed : int
        What the user asked for; all other seeds follow from it.
    readings : str
        Readings of the text that are not the default.
    """

    figure: str
    data: str
    method: str
    n: int
    d: int
    sparsity: int
    epsilon: float
    delta: float
    median: float
    low: float
    high: float
    mean: float
    median_over_truth: float
    seconds: float
    repetitions: int
    refused: int
    seed: int = 0
    readings: str = ""


def summarise(rows: Iterable[Row], seed: int = 0, readings: str = "") -> list[Line]:
    """Return one line a setting, in the order in which settings first appear."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.setting].append(row)
    return [_line(group, seed, readings) for group in groups.values()]


def _line(group: Sequence[Row], seed: int, readings: str) -> Line:
    first, made = group[0], [row for row in group if row.outcome == FITTED]
    columns = np.array([(row.excess, row.excess_over_truth, row.seconds) for row in made])
    worst = np.nan_to_num(columns, nan=_WORST, posinf=_WORST) if made else np.full((1, 3), math.nan)
    excess, over, seconds = worst.T
    median, low, high = (float(np.quantile(excess, share)) for share in (0.5, 0.25, 0.75))
    return Line(
        figure=first.figure,
        data=first.data,
        method=first.method,
        n=first.n,
        d=first.d,
        sparsity=first.sparsity,
        epsilon=first.epsilon,
        delta=first.delta,
        median=median,
        low=low,
        high=high,
        mean=float(excess.mean()),
        median_over_truth=float(np.median(over)),
        seconds=float(np.median(seconds)),
        repetitions=len(made),
        refused=len(group) - len(made),
        seed=seed,
        readings=readings,
    )


def save(path: Path, rows: Sequence[Row] | Sequence[Line]) -> None:
    """Write rows or lines as CSV: six digits, nothing for NaN."""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, [field.name for field in fields(rows[0])], lineterminator="\n")
            out.writeheader()
            out.writerows({name: _cell(value) for name, value in asdict(row).items()} for row in rows)
    except OSError:
        raise DataError(f"The file {str(path)!r} cannot be written.") from None


def load(path: Path) -> list[Line]:
    """Return the lines of a file."""
    kinds = {field.name: field.type for field in fields(Line)}
    try:
        with path.open(newline="", encoding="utf-8") as file:
            table = [{name: _value(kinds[name], text) for name, text in line.items()} for line in csv.DictReader(file)]
        return [Line(**line) for line in table]
    except (OSError, KeyError, TypeError, ValueError):
        raise DataError(f"{str(path)!r} is not a table of reproduced results.") from None


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)


def _value(kind: Any, text: str) -> Any:
    return math.nan if kind is float and not text else kind(text)
