"""What is left when Newton's method ends without a certificate: a gradient method whose accuracy is a theorem.

The numbers of steps and stages follow from public numbers. Proof: minimise.md, Theorem 2.
"""

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np

from tailguard.certified.accelerated import accelerated
from tailguard.certified.anchor import CHUNK, Anchor
from tailguard.certified.certificate import ROUNDING, certified, evaluation_error, projection_error
from tailguard.certified.kernels import FloatVector
from tailguard.certified.newton import State, start
from tailguard.certified.objective import Objective
from tailguard.domains import WholeSpace
from tailguard.domains.base import Domain

__all__ = ["descend", "resolution", "stages", "steps"]

SHRINKING = 2.0**10  # how much nearer every stage comes
LOWEST = 0.75  # strong convexity, in units of the ridge, that rounding errors leave
LONGEST_TILT = 1e6  # in units of the clip
WIDEST = 10_000  # dimensions of the theorem
COARSEST = 8e-6  # relative error of a projection times the curvature, of the theorem


def steps(condition: float) -> int:
    """Return the number of steps of a stage, for records of a curvature up to `condition` in units of the ridge."""
    highest = _highest(condition)
    return math.ceil(math.sqrt(highest / LOWEST) * math.log(4.0 * highest * SHRINKING**2) / 0.48)


def stages(distance: float, tolerance: float) -> int:
    """Return the number of stages that lead from `distance` to half of `tolerance`."""
    return max(0, math.ceil(math.log(2.0 * distance / tolerance) / math.log(SHRINKING)))


def resolution(objective: Objective, domain: Domain | None = None) -> float:
    """Return the smallest tolerance that `minimise` guarantees for every data set, from public numbers alone.

    It takes the linear term for no longer than 10⁶ times the clip. It is infinite in more than 10⁴ dimensions, and
    where projections are too coarse for the curvature.

    Examples
    --------
    >>> from tailguard.losses import Squared
    >>> F = Objective([[1.0]], [1.0], Squared(), clip=1.0, ridge=0.1, centre=[0.0], size=1)
    >>> resolution(F) < 1e-11
    True
    """
    highest, length, d = _highest(objective.condition), objective.length, objective.dimension
    tilt = 0.0 if objective.tilt is None else LONGEST_TILT / objective.size
    far = float(np.linalg.norm(objective.centre)) + (1.0 + tilt) * length
    vague, relative = 0.0, 4.0 * ROUNDING
    if domain is not None and not isinstance(domain, WholeSpace):
        size = min(domain.norm_bound("l2"), far + 2.0 * math.sqrt(highest) * length)
        relative += projection_error(domain)
        vague = relative * (size + (length + far + size) / highest)
        far += size
    if d > WIDEST or highest * relative > COARSEST:
        return math.inf
    adding = ROUNDING * (CHUNK + 16.0 + 16.0 * far / length) + evaluation_error(objective)
    doubling = ROUNDING**2 * (4.0 * d + 16.0) * far / length * math.sqrt(objective.condition)
    floor = 8.1 * highest**0.25 * (doubling + adding) + 20.0 * highest * vague / length
    return float(2.1 * length * floor + 2.0 * relative * far)


def descend(
    objective: Objective, point: FloatVector, distance: float, tolerance: float, domain: Domain | None
) -> FloatVector:
    """Return a point within `tolerance` of the minimiser, from a point of the domain within `distance` of it."""
    for _ in range(stages(distance, tolerance)):
        for state in _stage(Anchor(objective, point), domain):
            point, bound = certified(state, domain)
            if bound <= tolerance:
                return point
        point = state.point
    return point


def _stage(anchor: Anchor, domain: Domain | None) -> Iterator[State]:
    """Yield every hundredth state of a stage and its last one."""
    objective, highest = anchor.objective, _highest(anchor.objective.condition)
    most = steps(objective.condition)

    def gradient(shift: FloatVector) -> FloatVector:
        return objective.length * start(anchor, shift).gradient

    def project(shift: FloatVector) -> FloatVector:
        return shift if domain is None else domain.project(anchor.point + shift) - anchor.point

    iterates = accelerated(gradient, project, np.zeros_like(anchor.point), highest, LOWEST)
    for count, shift in enumerate(islice(iterates, most + 1)):
        if count % (most // 100 + 1) == 0 or count == most:
            yield start(anchor, shift)


def _highest(condition: float) -> float:
    """Curvature, in units of the ridge, with what rounding errors add."""
    return 1.125 * condition + 1.25
