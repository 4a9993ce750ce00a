"""Every statistic that scores the points of a net, for its contract suite."""

import numpy as np

from tailguard.domains import Box, L2Ball
from tailguard.losses import Absolute, CustomLoss, Hinge, Huber, Logistic, Squared, SquaredDistance
from tailguard.statistics import GradientMapping, Potential, View

MOVED = View(2, centre=[0.0, 1.0], scale=[1.0, 3.0], target_centre=1.0, target_scale=2.0)
CLASSES = View(2, centre=[0.0, 1.0], scale=[1.0, 3.0])
FULL = View(2, centre=[0.5, -1.0], scale=[2.0, 0.5], intercept=True)
SIZE = 30


def net(k, side, radius=1.0, centre=0.0):
    """A grid of side^k points."""
    axis = np.linspace(-radius, radius, side) + centre
    return np.stack(np.meshgrid(*[axis] * k, indexing="ij"), axis=-1).reshape(-1, k)


def cube(w, rows, target):
    return (w - rows[:, : w.size]) ** 3


def _mapping():
    unit, ball = Box((-1.0,), (1.0,)), L2Ball(2, 1.0)
    small = {"threshold": 0.7, "bits": 24, "size": SIZE}
    yield GradientMapping(View(1), Squared(), net(1, 9), region=unit, step=0.5, **small)
    yield GradientMapping(View(1), Logistic(), net(1, 9), region=L2Ball(1, 1.0), step=2.0, ridge=0.3, **small)
    yield GradientMapping(
        MOVED, Absolute(0.1), net(2, 5), region=ball, step=0.1, ridge=1.0, centre=[0.3, -0.2], **small
    )
    yield GradientMapping(MOVED, Huber(2.0), net(2, 5), region=Box((-1.0, 0.0), (0.5, 1.0)), step=1.0, **small)
    far = L2Ball(2, 0.3, (5.0, -5.0))
    yield GradientMapping(MOVED, Hinge(0.5), net(2, 4), region=far, step=1e-6, ridge=1e-6, **small)
    yield GradientMapping(FULL, Squared(), net(3, 3), region=L2Ball(3, 2.0), step=0.01, **small)
    yield GradientMapping(FULL, Logistic(), net(3, 3), region=Box((-9.0,) * 3, (9.0,) * 3), step=1e-30, **small)
    wide = {"threshold": 1e60, "bits": 40, "size": SIZE}
    yield GradientMapping(View(2), Squared(), net(2, 4, 1e50), region=L2Ball(2, 1e60), step=1e-100, ridge=1e80, **wide)
    yield GradientMapping(View(3), SquaredDistance(), net(3, 3), region=L2Ball(3, 1.0), step=1.0, **small)
    yield GradientMapping(View(2), CustomLoss("cube", cube), net(2, 3), region=ball, step=1.0, **small)
    coarse = {"threshold": 1.0, "bits": 1, "size": SIZE}
    yield GradientMapping(View(2), Squared(), net(2, 3), region=ball, step=1.0, **coarse)


def _potential():
    small = {"clip": 0.7, "bits": 24, "size": SIZE}
    yield Potential(View(1), Squared(), net(1, 9), anchor=[0.0], **small)
    yield Potential(View(1), Logistic(), net(1, 9), anchor=[1.0], ridge=0.5, centre=[0.2], **small)
    for loss in (Absolute(0.1), Huber(2.0), Hinge(0.5), Logistic(), Squared()):
        view = CLASSES if isinstance(loss, Hinge | Logistic) else MOVED
        yield Potential(view, loss, net(2, 4), anchor=[0.1, 0.0], **small)
        yield Potential(FULL, loss, net(3, 3, 5.0), anchor=[0.0, 1.0, 2.0], ridge=1.0, **small)
    yield Potential(View(2), Squared(), net(2, 4, 1e-60), anchor=[0.0, 0.0], clip=1e40, bits=40, size=SIZE)
    yield Potential(View(2), Squared(), net(2, 4), anchor=[0.0, 0.0], clip=1e-40, bits=40, size=SIZE, ridge=1e100)
    yield Potential(View(2), Absolute(0.1), net(2, 3), anchor=[0.0, 0.0], clip=1.0, bits=1, size=SIZE)


NETS = [*_mapping(), *_potential()]
