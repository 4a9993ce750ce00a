"""Synthetic means with a known answer, the hard instances of the papers among them."""

import numpy as np

from benchmarks.datasets.design import Design
from benchmarks.objective import Dataset, Drawn, Fit
from tailguard.theory import Packing, Setting

__all__ = ["HardMean", "Location"]


class Location(Dataset):
    """The mean of correlated columns of one law.

    Parameters
    ----------
    law : str
        Law of the columns.
    n, d : int
        Sizes.
    label : str or None, default=None
        Name; by default that of the law.
    location : float, default=1.0
        Distance of every column from its own place, in deviations. Not 0 by default: shrinking everything to nothing
        would look like a perfect estimate.
    decades : float, default=0.0
        Columns have units from 10^−decades to 10^decades.
    held_out : bool, default=False
        Whether recipes were never tuned on it.
    """

    task, group = "mean", "mean"

    def __init__(
        self,
        law: str,
        n: int,
        d: int,
        *,
        label: str | None = None,
        location: float = 1.0,
        decades: float = 0.0,
        held_out: bool = False,
    ) -> None:
        self.n, self.d, self.location, self.decades, self.held_out = n, d, location, decades, held_out
        self._design = Design(law, d)
        self.name, self.tail = f"mean {label or law} n={n} d={d}", self._design.tail

    def draw(self, seed: int) -> Drawn:
        rng = np.random.default_rng([seed, self.n, self.d])
        units = 10.0 ** rng.uniform(-self.decades, self.decades, self.d)
        deviations = np.sqrt(np.diag(self._design.covariance))
        shift = self.location * deviations
        truth = (self._design.mean + shift) * units, deviations * units
        return Drawn((self._design.rows(rng, self.n) + shift) * units, truth=truth)

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        mean, deviations = drawn.truth
        return _mean_measures(fit, mean, deviations, self.n)


class HardMean(Dataset):
    """The hard instance of Tao et al. 2022, Lemma 21, for ε = 1: 0, or rarely a spike as high as the moment allows.

    Parameters
    ----------
    order : float
        The moment that exists, with bound 1.
    n, d : int
        Sizes; every other column has spikes.
    delta : float, default=1e-6
        Of the lower bound.
    """

    task, group = "mean", "mean"

    def __init__(self, order: float, n: int, d: int, delta: float = 1e-6) -> None:
        self.n, self.d = n, d
        self.name = f"mean hard instance of order {order:g} n={n} d={d}"
        self.tail = f"spikes, moment of order {order:g}"
        setting = Setting(n, d, 1.0, delta, order)
        self._instance = Packing.hardest(setting, (1, 0) * (d // 2) or (1,))

    def draw(self, seed: int) -> Drawn:
        return Drawn(self._instance.sample(self.n, np.random.default_rng([seed, self.n, self.d])))

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        instance = self._instance
        spread = np.sqrt(instance.moment(2.0) - np.max(instance.mean) ** 2)
        return _mean_measures(fit, instance.mean, np.full(self.d, spread), self.n)


def _mean_measures(fit: Fit, mean: np.ndarray, deviations: np.ndarray, n: int) -> dict[str, float]:
    with np.errstate(all="ignore"):
        error = (fit.coefficients - mean) / deviations
        return {
            "excess": float(np.sqrt(np.mean(error**2) * n)),
            "coefficient_error": float(np.linalg.norm(fit.coefficients - mean)),
        }
