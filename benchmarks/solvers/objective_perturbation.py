"""Objective perturbation with an oracle's norm bound (Chaudhuri et al. 2011, Kifer et al. 2012)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from benchmarks.noise import Noise
from benchmarks.objective import Budget, Dataset, Drawn, Fit, Solver, Vector
from benchmarks.solvers.baseline import Baseline, Rows, Units, is_logistic, oracle_units

__all__ = ["ObjectivePerturbation", "make"]

STEPS = 60
"""Newton steps; the gradient of a strongly convex objective is then down at rounding."""


class ObjectivePerturbation(Baseline):
    """argmin Σ ωφ(⟨z, w⟩, t) + Λ/2·‖w‖² + ⟨b, w⟩ in an oracle's scales; logistic or Huber loss.

    Weights ω = min(1, R/‖z‖)² enforce the norm bound R: ω‖z‖ ≤ R and ω‖z‖² ≤ R². They depend on rows alone and leave a
    model that is right as it is; shortening the rows would bias it. Below, φ is the weighted loss.

    *Noise.* w is the minimiser for exactly one b, b(w) = −Σ φ′z − Λw. Replacing a record by any other changes b(w), at
    every w, by φ′z − φ′₂z₂, of length at most S = 2RK with K ≥ |φ′| (1 for logistic, the cut for Huber). The density of
    w is that of b(w) times det(Σ φ″zzᵀ + ΛI). Between neighbours the determinants differ by one summand each, so their
    ratio is at most det(M + hzzᵀ) ÷ det(M) ≤ 1 + H/Λ with H = R²·sup φ″ and M ≥ ΛI.

    - *Pure*: b of density ∝ exp(−ε₁‖b‖/S). Total ε₁ + ln(1 + H/Λ).
    - *Approximate*: b ~ N(0, σ²I). The log ratio of densities of b is (2⟨b, v⟩ + ‖v‖²)/2σ², where v, the change, lies
      in the plane of z and z₂, fixed before b is drawn. There ‖b‖ > σ√(2 ln(1/δ)) has probability δ exactly; else the
      ratio is at most ε₁ = (2S·σ√(2 ln(1/δ)) + S²)/2σ². A set of probability ≤ δ aside, densities differ by e^ε with
      ε = ε₁ + ln(1 + H/Λ): (ε, δ)-DP. (Kifer et al. 2012, Theorem 2, for one summand, with other constants.)

    The minimiser is taken as exact: Newton's method ends at rounding, for which a real implementation would
    have to pay.

    Parameters
    ----------
    radius : float
        R ÷ √(d + 1).
    cut : float
        Where the slope of the loss of a residual is cut (Huber), in standard deviations of the target. Classes have
        slopes of at most 1: every cut is 1.
    part : float
        Share of ε that pays for the determinant; it sets Λ.
    """

    name = "objective perturbation, oracle scales"
    tasks = ("linear", "logistic")
    knows = "means and scales of columns and target; best norm bound and ridge"

    def __init__(self, radius: float, cut: float = 1.0, part: float = 0.1) -> None:
        self.radius, self.cut, self.part = radius, cut, part
        self.variant = f"radius {radius:g} cut {cut:g} part {part:g}"

    def supports(self, dataset: Dataset, budget: Budget) -> str | None:
        if is_logistic(dataset.task) and self.cut != 1.0:
            return "classes have slopes of at most 1"
        return super().supports(dataset, budget)

    def told(self, task: str, data: Drawn) -> Any:
        return oracle_units(task, data)

    def answer(self, task: str, data: Drawn, budget: Budget, noise: Noise, told: Units) -> Fit:
        logistic = is_logistic(task)
        rows = told.rows(data.X, data.y, logistic)
        k = rows.Z.shape[1]
        radius = self.radius * math.sqrt(k)
        losses = _Weighted(rows, rows.factors(radius) ** 2, None if logistic else self.cut)
        sensitivity = 2.0 * radius * (1.0 if logistic else self.cut)
        ridge = radius**2 * (0.25 if logistic else 1.0) / math.expm1(self.part * budget.epsilon)
        first = (1.0 - self.part) * budget.epsilon

        def draw(rng: np.random.Generator) -> Vector:
            if budget.pure:
                return _minimise(losses, ridge, sensitivity / first * noise.isotropic(k))
            return _minimise(losses, ridge, _deviation(sensitivity, first, budget.delta) * rng.standard_normal(k))

        def probes(rng: np.random.Generator, w: Vector) -> Vector:
            return np.concatenate([w[np.newaxis], rng.standard_normal((8, k)), 1e3 * rng.standard_normal((8, k))])

        noise.slack = budget.delta
        total = first + math.log1p(radius**2 * (0.25 if logistic else 1.0) / ridge)
        w = noise.solve("tilt", losses.gradient, sensitivity, "l2", total, draw, probes)
        return told.raw(w)


def _deviation(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the smallest σ with (2S·σ·t + S²)/2σ² ≤ ε, t = √(2 ln(1/δ)): a quadratic in 1/σ."""
    t = math.sqrt(2.0 * math.log(1.0 / delta))
    return sensitivity * (t + math.sqrt(t * t + 2.0 * epsilon)) / (2.0 * epsilon)


@dataclass(frozen=True, eq=False)
class _Weighted:
    """The weighted sum of the losses; without a cut, of logistic ones."""

    rows: Rows
    weights: Vector
    cut: float | None

    def slopes(self, w: Vector) -> tuple[Vector, Vector]:
        """Return first and second derivatives by the prediction."""
        prediction = self.rows.Z @ w
        if self.cut is None:
            with np.errstate(over="ignore"):
                share = 1.0 / (1.0 + np.exp(-prediction))
            return self.weights * (share - self.rows.t), self.weights * share * (1.0 - share)
        residual = prediction - self.rows.t
        inside = np.abs(residual) < self.cut
        return self.weights * np.clip(residual, -self.cut, self.cut), self.weights * inside

    def gradient(self, w: Vector) -> Vector:
        """Return the gradient, without ridge and noise."""
        return self.rows.Z.T @ self.slopes(w)[0]


def _minimise(losses: _Weighted, ridge: float, tilt: Vector) -> Vector:
    """Return the minimiser by damped Newton steps: along a step the slope of the objective changes sign once."""
    Z = losses.rows.Z
    w = np.zeros(Z.shape[1])
    for _ in range(STEPS):
        first, second = losses.slopes(w)
        gradient = Z.T @ first + ridge * w + tilt
        hessian = (Z * second[:, np.newaxis]).T @ Z + ridge * np.eye(len(w))
        step = -np.linalg.solve(hessian, gradient)
        if np.linalg.norm(step) <= 1e-13 * (1.0 + np.linalg.norm(w)):
            break

        def along(length: float, w: Vector = w, step: Vector = step) -> float:
            at = w + length * step
            return float(step @ (losses.gradient(at) + ridge * at + tilt))

        w = w + (1.0 if along(1.0) <= 0.0 else brentq(along, 0.0, 1.0, xtol=1e-6)) * step
    return w


def make() -> Sequence[Solver]:
    """Return the variants of the benchmark."""
    radii, cuts = (0.5, 0.7, 1.0, 2.0), (0.5, 1.0, 2.0)
    return [ObjectivePerturbation(radius, cut) for radius in radii for cut in cuts]
