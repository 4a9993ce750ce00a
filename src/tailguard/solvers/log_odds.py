"""How far log-odds are believed: a range around those of the null model."""

import math

from tailguard.losses.base import Loss
from tailguard.losses.logistic import Logistic
from tailguard.solvers.base import EVERYWHERE, Range

__all__ = ["FAINTEST", "believed_odds", "odds_range"]

FAINTEST = 3.0
"""Least odds that are believed."""

BESIDE = 0.5
"""How far beyond the null model's log-odds those of a record may lie on the same side, whatever the budget is."""


def believed_odds(strength: float) -> float:
    """Return the largest log-odds that records show for n × budget ÷ k of so much: rarer classes drown in noise."""
    return math.log(max(strength, FAINTEST))


def odds_range(loss: Loss, offset: float, farthest: float | None) -> Range:
    """Return the range in which log-odds are held; all numbers for a loss of other predictions.

    A group of records in which a class is rarer than 1 ÷ strength cannot be told from one that lacks it, nor one in
    which it is more frequent than elsewhere by more than that factor. So log-odds lie around 0 and around those of all
    records, and a few records far from all others are not predicted with a certainty that nothing supports.

    Parameters
    ----------
    loss : Loss
        What is predicted.
    offset : float
        Log-odds of the null model, released; 0 where there is no intercept.
    farthest : float or None
        The logarithm of the strength, as `believed_odds` gives it. None for no range.
    """
    if farthest is None or not isinstance(loss, Logistic):
        return EVERYWHERE
    most = max(farthest, abs(offset) + BESIDE)
    # 0 is within, so that the class whose probability is above a half is the one that is predicted.
    return min(max(offset - farthest, -most), 0.0), max(min(offset + farthest, most), 0.0)
