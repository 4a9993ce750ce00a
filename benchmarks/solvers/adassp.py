"""AdaSSP: sufficient statistics with noise, and a ridge that adapts to the smallest eigenvalue (Wang 2018)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.noise import Noise
from benchmarks.objective import Budget, Drawn, Fit, Matrix, Solver, Vector
from benchmarks.solvers.baseline import Baseline, Rows, Units, gaussian_budget, oracle_units, prepared_units

__all__ = ["AdaSSP", "make"]

FAILURE = 0.05
"""ϱ of the paper: probability that the ridge is too small."""


class AdaSSP(Baseline):
    """Wang 2018, Algorithm 2, with bounds that clip: rows to length B, then targets to ±Y, in scaled units.

    A row that is too long is scaled down together with its target, which leaves slopes as they are; clipping the row
    alone would bias them.

    *Noise*, for replacing (x, y) by (x′, y′), both within the bounds, each release with a third of μ²:

    - λ_min(XᵀX): by Weyl, taking xxᵀ away lowers it by at most ‖x‖² and adding x′x′ᵀ raises it by at most ‖x′‖², so it
      moves by at most B²;
    - XᵀX: ‖xxᵀ − x′x′ᵀ‖_F² = ‖x‖⁴ + ‖x′‖⁴ − 2⟨x, x′⟩² ≤ 2B⁴, so √2·B² for the upper triangle with off-diagonal entries
      times √2, whose Euclidean length is the Frobenius norm;
    - Xᵀy: ‖xy − x′y′‖ ≤ 2BY.

    (The paper, for adding or removing a record, has B², B² and BY.) The noise matrix has standard deviation σ on the
    diagonal and σ/√2 beside it. Ridge: max(0, s − λ̃_min), s its spectral size: "paper" σ√(k ln(2k²/ϱ)), a union bound;
    "sharp" √2·σ·√k, where its largest eigenvalue is for large k.

    Parameters
    ----------
    bound : float
        B ÷ √(d + 1) (the constant 1 is the last entry of a row), and Y = 3 × that: three standard deviations of a
        target for rows of usual length.
    ridge : {"paper", "sharp"}
        See above.
    scaled : {"oracle", "private"}
        Exact means and standard deviations, or tailguard's private ones (.15 of μ²): then no bound is asked for.
    """

    tasks = ("linear", "sparse")
    pure = False

    def __init__(self, bound: float, ridge: str = "sharp", scaled: str = "oracle") -> None:
        self.bound, self.ridge, self.scaled = bound, ridge, scaled
        self.name = f"AdaSSP, {scaled} scales"
        self.variant = f"bound {bound:g} ridge {ridge}"
        self.knows = ("means and scales of columns and target; " if scaled == "oracle" else "") + "best bounds"

    def told(self, task: str, data: Drawn) -> Any:
        return oracle_units(task, data) if self.scaled == "oracle" else None

    def answer(self, task: str, data: Drawn, budget: Budget, noise: Noise, told: Units | None) -> Fit:
        mu = gaussian_budget(budget)
        units, left = (told, 1.0) if told is not None else prepared_units(task, data, mu, noise)
        k = len(units.centre) + 1
        radius, limit = self.bound * math.sqrt(k), 3.0 * self.bound
        rows = units.rows(data.X, data.y).shortened(radius)
        rows = Rows(rows.Z, np.clip(rows.t, -limit, limit), rows.lengths)
        return units.raw(self._solve(rows, radius, limit, math.sqrt(3.0 / left) / mu, noise))

    def _solve(self, rows: Rows, radius: float, limit: float, multiplier: float, noise: Noise) -> Vector:
        gram = rows.Z.T @ rows.Z
        k = len(gram)
        smallest = noise.gaussian("eigenvalue", np.linalg.eigvalsh(gram)[:1], radius**2, multiplier)
        noisy = _unpacked(noise.gaussian("Gram", _packed(gram), math.sqrt(2.0) * radius**2, multiplier), k)
        moment = noise.gaussian("moment", rows.Z.T @ rows.t, 2.0 * radius * limit, multiplier)
        deviation = multiplier * math.sqrt(2.0) * radius**2
        size = math.sqrt(2.0 * k) if self.ridge == "sharp" else math.sqrt(k * math.log(2.0 * k**2 / FAILURE))
        ridge = max(0.0, deviation * size - max(float(smallest[0]), 0.0))
        return np.linalg.lstsq(noisy + ridge * np.eye(k), moment, rcond=1e-12)[0]


def _packed(gram: Matrix) -> Vector:
    """Return the upper triangle, entries beside the diagonal times √2: the Euclidean length is the Frobenius norm."""
    rows, columns = np.triu_indices(len(gram))
    return gram[rows, columns] * np.where(rows == columns, 1.0, math.sqrt(2.0))


def _unpacked(vector: Vector, k: int) -> Matrix:
    rows, columns = np.triu_indices(k)
    out = np.zeros((k, k))
    out[rows, columns] = vector / np.where(rows == columns, 1.0, math.sqrt(2.0))
    return np.triu(out) + np.triu(out, 1).T


def make() -> Sequence[Solver]:
    """Return the variants of the benchmark."""
    bounds, ridges = (0.35, 0.7, 1.0, 2.0), ("paper", "sharp")
    return [AdaSSP(bound, ridge, scaled) for scaled in ("oracle", "private") for bound in bounds for ridge in ridges]
