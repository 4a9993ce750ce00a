import numpy as np

from benchmarks.datasets.features import draw_features, draw_noise, population
from benchmarks.objective import Dataset, Drawn, Fit


class Linear(Dataset):
    """Linear regression with R² = 1/2, columns in units from 10^-2 to 10^2, target around 100."""

    task = "linear"

    def __init__(self, family: str, n: int, d: int) -> None:
        self.family, self.n, self.d = family, n, d
        self.name, self.tail = f"linear {family}", family
        self._mean, self._cov, _ = population(family, d)

    def draw(self, seed: int) -> Drawn:
        rng = np.random.default_rng([seed, self.n, self.d])
        self._slopes, self._units = self._model(rng)
        X = draw_features(self.family, self.n, self.d, rng)
        y = 100.0 + 50.0 * (X @ self._slopes + draw_noise(self.family, self.n, rng))
        return Drawn(X * self._units, y)

    def _model(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        slopes = rng.standard_normal(self.d) / np.sqrt(np.diag(self._cov))
        return slopes / np.sqrt(slopes @ self._cov @ slopes), 10.0 ** rng.uniform(-2, 2, self.d)

    def error(self, fit: Fit) -> float:
        change = fit.coefficients * self._units / 50.0 - self._slopes
        offset = (fit.intercept - 100.0) / 50.0 + change @ self._mean
        return float(change @ self._cov @ change + offset**2)
