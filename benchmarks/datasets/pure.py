"""Tasks of pure privacy: squared, logistic, absolute and hinge losses, each judged by its own excess risk."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from benchmarks.datasets.laws import LAWS
from benchmarks.datasets.linear import Linear, Model
from benchmarks.datasets.logistic import Logistic
from benchmarks.objective import Dataset, Drawn, Fit, Matrix, Vector
from tailguard.losses import Hinge, Loss

__all__ = ["SMOOTHING", "Deviations", "Margin", "held_out", "least", "tasks"]

SMOOTHING = 0.1
"""Of the hinge loss; what is judged too."""

CHANGES = np.sinh(np.linspace(-12.0, 12.0, 2001))
SCORES = np.linspace(-8.0, 8.0, 20_001)
OFFSETS = np.linspace(-2.0, 2.0, 81)


class Deviations(Linear):
    """Least absolute deviations: the excess of the mean absolute error ÷ that of the best constant."""

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        model: Model = drawn.truth
        assert drawn.X_test is not None
        rows = drawn.X_test / model.units
        slopes, intercept = model.standard(fit)
        truth = (rows - self.mean) @ model.slopes
        with np.errstate(all="ignore"):
            excess = self._excess(rows @ slopes + intercept - truth)
        return {"excess": excess / min(self._excess(offset - truth) for offset in OFFSETS)}

    def _excess(self, change: Vector) -> float:
        return float(np.mean(np.interp(change, CHANGES, self._curve)))

    @cached_property
    def _curve(self) -> Vector:
        """E|e − δ| at each δ, less its least value, by quadrature over normal scores of the noise."""
        law, weights = LAWS[self.noise], np.exp(-0.5 * SCORES**2)
        noise = (law.map(SCORES) - law.mean) / (law.deviation if law.finite else 1.0)
        # |e − δ| − |e| is at most |δ|, so that no moment of the noise is needed.
        curve = [np.average(np.abs(noise - change) - np.abs(noise), weights=weights) for change in CHANGES]
        return np.array(curve) - min(curve)


@dataclass(frozen=True, eq=False)
class Separator(Model):
    """A model of classes, and the risks of the best linear separator and of the best constant."""

    best: float = 0.0
    null: float = 1.0


class Margin(Logistic):
    """Support vector machines: the excess of the smoothed hinge loss over the best separator's ÷ the best constant's.

    Labels follow log-odds as for `Logistic`, and are integrated out.
    """

    _loss = Hinge(SMOOTHING)

    def draw(self, seed: int) -> Drawn:
        drawn = super().draw(seed)
        model: Model = drawn.truth
        odds = self._odds(self._population, model)
        rows = (self._population - self._design.mean) / self._deviations
        labels, weights = np.repeat([1.0, 0.0], len(rows)), np.concatenate([expit(odds), expit(-odds)])
        best = least(self._loss, np.vstack([rows, rows]), labels, weights)
        null = min(self._risk(np.full(len(odds), offset), odds) for offset in OFFSETS)
        truth = Separator(
            model.slopes, model.units, model.centre, model.spread, self._risk(rows @ best[:-1] + best[-1], odds), null
        )
        return Drawn(drawn.X, drawn.y, drawn.X_test, drawn.y_test, truth=truth)

    def _risk(self, scores: Vector, odds: Vector) -> float:
        positive = expit(odds)
        values = positive * self._loss.value(scores, np.ones(len(odds)))
        return float(np.mean(values + (1.0 - positive) * self._loss.value(scores, np.zeros(len(odds)))))

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        truth: Separator = drawn.truth
        assert drawn.X_test is not None
        with np.errstate(all="ignore"):
            scores = drawn.X_test @ fit.coefficients + fit.intercept
        return {
            "excess": (self._risk(scores, self._odds(self._population, truth)) - truth.best) / (truth.null - truth.best)
        }


def least(loss: Loss, rows: Matrix, targets: Vector, weights: Vector | None = None) -> Vector:
    """Return the minimiser of a weighted mean loss, the intercept last, without a penalty or privacy."""
    weights = np.ones(len(targets)) if weights is None else weights
    weights = weights / weights.sum()

    def risk(point: Vector) -> tuple[float, Vector]:
        scores = rows @ point[:-1] + point[-1]
        slopes = weights * loss.derivative(scores, targets)
        return float(weights @ loss.value(scores, targets)), np.append(slopes @ rows, slopes.sum())

    start = np.zeros(rows.shape[1] + 1)
    found = minimize(risk, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-13, "gtol": 1e-9})
    return np.asarray(found.x)


def tasks(n: int, d: int) -> list[Dataset]:
    """Return the tasks on which constants were chosen, with other seeds."""
    return [
        Linear("t3", n, d, label="squared t3"),
        Linear("lognormal1", n, d, label="squared lognormal"),
        Logistic("t3", n, d, label="logistic t3"),
        Deviations("t3", n, d, "t1.5", label="absolute t3, noise t1.5"),
        Margin("lognormal1", n, d, label="hinge lognormal"),
    ]


def held_out(n: int, d: int) -> list[Dataset]:
    """Return tasks of families on which nothing was ever chosen."""
    return [
        Linear("weibull0.6", n, d, "pareto2.5", label="squared Weibull, noise Pareto", held_out=True),
        Logistic("pareto2.5", n, d, label="logistic Pareto", held_out=True),
        Deviations("weibull0.6", n, d, "pareto2.5", label="absolute Weibull, noise Pareto", held_out=True),
        Margin("weibull0.6", n, d, label="hinge Weibull", held_out=True),
    ]
