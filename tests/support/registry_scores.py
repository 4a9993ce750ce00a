"""Every function of a coordinatewise sum that the contract suite of scores is run on."""

import numpy as np

from tailguard.losses import Squared
from tailguard.statistics import (
    Catoni,
    Clamped,
    Gradient,
    Magnitudes,
    Nearest,
    Opposed,
    Rows,
    Shifted,
    Shrunken,
    Signed,
    Truncated,
    Vertices,
    View,
)

VIEW = View(3, centre=[0.0, 1.0, -1.0], scale=[1.0, 2.0, 0.5])
SLOPED = Gradient(VIEW, Squared(), np.array([0.3, -0.2, 0.1]))

INNER = [
    inner
    for field in (Rows(View(1)), Rows(VIEW), SLOPED)
    for inner in (Clamped(field, 0.7, 24), Truncated(field, 0.7, 24), Shrunken(field, 1.5, 0.7, 24))
] + [Catoni(Rows(View(1)), 0.7, 24), Catoni(SLOPED, 0.7, 20, 0.1)]


def corners(d):
    """Vertices of a polytope: one on an axis, the others anywhere."""
    scattered = np.random.default_rng(d).standard_normal((5, d))
    return np.vstack([np.eye(d)[0] * np.abs(scattered).sum(axis=1).max(), scattered])


def _scored(inner):
    d = inner.dimension
    yield Opposed(inner)
    yield Signed(inner)
    yield Vertices(inner, corners(d))
    yield Magnitudes(inner)
    yield Magnitudes(inner, np.arange(1, d))
    yield Nearest(inner)
    yield Nearest(inner, -1e300)
    yield Shifted(inner, np.linspace(-3.0, 3.0, d))
    yield Shifted(inner, np.full(d, -1e300))


SCORED = [statistic for inner in INNER for statistic in _scored(inner)]
