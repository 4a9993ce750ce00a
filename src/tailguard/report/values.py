"""The fitted numbers as a table: coefficients with their standard errors and intervals, or a column for each class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tailguard.losses.base import ResidualLoss
from tailguard.plans import Release
from tailguard.plans.result import LEVEL
from tailguard.report import words
from tailguard.solvers.base import EVERYWHERE
from tailguard.solvers.class_descent import ClassEstimate
from tailguard.solvers.measures import Evaluated

__all__ = ["Values", "doubt", "held", "values"]


@dataclass(frozen=True)
class Values:
    """Headings after the first, rows of cells by the name of their column, and the cells of the intercept if any."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    intercept: tuple[str, ...] | None


def values(release: Release, names: Sequence[str] | None, classes: Sequence[str] | None = None) -> Values:
    """Return the released model as text in cells.

    Parameters
    ----------
    release : Release
        A finished fit.
    names : sequence of str or None
        Names of the columns.
    classes : sequence of str or None, default=None
        Names of the classes, where there are more than two.
    """
    estimate, plan = release.estimate, release.plan
    if isinstance(estimate, ClassEstimate):
        columns = [[f"{value:.6g}" for value in row] for row in estimate.coefficients.T]
        offsets = tuple(f"{value:.6g}" for value in estimate.offsets)
        headings = words.labels(classes or [f"class {number}" for number in range(len(offsets))], len(offsets))
    else:
        columns = [[f"{value:.6g}"] for value in estimate.coefficients]
        offsets = (f"{estimate.intercept:.6g}",)
        evaluated = isinstance(estimate, Evaluated)
        headings = ["value" if evaluated else "mean" if words.task(plan) == "mean" else "coefficient"]
    found = estimate.uncertainty
    if found is not None:
        headings = [*headings, "standard error", f"{LEVEL:.0%} interval"]
        cells = [
            (f"{error:.3g}", f"{low:.4g} to {high:.4g}")
            for error, (low, high) in zip(found.std_error, found.interval(LEVEL), strict=True)
        ]
        columns = [[*column, *cell] for column, cell in zip(columns, cells, strict=False)]
        offsets = (*offsets, *cells[-1])
    rows = zip(words.labels(names, len(columns)), map(tuple, columns), strict=True)
    return Values(tuple(headings), tuple(rows), offsets if plan.problem.intercept else None)


def held(release: Release) -> str | None:
    """Return a sentence where predictions are held in a range, and one where rows are drawn back into one."""
    said, ends = [], release.estimate.feature_range
    if release.estimate.prediction_range != EVERYWHERE:
        low, high = (words.number(end) for end in release.estimate.prediction_range)
        numbers = isinstance(release.plan.problem.loss, ResidualLoss)
        reason = "hardly any target lies outside, by what was released" if numbers else "rarer classes are not told"
        said.append(f"{'Predictions' if numbers else 'Log-odds'} are held within {low} and {high}: {reason}.")
    if ends is not None:
        said.append(
            f"Rows farther than {words.number(ends.radius)} private scales from the centre are predicted as if they "
            "ended there: hardly any are, by what was released."
        )
    return " ".join(said) or None


def doubt(release: Release) -> str | None:
    """Return a sentence where nothing is known, or where coefficients lie outside their own intervals.

    An interval is around an estimate that was not shrunk, nor held in a domain. What came after may have moved it
    further than the interval reaches.
    """
    found = release.estimate.uncertainty
    if found is None:
        return None
    size = release.estimate.coefficients.size
    ends = found.interval(LEVEL)[:size]
    if np.all(np.isinf(ends)):
        return (
            "Nothing could be told from noise of how far these numbers may be off: no column, or no target, seems to "
            "vary, or classes hardly overlap. Cells that are no numbers count as missing, and a row with a missing "
            "cell counts for nothing."
        )
    beside = (release.estimate.coefficients < ends[:, 0]) | (release.estimate.coefficients > ends[:, 1])
    count = int(beside.sum())
    if not count:
        return None
    return (
        f"{count} of {size} numbers lie outside their own interval: shrinking, calibration or the domain moved them "
        "further than it reaches. Intervals may then cover the truth less often than they say."
    )
