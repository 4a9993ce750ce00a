"""COINPRESS: a private mean by clipping to a ball that shrinks from step to step (Biswas et al. 2020)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.noise import Noise
from benchmarks.objective import Budget, Drawn, Fit, Solver, Vector
from benchmarks.solvers.baseline import HUGE, Baseline, gaussian_budget

__all__ = ["Coinpress", "make"]

FAILURE = 0.01
"""Probability of the tail bounds, as in the authors' code."""

SHARES = {1: (1.0,), 2: (1 / 3, 2 / 3), 3: (1 / 6, 1 / 6, 2 / 3), 4: (1 / 8, 1 / 8, 1 / 8, 5 / 8)}
"""Shares of ρ (of μ²) of the steps: most goes to the last one."""


@dataclass(frozen=True, eq=False)
class _Told:
    """Standard deviations, and a ball in their units that holds the mean."""

    scale: Vector
    centre: Vector
    radius: float


class Coinpress(Baseline):
    """Biswas et al. 2020, Algorithms 1 and 2 (d = 1 is the same), told the columns' standard deviations.

    A step knows that the mean is within r of c, in units in which the covariance is at most I. It projects the records
    to the ball of radius R = min(√(r² + 6r + γ²), r + γ) around c, γ² = d + 2√(d ln(1/β)) + 2 ln(1/β) (a Gaussian
    record leaves it with probability β), and releases their mean with Gaussian noise, which is the next c, with
    r′ = γ√(1/n + σ²).

    *Noise.* Replacing a record moves the sum of projections by at most 2R in ℓ2. A release with share s of μ² has
    multiplier 1/(μ√s); ρ-zCDP is μ = √(2ρ). A record that is not finite counts as c.

    Parameters
    ----------
    steps : int
        Number of steps.
    distance : float
        How far the oracle's first ball reaches: radius ÷ √d in standard deviations, around a point that far from the
        sample mean. (The authors' figure: 10, around 0.)
    widen : float
        Factor on γ: with tails heavier than the Gaussian ones that it is meant for, more may be better.
    """

    tasks = ("mean",)
    pure = False
    name = "COINPRESS"
    knows = "standard deviations; a ball around the mean; best steps and tail bound"

    def __init__(self, steps: int = 2, distance: float = 10.0, widen: float = 1.0) -> None:
        self.steps, self.distance, self.widen = steps, distance, widen
        self.variant = f"steps {steps} distance {distance:g} widen {widen:g}"

    def told(self, task: str, data: Drawn) -> _Told:
        scale = data.X.std(axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        offset = self.distance / 2.0
        return _Told(scale, data.X.mean(axis=0) / scale + offset, self.distance * math.sqrt(data.X.shape[1]))

    def answer(self, task: str, data: Drawn, budget: Budget, noise: Noise, told: _Told) -> Fit:
        with np.errstate(over="ignore"):  # such a record counts as the centre
            Z = data.X / told.scale
        return Fit(told.scale * self.mean(Z, told.centre, told.radius, gaussian_budget(budget), noise))

    def mean(self, Z: Vector, centre: Vector, radius: float, mu: float, noise: Noise) -> Vector:
        """Return the private mean of records whose covariance is at most I, from a ball that holds their mean."""
        n, d = Z.shape
        log = math.log(1.0 / FAILURE)
        gamma = self.widen * math.sqrt(d + 2.0 * math.sqrt(d * log) + 2.0 * log)
        for share in SHARES[self.steps]:
            clip = min(math.sqrt(radius**2 + 6.0 * radius + gamma**2), radius + gamma)
            multiplier = 1.0 / (mu * math.sqrt(share))
            total = noise.gaussian("mean", _projected(Z - centre, clip).sum(axis=0), 2.0 * clip, multiplier)
            centre = centre + total / n
            radius = gamma * math.sqrt(1.0 / n + (2.0 * clip * multiplier / n) ** 2)
        return centre


def _projected(moved: Vector, radius: float) -> Vector:
    """Return the records projected to a ball around 0; one that is not finite is 0."""
    valid = np.isfinite(moved).all(axis=1)
    rows = np.where(valid[:, np.newaxis], np.clip(moved, -HUGE, HUGE), 0.0)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows * np.minimum(1.0, radius / np.maximum(lengths, 1e-300))[:, np.newaxis]


def make() -> Sequence[Solver]:
    """Return the variants of the benchmark."""
    return [Coinpress(steps, 10.0, widen) for steps in (2, 3, 4) for widen in (1.0, 2.0, 4.0)]
