"""Every loss that the contract suite is run on. A new loss gets its tests by being added here."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tailguard.losses import (
    Absolute,
    BalancedLogistic,
    Biweight,
    CustomLoss,
    Hinge,
    Huber,
    Logistic,
    Loss,
    RecordLoss,
    Squared,
    SquaredDistance,
)

LABELS = (0.0, 1.0)
NUMBERS = (-40.0, -1.5, 0.0, 0.3, 1000.0)


def _none(target):
    return ()


def _around(*offsets):
    return lambda target: tuple(target + offset for offset in offsets)


def _margins(*shortfalls):
    return lambda target: tuple((1.0 - v) / (2.0 * target - 1.0) for v in shortfalls)


@dataclass(frozen=True)
class LossCase:
    """A loss, admissible targets, and the predictions at which its derivative has a kink, for each target."""

    loss: Loss
    targets: tuple[float, ...]
    kinks: Callable[[float], tuple[float, ...]] = _none


@dataclass(frozen=True)
class RecordLossCase:
    """A record loss and whether it reads the target."""

    loss: RecordLoss
    needs_target: bool = False


LOSSES = [
    LossCase(Squared(), NUMBERS),
    LossCase(Logistic(), LABELS),
    LossCase(BalancedLogistic(), LABELS, lambda target: (0.0,)),
    LossCase(Huber(threshold=0.7), NUMBERS, _around(-0.7, 0.7)),
    LossCase(Huber(threshold=25.0), NUMBERS, _around(-25.0, 25.0)),
    LossCase(Biweight(threshold=0.5), NUMBERS, _around(-0.5, 0.5)),
    LossCase(Biweight(threshold=4.685), NUMBERS, _around(-4.685, 4.685)),
    LossCase(Absolute(smoothing=0.25), NUMBERS, _around(-0.25, 0.25)),
    LossCase(Absolute(smoothing=3.0), NUMBERS, _around(-3.0, 3.0)),
    LossCase(Hinge(smoothing=0.5), LABELS, _margins(0.0, 0.5)),
    LossCase(Hinge(smoothing=2.0), LABELS, _margins(0.0, 2.0)),
]


def _quartic_gradient(point, rows, target):
    return 4.0 * (point - rows) ** 3


def _quartic_value(point, rows, target):
    return ((point - rows) ** 4).sum(axis=1)


def _poisson_gradient(point, rows, target):
    return (np.exp((rows * point).sum(axis=1)) - target)[:, None] * rows


def _poisson_value(point, rows, target):
    prediction = (rows * point).sum(axis=1)
    return np.exp(prediction) - target * prediction


RECORD_LOSSES = [
    RecordLossCase(SquaredDistance()),
    RecordLossCase(CustomLoss("quartic", _quartic_gradient, _quartic_value)),
    RecordLossCase(CustomLoss("poisson", _poisson_gradient, _poisson_value), needs_target=True),
]
