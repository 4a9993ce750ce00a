"""TukeyEM: the exponential mechanism over the Tukey depth of many small least-squares fits (Amin et al. 2022)."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.noise import Noise
from benchmarks.objective import Budget, Drawn, Fit, Matrix, Refused, Solver, Vector
from benchmarks.solvers.baseline import Baseline

__all__ = ["TukeyEM", "make"]


class TukeyEM(Baseline):
    """Amin et al. 2022, Algorithm 4: models on m disjoint parts, propose-test-release, then a deep point of the models.

    It asks for no bound. Depth is the approximate one: u(w) is the least, over the coordinates, of #models ≤ w_j and
    #models ≥ w_j. {u ≥ i} is the box between the i-th smallest and the i-th largest models, of volume V_i.

    *Noise.* Replacing a record changes one model, so u moves by at most 1 at every w.

    - *Draw* (ε₂): density ∝ exp(ε₂u/2) on {u ≥ t}, t = m/4. Against a neighbour, ratios are at most e^ε₂ on what both
      boxes share; what they do not share has u = t in one of them and lies in {u ≥ t − 1} of both. With
      r = V_{t−1} ÷ V_{t+g+1}·exp(−ε₂g/2) for any g ≥ 0, normalisers and the rest together cost
      δ₂ ≤ (1 + e^{ε₂/2})·r, in both directions. The data are *safe* if that is at most δ.
    - *Test* (ε₁): K is the largest k ≥ 0 with V_{t−k−1} ÷ V_{t+k+g+1}·exp(−ε₂g/2) ≤ δ/(1 + e^{ε₂/2}) for some g, and −1
      without one. A neighbour's boxes are nested in ours one level off, so K moves by at most 1, and K = −1 where the
      data are unsafe. K + Laplace(1/ε₁) must reach ln(1/2δ)/ε₁ − 1, which unsafe data do with probability at most δ.

    Safe data: (ε₁ + ε₂, δ); unsafe data: (ε₁, δ). Total (ε₁ + ε₂, δ), ε₁ = ε₂ = ε/2. The noise of the test grows with
    1/ε: its scale is 1/ε₁, not ε₁. A test that fails answers with the null model.

    Parameters
    ----------
    size : float
        Records of a model ÷ (d + 1).
    """

    name = "TukeyEM"
    tasks = ("linear",)
    pure = False
    knows = "best number of models"

    def __init__(self, size: float) -> None:
        self.size = size
        self.variant = f"{size:g} (d + 1) records a model"

    def answer(self, task: str, data: Drawn, budget: Budget, noise: Noise, told: Any) -> Fit:
        n, d = data.X.shape
        count = int(n / (self.size * (d + 1)))
        level, half = count // 4, 0.5 * budget.epsilon
        if level < 2:
            raise Refused(f"{n} records make {count} models")
        models = _models(data, count)
        ordered = np.sort(models, axis=0)
        volumes = _log_volumes(ordered)
        margin = noise.laplace("test", np.array([float(_margin(volumes, level, half, budget.delta))]), 1.0, 1.0 / half)
        noise.slack = budget.delta
        if margin[0] < math.log(0.5 / budget.delta) / half - 1.0:
            raise Refused("the test of Tukey depths failed")

        def depth(w: Vector) -> Vector:
            below, above = (models <= w).sum(axis=0), (models >= w).sum(axis=0)
            return np.array([float(max(min(below.min(), above.min()), level))])

        def probes(rng: np.random.Generator, w: Vector) -> Vector:
            picks = ordered[rng.integers(0, count, 64)[:, np.newaxis], np.arange(d + 1)]
            return np.concatenate([w[np.newaxis], picks, 0.5 * (picks[1:] + picks[:-1])])

        w = noise.solve(
            "depth", depth, 1.0, "linf", half, lambda rng: _deep(ordered, volumes, level, half, rng), probes
        )
        return Fit(w[:-1], float(w[-1]))


def _models(data: Drawn, count: int) -> Matrix:
    """Return least squares on `count` parts of consecutive records; a fit that is not finite is 0."""
    n, d = data.X.shape
    rows = np.column_stack([data.X, np.ones(n)])
    edges = np.arange(count + 1) * n // count
    models = np.zeros((count, d + 1))
    with np.errstate(all="ignore"):
        for i, (start, stop) in enumerate(pairwise(edges)):
            models[i] = _least_squares(rows[start:stop], data.y[start:stop])
    return np.where(np.isfinite(models), models, 0.0)


def _least_squares(rows: Matrix, y: Vector) -> Vector:
    size = np.abs(rows).max(axis=0)
    scale = np.where(size > 0.0, size, 1.0)
    if not (np.isfinite(rows).all() and np.isfinite(y).all()):
        return np.zeros(rows.shape[1])
    try:
        return np.linalg.lstsq(rows / scale, y, rcond=None)[0] / scale
    except np.linalg.LinAlgError:
        return np.zeros(rows.shape[1])


def _log_volumes(ordered: Matrix) -> Vector:
    """Return ln V_i for i = 0, 1, …: all of space first, −∞ beyond the deepest box."""
    deepest = len(ordered) // 2
    with np.errstate(all="ignore"):
        widths = ordered[::-1][:deepest] - ordered[:deepest]
        return np.concatenate([[np.inf], np.log(np.maximum(widths, 0.0)).sum(axis=1), np.full(len(ordered), -np.inf)])


def _margin(volumes: Vector, level: int, epsilon: float, delta: float) -> int:
    """Return K, by bisection: if k does, so does k − 1."""
    target = math.log(delta) - np.logaddexp(0.0, 0.5 * epsilon)
    deepest = int(np.isfinite(volumes[1:]).sum())

    def holds(k: int) -> bool:
        g = np.arange(max(deepest - level - k, 1))
        inner = volumes[level + k + 1 + g]
        good = np.isfinite(inner)
        outer = volumes[level - k - 1]
        return bool(np.isfinite(outer) and np.any(outer - inner[good] - 0.5 * epsilon * g[good] <= target))

    low, high = -1, level - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _deep(ordered: Matrix, volumes: Vector, level: int, epsilon: float, rng: np.random.Generator) -> Vector:
    """Return a draw of density ∝ exp(ε·u/2) on {u ≥ t}: a mixture of uniform draws from nested boxes.

    exp(ε·u/2) is exp(ε·t/2) on the outermost box, plus exp(ε·i/2) − exp(ε·(i − 1)/2) on each box i > t.
    """
    levels = np.arange(level, len(ordered) // 2 + 1)
    logs = volumes[levels] + 0.5 * epsilon * (levels - level)
    logs[1:] += math.log(-math.expm1(-0.5 * epsilon))
    box = levels[int(np.argmax(logs + rng.gumbel(size=len(logs))))]
    low, high = ordered[box - 1], ordered[-box]
    return low + rng.random(len(low)) * (high - low)


def make() -> Sequence[Solver]:
    """Return the variants of the benchmark."""
    return [TukeyEM(size) for size in (1.5, 2.5, 5.0, 20.0)]
