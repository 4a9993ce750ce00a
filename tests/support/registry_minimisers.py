"""Every certified minimiser that the contract suite of minimisers is run on, and records that an adversary tries."""

import numpy as np

from tailguard.domains import L2Ball
from tailguard.engines import WHOLE, open
from tailguard.engines.selection import Selection
from tailguard.losses import Absolute, Hinge, Huber, Logistic, Squared
from tailguard.statistics import Minimiser, PerturbedMinimiser, View
from tests.support import neighbours

SIZE, BITS = 12, 40
PLAIN = {d: View(d) for d in (1, 2, 6)}
MOVED = View(2, centre=[1.0, -2.0], scale=[0.5, 3.0], intercept=True, target_centre=1.0, target_scale=2.0)
LOSSES = (Squared(), Logistic(), Huber(threshold=0.7), Absolute(smoothing=0.1), Hinge(smoothing=0.3))
LABELLED = ("logistic", "hinge")
CLIP, RIDGE, CURVATURE = 1.5, 0.2, 4.0


def minimiser(view, loss, *, ridge=RIDGE, domain=None, curvature=CURVATURE, bits=BITS):
    """Return a minimiser of `SIZE` records around a centre that is not 0."""
    centre = np.linspace(-0.5, 0.5, view.dimension)
    return Minimiser(view, loss, CLIP, ridge, centre, SIZE, bits, domain, curvature)


def perturbed(view, loss, *, ridge=RIDGE, curvature=CURVATURE, bits=BITS, precision=10):
    return PerturbedMinimiser(view, loss, CLIP, ridge, SIZE, bits, curvature, precision)


MINIMISERS = [
    *(minimiser(PLAIN[2], loss) for loss in LOSSES),
    *(minimiser(MOVED, loss, ridge=0.01) for loss in LOSSES[:2]),
    minimiser(PLAIN[1], Squared(), ridge=50.0),
    minimiser(PLAIN[6], Absolute(smoothing=1e-3), curvature=100.0),
    minimiser(PLAIN[2], Logistic(), bits=10),
    minimiser(PLAIN[2], Squared(), domain=L2Ball(2, 1.0)),
    minimiser(MOVED, Huber(threshold=2.0), domain=L2Ball(3, 0.7)),
    *(perturbed(PLAIN[2], loss) for loss in LOSSES),
    perturbed(MOVED, Squared(), ridge=0.01),
    perturbed(PLAIN[1], Logistic(), ridge=50.0),
    perturbed(PLAIN[6], Hinge(smoothing=1e-3), curvature=100.0),
    perturbed(MOVED, Logistic(), ridge=0.05, precision=20),
]


def records(statistic, size, seed=0):
    """Return raw records: hostile ones, and ones whose clipped gradients are as long as can be."""
    rng = np.random.default_rng(seed)
    view = statistic.view
    X, y = neighbours.records(view, (1.0, 30.0), size, rng)
    usual = rng.random(size) < 0.6
    Z, t = rng.standard_t(3, (size, view.dimension_in)), rng.standard_t(3, size) * 10.0 ** rng.integers(-1, 7, size)
    if statistic.loss.name in LABELLED:
        t = np.where(rng.random(size) < 0.9, rng.integers(0, 2, size), t)
    moved, targets = neighbours.raw(view, Z, t)
    return np.where(usual[:, np.newaxis], moved, X), np.where(usual, targets, y)


def source(X, y):
    return Selection(open(X, y), WHOLE)
