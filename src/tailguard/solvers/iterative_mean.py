"""A mean from a few released group means, by steps towards where most of them lie (Zhao et al. 2024, Algorithm 3).

Everything here is post-processing of released numbers. The privacy of the whole estimator is that of one group mean;
the amplification by shuffling that the paper claims does not hold (`iterative_mean.md`).
"""

import math

import numpy as np

from tailguard._validate import integer, real
from tailguard.solvers.base import FloatVector
from tailguard.solvers.direction import FloatMatrix, estimate

__all__ = ["iterations_needed", "iterative_mean"]


def iterative_mean(groups: FloatMatrix, start: FloatVector, iterations: int, step: float = 0.25) -> FloatVector:
    """Return the iterate of c ← c + η·s·u that is estimated to be nearest to the mean.

    Lines 5 to 11 of Zhao et al. 2024, Algorithm 3: `estimate` gives the distance s and the direction u from c. As
    printed, the candidates are the points at which a distance was estimated, c_1 (the start) to c_t; the point that the
    last step would lead to is none of them. So one iteration returns the start.

    Parameters
    ----------
    groups : (k, d) matrix
        Released group means Q_1 … Q_k, finite.
    start : (d,) vector
        c_1, a public or released point.
    iterations : int
        t; see `iterations_needed`.
    step : float, default=0.25
        η in (0, 1].

    Notes
    -----
    *Guarantee.* Post-processing: what the releases of the groups cost. Groups are disjoint, so that is the cost of one.

    *Accuracy.* Let r be such that in every direction at most k/10 groups lie farther than r beyond a point μ. With
    η = ¼ and `iterations_needed` iterations the answer is within 6r of μ, and within 6.06r if `estimate` stays 1 %
    below the maximum (Lemma 8, with the repairs of `iterative_mean.md`). This is a bound, not a recommendation: steps
    end where s = 0, which for Gaussian groups is about one standard deviation of a group mean away from μ, however many
    groups there are. A plain average of the groups is more accurate, and so is their median where some are wild.

    Examples
    --------
    >>> groups = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]) + 10.0
    >>> bool(np.linalg.norm(iterative_mean(groups, np.zeros(2), iterations=40) - 10.0) < 1.0)
    True
    """
    steps = integer("iterations", iterations, "iterative_mean")
    length = real("step", step, "iterative_mean", above=0.0, at_most=1.0)
    centre = np.asarray(start, dtype=np.float64)
    nearest, answer = math.inf, centre
    for _ in range(steps):
        distance, direction = estimate(groups, centre)
        if distance < nearest:
            nearest, answer = distance, centre
        centre = centre + length * distance * direction
    return answer


def iterations_needed(distance: float, radius: float) -> int:
    """Return the number of iterations of Zhao et al. 2024, Lemma 8, at least 1, for η = ¼.

    t = ⌈2·ln(‖c_1 − μ‖/(4r)) / ln(256/233)⌉.

    Parameters
    ----------
    distance : float
        A bound on ‖c_1 − μ‖.
    radius : float
        r > 0: in every direction at most a tenth of the groups lies farther than r beyond μ.

    Examples
    --------
    >>> iterations_needed(distance=100.0, radius=1.0), iterations_needed(distance=3.0, radius=1.0)
    (69, 1)
    """
    far = real("distance", distance, "iterations_needed", at_least=0.0)
    near = real("radius", radius, "iterations_needed", above=0.0)
    if far <= 4.0 * near:
        return 1
    return max(1, math.ceil(2.0 * (math.log(far) - math.log(4.0 * near)) / math.log(256.0 / 233.0)))
