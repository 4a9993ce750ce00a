import numpy as np
from scipy.special import expit, xlogy

from benchmarks.datasets.features import draw_features, population
from benchmarks.objective import Dataset, Drawn, Fit


class LogisticTask(Dataset):
    """Logistic regression with log-odds of variance 4 around 0, columns in units from 10^-2 to 10^2."""

    task = "logistic"

    def __init__(self, family: str, n: int, d: int) -> None:
        self.family, self.n, self.d = family, n, d
        self.name, self.tail = f"logistic {family}", family
        self._mean, self._cov, self._test = population(family, d)

    def draw(self, seed: int) -> Drawn:
        rng = np.random.default_rng([seed, self.n, self.d])
        slopes = rng.standard_normal(self.d) / np.sqrt(np.diag(self._cov))
        self._slopes = 2.0 * slopes / np.sqrt(slopes @ self._cov @ slopes)
        self._units = 10.0 ** rng.uniform(-2, 2, self.d)
        X = draw_features(self.family, self.n, self.d, rng)
        labels = rng.random(self.n) < expit((X - self._mean) @ self._slopes)
        return Drawn(X * self._units, labels.astype(float))

    def error(self, fit: Fit) -> float:
        truth = expit((self._test - self._mean) @ self._slopes)
        best = -np.mean(xlogy(truth, truth) + xlogy(1 - truth, 1 - truth))
        share = truth.mean()
        null = -(share * np.log(share) + (1 - share) * np.log(1 - share)) - best
        odds = self._test @ (fit.coefficients * self._units) + fit.intercept
        return float((np.mean(np.logaddexp(0, odds) - truth * odds) - best) / null)
