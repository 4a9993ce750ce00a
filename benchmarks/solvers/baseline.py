"""What the baselines written here share: units, valid records, and noise that is recorded.

A baseline gets what it is told (`told`: exact facts that an oracle gives, or nothing), the records, and a `Noise`.
Nothing else may reach its answer: `benchmarks/calibration.py` replays it on neighbouring data sets.
"""

import math
from abc import abstractmethod
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.noise import Noise
from benchmarks.objective import Budget, Drawn, Fit, Matrix, Refused, Solver, Vector
from tailguard.privacy import Privacy
from tailguard.privacy.calibration import gdp_mu
from tailguard.solvers.base import Query, Released
from tailguard.solvers.preparation import Preparation, prepare_features, prepare_target
from tailguard.solvers.spread import LOW
from tailguard.statistics import View

__all__ = ["Baseline", "Rows", "Units", "gaussian_budget", "is_logistic", "oracle_units", "prepared_units", "slopes_of"]

HUGE = 1e100
"""Entries are clamped here before anything is computed from them, so that no square overflows."""

BITS = 20
"""Counts of the private preparation have so many bits: exact in double precision."""

COARSE, RANK_NOISE = 2**9, 0.12
"""Edges an octave of a private median, and the largest noise of a rank, as a share of n, at which one is sought."""

TARGET, CENTRE, SCALE = 0.015, 0.06, 0.06
"""Shares of μ² of the private preparation, as in tailguard's own recipes: .15 in all, .12 without a target."""


def is_logistic(task: str) -> bool:
    return task.endswith("logistic")


def gaussian_budget(budget: Budget) -> float:
    """Return μ of Gaussian differential privacy: releases with multipliers 1/(μ√share) cost the budget together."""
    return gdp_mu(Privacy(budget.epsilon, budget.delta))


@dataclass(frozen=True, eq=False)
class Units:
    """Centres and scales of columns and target; an infinite scale drops a column."""

    centre: Vector
    scale: Vector
    target_centre: float = 0.0
    target_scale: float = 1.0

    def rows(self, X: Matrix, y: Vector | None, logistic: bool = False) -> "Rows":
        """Return standardised rows with a last entry 1; a record that is not finite, or no class, is a row of zeros."""
        with np.errstate(all="ignore"):
            Z = np.clip((X - self.centre) / self.scale, -HUGE, HUGE)
            t = np.zeros(len(X)) if y is None else np.clip((y - self.target_centre) / self.target_scale, -HUGE, HUGE)
        valid = np.isfinite(X).all(axis=1) & np.isfinite(t)
        if logistic:
            valid &= (t == 0.0) | (t == 1.0)
        Z = np.column_stack([np.where(valid[:, np.newaxis], Z, 0.0), valid.astype(float)])
        return Rows(Z, np.where(valid, t, 0.0), np.sqrt(np.einsum("ij,ij->i", Z, Z)))

    def raw(self, w: Vector) -> Fit:
        """Return coefficients in these units as a fit in raw units."""
        slopes = w[:-1] * self.target_scale / self.scale
        return Fit(slopes, float(self.target_centre + self.target_scale * w[-1] - slopes @ self.centre))


@dataclass(frozen=True, eq=False)
class Rows:
    """Standardised rows, targets, and the rows' lengths."""

    Z: Matrix
    t: Vector
    lengths: Vector

    def factors(self, radius: float) -> Vector:
        """Return what the rows are to be multiplied by to have a length of at most `radius`."""
        return np.minimum(1.0, radius / np.maximum(self.lengths, 1e-300))

    def shortened(self, radius: float) -> "Rows":
        """Return rows of a length of at most `radius`, each target scaled down with its row: no slope changes."""
        factor = self.factors(radius)
        return Rows(self.Z * factor[:, np.newaxis], self.t * factor, self.lengths * factor)


