"""Synthetic logistic regressions with a known answer."""

from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from benchmarks import measures
from benchmarks.datasets.design import Design
from benchmarks.datasets.linear import Model
from benchmarks.objective import Dataset, Drawn, Fit, Matrix, Vector

__all__ = ["Logistic"]

TEST = 20_000


class Logistic(Dataset):
    """Logistic regression with log-odds of variance 4 and a given share of positives.

    Parameters
    ----------
    features : str
        Law of the columns.
    n, d : int
        Sizes.
    label : str or None, default=None
        Name; by default that of the features.
    correlation : float, default=0.5
        Of neighbouring columns' normal scores.
    decades : float, default=2.0
        Columns have units from 10^−decades to 10^decades.
    location : float, default=0.0
        Distance of every column from its own place, in its deviations.
    positives : float or None, default=None
        Expected share of ones; None leaves the log-odds around 0.
    held_out : bool, default=False
        Whether recipes were never tuned on it.
    """

    task, group = "logistic", "logistic"

    def __init__(
        self,
        features: str,
        n: int,
        d: int,
        *,
        label: str | None = None,
        correlation: float = 0.5,
        decades: float = 2.0,
        location: float = 0.0,
        positives: float | None = None,
        held_out: bool = False,
    ) -> None:
        self.n, self.d, self.held_out = n, d, held_out
        self.decades, self.location, self.positives = decades, location, positives
        self._design = Design(features, d, correlation)
        self.name = f"logistic {label or features} n={n} d={d}"
        self.tail = f"features {self._design.tail}"

    def draw(self, seed: int) -> Drawn:
        rng = np.random.default_rng([seed, self.n, self.d])
        slopes = rng.standard_normal(self.d) / self._deviations
        slopes *= 2.0 / np.sqrt(slopes @ self._design.covariance @ slopes)
        centre = self._centre((self._population - self._design.mean) @ slopes)
        model = Model(slopes, 10.0 ** rng.uniform(-self.decades, self.decades, self.d), centre)
        X, y = self._records(rng, self._design.rows(rng, self.n), model)
        return Drawn(X, y, *self._records(rng, self._population, model), truth=model)

    def _centre(self, signal: Vector) -> float:
        if self.positives is None:
            return 0.0
        return float(brentq(lambda centre: expit(centre + signal).mean() - self.positives, -50.0, 50.0))

    def _records(self, rng: np.random.Generator, rows: Matrix, model: Model) -> tuple[Matrix, Vector]:
        odds = self._odds(rows, model)
        return (rows + self._shift) * model.units, (rng.random(len(odds)) < expit(odds)).astype(np.float64)

    def _odds(self, rows: Matrix, model: Model) -> Vector:
        return np.asarray(model.centre + (rows - self._design.mean) @ model.slopes)

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        model: Model = drawn.truth
        slopes, _ = model.standard(fit)
        return {
            "excess": self.excess(drawn, fit),
            "coefficient_error": measures.coefficient_error(slopes, model.slopes, self._deviations),
            **measures.classification(fit.values(drawn.X_test), drawn.y_test),
        }

    def excess(self, drawn: Drawn, fit: Fit) -> float:
        """Return the excess risk ÷ the null model's."""
        with np.errstate(all="ignore"):
            odds = drawn.X_test @ fit.coefficients + fit.intercept
        return measures.excess_log_loss(odds, self._odds(self._population, drawn.truth))

    @property
    def mean(self) -> Vector:
        """Population mean of x ÷ units."""
        return self._design.mean + self._shift

    @property
    def _shift(self) -> Vector:
        return self.location * self._deviations

    @cached_property
    def _population(self) -> Matrix:
        """Rows of a seed of their own: expectations over the features are means over them, labels are not drawn."""
        return self._design.rows(np.random.default_rng([77, self.d]), TEST)

    @cached_property
    def _deviations(self) -> Vector:
        return np.sqrt(np.diag(self._design.covariance))
