"""Full-batch gradient descent with clipped gradients and Gaussian noise, the clip norm and steps tuned by an oracle."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.noise import Noise
from benchmarks.objective import Budget, Drawn, Fit, Relation, Solver, Vector
from benchmarks.solvers.baseline import (
    Baseline,
    Units,
    gaussian_budget,
    is_logistic,
    oracle_units,
    prepared_units,
    slopes_of,
)

__all__ = ["DPGD", "make"]

ORACLE = [(clip, *schedule) for clip in (0.1, 0.4, 0.8, 1.6) for schedule in ((10, 0.4), (30, 0.4), (100, 0.2))]
PRIVATE = [(clip, *schedule) for clip in (0.1, 0.4, 0.8, 1.6, 3.2) for schedule in ((30, 0.2), (30, 0.4), (100, 0.2))]
"""Clip norms, steps and rates that were best on some task at ε = .1 … 2, development seeds. Private scales are smaller
than standard deviations, so that clip norms in their units are larger."""

UNTUNED = (1.6, 30, 0.4)
"""Best geometric mean of the private variants over seven tasks at ε = .5, 1 and 2, development seeds."""


class DPGD(Baseline):
    """DP-GD (Song et al. 2013, Abadi et al. 2016, without sampling): T steps w ← w − η·g̃, the last half averaged.

    *Noise.* A step releases Σᵢ gᵢ·min(1, C/‖gᵢ‖). Replacing a record changes one summand, from a vector of length ≤ C
    to another: ℓ2 sensitivity 2C (C for adding or removing one, where a summand comes or goes). T Gaussian releases of
    multiplier √T/μ are μ-GDP together, and μ is the largest that (ε, δ) carries. Sampling records would amplify under
    adding or removing a record; full batches need no amplification and give the least noise for a given accuracy.

    On sparse tasks the largest `sparsity` coefficients of the last average, in units of the columns, are kept: what a
    user would do today; it is post-processing.

    Parameters
    ----------
    clip : float
        C ÷ √(d + 1), in units of scaled columns and target.
    steps : int
        T.
    rate : float
        η·C ÷ √(d + 1): a small C needs long steps.
    scaled : {"oracle", "private"}
        Exact means and standard deviations of columns and target, or tailguard's private ones (.15 of μ², .12 for
        classes).
    relation : {"replace-one", "add-or-remove-one"}
        Neighbours.
    tuned : bool
        Whether an oracle chooses among variants; if not, these numbers are used everywhere.
    """

    tasks = ("linear", "logistic", "sparse", "sparse-logistic")
    pure = False

    def __init__(
        self,
        clip: float,
        steps: int,
        rate: float,
        scaled: str = "oracle",
        relation: Relation = "replace-one",
        tuned: bool = True,
    ) -> None:
        self.clip, self.steps, self.rate, self.scaled, self.relation = clip, steps, rate, scaled, relation
        self.name = f"DP-GD, {scaled} scales{'' if tuned else ', untuned'}"
        self.variant = f"clip {clip:g} steps {steps} rate {rate:g}"
        if relation == "add-or-remove-one":
            self.name += " (add-remove)"
        scales = ["means and scales of columns and target"] if scaled == "oracle" else []
        self.knows = "; ".join([*scales, *(["best clip norm and steps"] if tuned else [])]) or "nothing"

    def told(self, task: str, data: Drawn) -> Any:
        return oracle_units(task, data) if self.scaled == "oracle" else None

    def answer(self, task: str, data: Drawn, budget: Budget, noise: Noise, told: Units | None) -> Fit:
        mu = gaussian_budget(budget)
        units, left = (told, 1.0) if told is not None else prepared_units(task, data, mu, noise)
        w = self._descend(task, data, units, math.sqrt(self.steps / left) / mu, noise)
        if task.startswith("sparse") and data.sparsity:
            w[np.argsort(np.abs(w[:-1]))[: -data.sparsity]] = 0.0
        return units.raw(w)

    def _descend(self, task: str, data: Drawn, units: Units, multiplier: float, noise: Noise) -> Vector:
        logistic = is_logistic(task)
        rows = units.rows(data.X, data.y, logistic)
        n, k = rows.Z.shape
        clip = self.clip * math.sqrt(k)
        sensitivity = clip if self.relation == "add-or-remove-one" else 2.0 * clip
        # The logistic loss has at most a quarter of the curvature.
        rate = self.rate / self.clip * (4.0 if logistic else 1.0)
        w, total = np.zeros(k), np.zeros(k)
        for step in range(self.steps):
            slopes = slopes_of(rows.Z @ w, rows.t, logistic)
            lengths = np.abs(slopes) * rows.lengths
            weights = slopes * np.minimum(1.0, clip / np.maximum(lengths, 1e-300))
            gradient = noise.gaussian("gradient", rows.Z.T @ weights, sensitivity, multiplier) / n
            w = w - rate * gradient
            if step >= self.steps // 2:
                total += w
        return total / (self.steps - self.steps // 2)


def make() -> Sequence[Solver]:
    """Return the variants of the benchmark: oracle scales in both relations, private scales, and no tuning at all."""
    few = [variant for variant in ORACLE if variant[0] != 0.4 and variant[1] != 10]
    return [
        *(DPGD(*variant, "oracle") for variant in ORACLE),
        *(DPGD(*variant, "private") for variant in PRIVATE),
        DPGD(*UNTUNED, "private", tuned=False),
        *(DPGD(*variant, "oracle", "add-or-remove-one") for variant in few),
    ]
