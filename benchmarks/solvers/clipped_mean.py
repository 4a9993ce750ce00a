"""The clipped mean with an oracle's centre, scales and radius: what one would do who knew the data."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.noise import Noise
from benchmarks.objective import Budget, Drawn, Fit, Solver
from benchmarks.solvers.baseline import Baseline, Units, gaussian_budget, oracle_units

__all__ = ["ClippedMean", "make"]


class ClippedMean(Baseline):
    """Records in units of their standard deviations, moved by a rough centre, shortened to length C, averaged.

    The oracle's centre is half a standard deviation from the mean in every column: an exact one would be the answer.

    *Noise.* Replacing a record moves the sum of vectors of length ≤ C by at most 2C in ℓ2: one Gaussian release, or, at
    δ = 0, one of density ∝ exp(−ε‖b‖/2C), as sums on neighbouring data are at most 2C apart.

    Parameters
    ----------
    clip : float
        C ÷ √d.
    """

    name = "clipped mean, oracle scales"
    tasks = ("mean",)
    knows = "standard deviations; a point near the mean; best clip norm"

    def __init__(self, clip: float) -> None:
        self.clip = clip
        self.variant = f"clip {clip:g}"

    def told(self, task: str, data: Drawn) -> Any:
        units = oracle_units(task, data)
        return Units(units.centre + 0.5 * np.where(np.isfinite(units.scale), units.scale, 0.0), units.scale)

    def answer(self, task: str, data: Drawn, budget: Budget, noise: Noise, told: Units) -> Fit:
        rows = told.rows(data.X, None)
        n, d = data.X.shape
        clip = self.clip * math.sqrt(d)
        moved = rows.Z[:, :-1]
        lengths = np.sqrt(np.einsum("ij,ij->i", moved, moved))
        total = (moved * np.minimum(1.0, clip / np.maximum(lengths, 1e-300))[:, np.newaxis]).sum(axis=0)
        if budget.pure:
            mean = noise.l2_laplace("mean", total, 2.0 * clip, 1.0 / budget.epsilon) / n
        else:
            mean = noise.gaussian("mean", total, 2.0 * clip, 1.0 / gaussian_budget(budget)) / n
        return Fit(told.centre + np.where(np.isfinite(told.scale), told.scale, 0.0) * mean)


def make() -> Sequence[Solver]:
    """Return the variants of the benchmark."""
    return [ClippedMean(clip) for clip in (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)]
