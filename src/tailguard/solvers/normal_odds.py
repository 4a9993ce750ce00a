"""How a loss of classes curves around a model: less along it than across it.

Rows far along the model are sure of their class and hardly count, so that along its direction the curvature is half or
less of what it is across. A Gram matrix does not know. If rows had a normal law, log-odds p = b + L·s with s standard
normal would say by how much; rows of heavy tails come near, because long ones are shortened.
"""

from collections.abc import Callable

import numpy as np
from numpy.polynomial.hermite_e import hermegauss
from numpy.typing import NDArray
from scipy.special import expit

from tailguard.losses.balanced import BalancedLogistic
from tailguard.losses.base import Loss
from tailguard.losses.logistic import Logistic
from tailguard.solvers.matrices import TINY, held

__all__ = ["FARTHEST", "moments", "straightened"]

FARTHEST = 20.0
"""Largest log-odds of an average row, and largest deviation of log-odds, that are believed."""

LEAST_ALONG, MOST_CROSS = 0.2, 0.7
"""Least curvature along the model, as a part of that across it; and the most that it may lean on the intercept's, as a
correlation: a matrix that is nearly singular makes steps of noise."""

NODES, WEIGHTS = hermegauss(48)
WEIGHTS = WEIGHTS / WEIGHTS.sum()

FloatVector = NDArray[np.float64]
Part = Callable[[FloatVector, FloatVector], FloatVector]


def moments(part: Part, offset: float, length: float) -> tuple[float, float, float]:
    """Return the means of f, f·s and f·s², f a part of the loss as expected where p = offset + length·s is right.

    Parameters
    ----------
    part : callable
        Of predictions and labels.
    offset, length : float
        Log-odds of an average row, and their deviation.
    """
    p = float(np.clip(offset, -FARTHEST, FARTHEST)) + min(length, FARTHEST) * NODES
    chance, ones = expit(p), np.ones_like(p)
    values = chance * part(p, ones) + (1.0 - chance) * part(p, 0.0 * ones)
    mean, first, second = (float(WEIGHTS @ (values * NODES**power)) for power in range(3))
    return mean, first, second


def straightened(loss: Loss, point: FloatVector, intercept: bool, gradient: FloatVector) -> FloatVector:
    """Return the step that a gradient on whitened rows asks for, in units of the curvature across the model.

    It is the gradient itself for losses of anything but log-odds, and at a point without slopes.

    Parameters
    ----------
    loss : Loss
        In the rows' units.
    point : vector
        Released.
    intercept : bool
        Whether its last entry is an intercept.
    gradient : vector
        Released.
    """
    slopes = held(np.append(point[:-1], 0.0) if intercept else point)
    length = float(np.linalg.norm(slopes))
    if not isinstance(loss, Logistic | BalancedLogistic) or not length > TINY:
        return gradient
    mean, first, second = moments(loss.second_derivative, float(point[-1]) if intercept else 0.0, length)
    along = max(second / max(mean, TINY), LEAST_ALONG)
    direction = slopes / length
    shape = np.eye(point.size) + (along - 1.0) * np.outer(direction, direction)
    if intercept:
        most = MOST_CROSS * along**0.5
        cross = float(np.clip(first / max(mean, TINY), -most, most))
        shape[-1] += cross * direction
        shape[:, -1] += cross * direction
    return np.asarray(np.linalg.solve(shape, gradient))
