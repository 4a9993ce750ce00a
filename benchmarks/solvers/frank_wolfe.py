"""Private Frank–Wolfe over an ℓ1 ball, with the exponential mechanism over its vertices (Talwar et al. 2015)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.noise import Noise
from benchmarks.objective import Budget, Drawn, Fit, Solver, Vector
from benchmarks.solvers.baseline import Baseline, Units, is_logistic, oracle_units, prepared_units, slopes_of
from tailguard.privacy import BoundedRange, Gaussian, Privacy, Repeat, Sequential
from tailguard.privacy.calibration import calibrate

__all__ = ["FrankWolfe", "make"]

FIT, PREPARED = 0.85, 0.15
"""Shares of the budget, in zCDP, of the picks and of the private scales."""


class FrankWolfe(Baseline):
    """Talwar et al. 2015, Algorithm 2: w ← (1 − 2/(t + 2))·w + 2/(t + 2)·v, v a vertex ±r·e_j of the ℓ1 ball.

    Entries of scaled rows are cut to ±K, slopes to ±L (±1 for logistic), so that an entry of a record's gradient is at
    most K·L. The intercept, the last entry, is one of the coordinates.

    *Noise.* A score is −⟨v, gradient sum⟩ = ∓r·Σ slope·z_j. Replacing a record moves a score by at most 2rKL. A pick by
    the exponential mechanism with that sensitivity has range η; T picks are calibrated in composition (Dong et al.
    2020: η²/8 of zCDP each), which buys far more than the paper's ε/√(8T ln(1/δ)). At δ = 0: η = ε/T.

    Parameters
    ----------
    radius : float
        r, in units of scaled columns and target.
    steps : int
        T.
    scaled : {"oracle", "private"}
        Exact means and standard deviations, or tailguard's private ones.
    """

    tasks = ("sparse", "sparse-logistic")
    entry, slope = 2.0, 2.0

    def __init__(self, radius: float, steps: int, scaled: str = "oracle") -> None:
        self.radius, self.steps, self.scaled = radius, steps, scaled
        self.name = f"DP Frank-Wolfe, {scaled} scales"
        self.variant = f"radius {radius:g} steps {steps}"
        self.pure = "both" if scaled == "oracle" else False
        self.knows = (
            "means and scales of columns and target; " if scaled == "oracle" else ""
        ) + "best ℓ1 norm and steps"

    def told(self, task: str, data: Drawn) -> Any:
        return oracle_units(task, data) if self.scaled == "oracle" else None

    def answer(self, task: str, data: Drawn, budget: Budget, noise: Noise, told: Units | None) -> Fit:
        privacy = Privacy(budget.epsilon, budget.delta)
        if told is not None:
            eta = 1.0 / calibrate(lambda s: Repeat(BoundedRange(1.0 / s), self.steps), privacy)
            return told.raw(self._pick(task, data, told, eta, noise))
        # One scale s for both: the preparation is Gaussian with multiplier s, a pick costs as much zCDP as it says.
        ratio = math.sqrt(4.0 * FIT / PREPARED / self.steps)
        scale = calibrate(lambda s: Sequential((Gaussian(s), Repeat(BoundedRange(ratio / s), self.steps))), privacy)
        share = 0.12 if is_logistic(task) else 0.15
        units, _ = prepared_units(task, data, 1.0 / (scale * math.sqrt(share)), noise)
        return units.raw(self._pick(task, data, units, ratio / scale, noise))

    def _pick(self, task: str, data: Drawn, units: Units, eta: float, noise: Noise) -> Vector:
        logistic = is_logistic(task)
        rows = units.rows(data.X, data.y, logistic)
        Z, limit = np.clip(rows.Z, -self.entry, self.entry), 1.0 if logistic else self.slope
        k = Z.shape[1]
        w = np.zeros(k)
        for step in range(self.steps):
            slopes = np.clip(slopes_of(Z @ w, rows.t, logistic), -limit, limit)
            gradient = self.radius * (Z.T @ slopes)
            sensitivity = 2.0 * self.radius * self.entry * limit
            pick = noise.choose("vertex", np.concatenate([-gradient, gradient]), sensitivity, eta)
            vertex = np.zeros(k)
            vertex[pick % k] = self.radius if pick < k else -self.radius
            w += 2.0 / (step + 2.0) * (vertex - w)
        return w


def make() -> Sequence[Solver]:
    """Return the variants of the benchmark."""
    return [
        FrankWolfe(radius, steps, scaled)
        for scaled in ("oracle", "private")
        for radius in (1.0, 2.0, 4.0)
        for steps in (10, 40)
    ]
