"""Synthetic linear regressions with a known answer."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from benchmarks import measures
from benchmarks.datasets.design import Design
from benchmarks.datasets.laws import LAWS
from benchmarks.objective import Dataset, Drawn, Fit, Matrix, Vector

__all__ = ["Linear", "Model"]

TEST = 10_000


@dataclass(frozen=True, eq=False)
class Model:
    """What a seed's records follow: the target is around centre + spread · (⟨u, slopes⟩ + noise), u = x ÷ units."""

    slopes: Vector
    units: Vector
    centre: float = 0.0
    spread: float = 1.0

    def standard(self, fit: Fit) -> tuple[Vector, float]:
        """Return the slopes and the intercept of a fit to u, in units of the spread."""
        with np.errstate(all="ignore"):
            return fit.coefficients * self.units / self.spread, (fit.intercept - self.centre) / self.spread


class Linear(Dataset):
    """Linear regression with signal and noise of variance 1, target around 100, spread 50.

    Parameters
    ----------
    features, noise : str
        Laws; noise "skewed" is lognormal and spreads with the prediction (heteroscedastic).
    n, d : int
        Sizes.
    label : str or None, default=None
        Name; by default that of the features, with the noise where it differs.
    correlation : float, default=0.5
        Of neighbouring columns' normal scores.
    decades : float, default=2.0
        Columns have units from 10^−decades to 10^decades.
    location : float, default=0.0
        Distance of every column from its own place, in its deviations.
    held_out : bool, default=False
        Whether recipes were never tuned on it.
    """

    task = "linear"

    def __init__(
        self,
        features: str,
        n: int,
        d: int,
        noise: str | None = None,
        *,
        label: str | None = None,
        correlation: float = 0.5,
        decades: float = 2.0,
        location: float = 0.0,
        held_out: bool = False,
    ) -> None:
        self.noise = noise or ("t3" if features == "elliptical t3" else features)
        self.n, self.d, self.held_out = n, d, held_out
        self.decades, self.location = decades, location
        self._design = Design(features, d, correlation)
        label = label or (features if noise is None else f"{features} with {noise} noise")
        self.name = f"linear {label} n={n} d={d}"
        self.group = "skewed" if self.noise == "skewed" else "linear"
        noise_tail = "skewed, heteroscedastic, all moments" if self.noise == "skewed" else LAWS[self.noise].tail
        self.tail = f"features {self._design.tail}; noise {noise_tail}"

    def draw(self, seed: int) -> Drawn:
        rng = np.random.default_rng([seed, self.n, self.d])
        slopes = rng.standard_normal(self.d) / self._deviations
        slopes /= np.sqrt(slopes @ self._design.covariance @ slopes)
        model = Model(slopes, 10.0 ** rng.uniform(-self.decades, self.decades, self.d), 100.0, 50.0)
        X, y = self._records(rng, self.n, model)
        return Drawn(X, y, *self._records(rng, TEST, model), truth=model)

    def _records(self, rng: np.random.Generator, n: int, model: Model) -> tuple[Matrix, Vector]:
        rows = self._design.rows(rng, n) + self._shift
        signal = (rows - self.mean) @ model.slopes
        return rows * model.units, model.centre + model.spread * (signal + self._noise(rng, signal))

    def _noise(self, rng: np.random.Generator, signal: Vector) -> Vector:
        if self.noise == "skewed":
            return (0.4 + 1.2 * expit(2.0 * signal)) * LAWS["lognormal1"].noise(rng, len(signal))
        return LAWS[self.noise].noise(rng, len(signal))

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        model: Model = drawn.truth
        slopes, _ = model.standard(fit)
        return {
            "excess": self.excess(drawn, fit),
            "coefficient_error": measures.coefficient_error(slopes, model.slopes, self._deviations),
            **measures.regression(fit.values(drawn.X_test), drawn.y_test, model.centre),
        }

    def excess(self, drawn: Drawn, fit: Fit) -> float:
        """Return the excess risk ÷ the null model's."""
        model: Model = drawn.truth
        slopes, intercept = model.standard(fit)
        with np.errstate(all="ignore"):
            change = slopes - model.slopes
            offset = intercept + slopes @ self.mean
            return float(change @ self._design.covariance @ change + offset**2)

    @property
    def _shift(self) -> Vector:
        return self.location * self._deviations

    @property
    def mean(self) -> Vector:
        """Population mean of x ÷ units."""
        return self._design.mean + self._shift

    @cached_property
    def _deviations(self) -> Vector:
        return np.sqrt(np.diag(self._design.covariance))