def slopes_of(prediction: Vector, t: Vector, logistic: bool) -> Vector:
    """Return the derivative of the loss by the prediction: p − y, or prediction − y."""
    if logistic:
        with np.errstate(over="ignore"):
            return 1.0 / (1.0 + np.exp(-prediction)) - t
    return prediction - t


def oracle_units(task: str, data: Drawn) -> Units:
    """Return exact means and standard deviations: what an oracle tells."""
    scale = data.X.std(axis=0)
    units = Units(data.X.mean(axis=0), np.where(scale > 0.0, scale, np.inf))
    if data.y is None or is_logistic(task):
        return units
    return replace(units, target_centre=float(data.y.mean()), target_scale=float(data.y.std()) or 1.0)


def prepared_units(task: str, data: Drawn, mu: float, noise: Noise) -> tuple[Units, float]:
    """Return tailguard's private medians and scales, and the share of μ² that is left.

    Its own generator of questions is driven here, one noisy count at a time: "target centre", "target scale", "feature
    centre" and "feature scale" with the shares above, in replace-one sensitivities of its own statistics. Where a
    budget carries no medians of the columns, they are scaled alone.
    """
    n, d = data.X.shape
    target, depth = Preparation(COARSE), Preparation(COARSE).grid.depth
    shares = {"feature centre": CENTRE, "feature scale": SCALE}
    centred = math.sqrt(depth * d) / (mu * math.sqrt(CENTRE)) <= RANK_NOISE * n
    if not centred:
        shares = {"feature scale": CENTRE + SCALE}
        if math.sqrt(2.0 * d) / (mu * math.sqrt(CENTRE + SCALE)) > RANK_NOISE * n:
            raise Refused(f"private scales of {d} columns need more rows")
    if not is_logistic(task):
        shares |= {"target centre": TARGET, "target scale": TARGET}

    def view() -> Generator[Query, Released, View]:
        found = View(d)
        if not is_logistic(task):
            found = yield from prepare_target(found, target, n, BITS)
        return (yield from prepare_features(found, replace(target, centred=centred), n, BITS))

    found = _driven(view(), data, mu, shares, depth, noise)
    units = Units(
        np.asarray(found.centre), np.asarray(found.scale), found.target_centre, max(found.target_scale, 2.0**LOW)
    )
    return units, 1.0 - sum(shares.values())


def _driven(
    questions: Generator[Query, Released, View],
    data: Drawn,
    mu: float,
    shares: dict[str, float],
    depth: int,
    noise: Noise,
) -> View:
    """Answer every question with noisy counts and return what is found."""
    query = next(questions)
    X = np.ascontiguousarray(data.X, dtype=np.float64)
    y = None if data.y is None else np.ascontiguousarray(data.y, dtype=np.float64)
    while True:
        statistic = query.statistic
        assert statistic is not None
        exact = statistic.kernel()(X, y).astype(float)
        sensitivity = statistic.sensitivity("l2")
        times = depth if query.step.endswith("centre") else 1
        multiplier = math.sqrt(times / shares[query.step]) / mu
        value = noise.gaussian(query.step, exact, sensitivity, multiplier)
        unit = statistic.unit
        try:
            query = questions.send(Released(query.step, value * unit, multiplier * sensitivity * unit))
        except StopIteration as stop:
            return stop.value


class Baseline(Solver):
    """A private method written here, whose noise is recorded and replayed."""

    def fit(self, task: str, data: Drawn, budget: Budget, seed: int) -> Fit:
        noise = Noise(seed)
        fit = self.answer(task, data, budget, noise, self.told(task, data))
        return replace(fit, spent=noise.spent(budget.delta))

    def told(self, task: str, data: Drawn) -> Any:
        """Return the exact facts that an oracle gives; `knows` says so in words."""
        return None

    @abstractmethod
    def answer(self, task: str, data: Drawn, budget: Budget, noise: Noise, told: Any) -> Fit:
        """Return the fit from what is told and what `noise` releases; nothing else of the records may reach it."""
