"""A private choice among released models: the one that predicts best, or the null model."""

from collections.abc import Generator, Sequence
from dataclasses import replace

import numpy as np

from tailguard.solvers.base import FloatVector, Query, Released
from tailguard.statistics.coordinatewise import Clamped
from tailguard.statistics.improvement import Duel, Improvement, Valued
from tailguard.statistics.scores import Shifted
from tailguard.statistics.view import View

__all__ = ["choose", "improvement"]


def choose(
    step: str,
    view: View,
    loss: Valued,
    models: Sequence[FloatVector],
    limit: float,
    bits: int,
    handicap: float | FloatVector = 0.0,
    lean: float = 0.0,
) -> Generator[Query, Released, int]:
    """Ask which model improves most on the first one and return its number.

    Parameters
    ----------
    step : str
        The plan's step: one pick among as many scores as there are models.
    view : View
        Prepared, with an intercept or without; all models are in its units and as long as its rows.
    loss : Loss
        In the view's units.
    models : sequence of vectors
        Released or public; the first is the null model.
    limit : float
        No record counts for more than that, for or against a model; public or released.
    bits : int
        Bits of the grid.
    handicap : float or vector, default=0.0
        How many records a model, or each of them, must win over the first one before it counts as better; above 0 the
        plan's statistic is a shifted sum.
    lean : float, default=0.0
        For two models: a record counts up to limit + lean against the second one, and up to limit − lean for it. Every
        record adds so much for it, which the handicap must make up for.

    Notes
    -----
    *Accuracy.* With K models and n records a model that is worse by more than about 2·limit·ln K ÷ (n × loss of the
    pick) is not taken. Two models are compared by a duel, which has half of that noise. Records that were used to fit
    are used again: what a model gained by fitting noise is small beside the noise that privacy adds to it.
    """
    duel = len(models) == 2
    field = improvement(view, loss, models)
    scores = Clamped(Duel(field.view, field.loss, field.offsets, lean) if duel else field, limit, bits)
    ahead = (2.0 if duel else 1.0) * limit * np.asarray(handicap)  # the scores of a duel are twice as far apart
    shift = np.where(np.arange(len(models)) == 0, 0.0, -ahead)
    reply = yield Query(step, Shifted(scores, shift) if np.any(shift) else scores)
    return int(reply.value[0])


def improvement(view: View, loss: Valued, models: Sequence[FloatVector]) -> Improvement:
    """Return how much better each model predicts a record than the first one; parameters as in `choose`."""
    slopes = np.stack([model[: view.dimension_in] for model in models], axis=1)
    offsets = np.array([model[-1] if view.intercept else 0.0 for model in models])
    return Improvement(replace(view, intercept=False, basis=slopes), loss, offsets)
