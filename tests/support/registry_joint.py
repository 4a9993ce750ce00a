"""Minimisers by Algorithm 3 that are small enough for it."""

import numpy as np

from tailguard.domains import Box, L2Ball
from tailguard.losses import Absolute, Hinge, Huber, Logistic
from tailguard.statistics import JointMinimiser, View

SIZE = 3


def joint(loss, domain=None, *, accuracy=1.0, ball=None, ridge=0.05, clip=0.7, row_bound=1.5):
    """A minimiser of three records in one dimension, or in the dimension of the domain."""
    region = domain or L2Ball(1, 1.0)
    view, centre = View(region.dimension), np.full(region.dimension, 0.1)
    return JointMinimiser(view, loss, clip, ridge, centre, SIZE, 24, region, row_bound, accuracy, ball)


JOINT = [
    *(joint(loss) for loss in (Absolute(0.1), Huber(0.5), Logistic(), Hinge(0.3))),
    joint(Absolute(0.1), accuracy=0.7, ball=((0.5,), 0.3)),
    joint(Logistic(), Box((-1.0, 0.0), (1.0, 0.5)), ridge=0.04),
    joint(Hinge(0.3), L2Ball(2, 1.0), ball=((-0.5, 0.0), 0.2)),
]
