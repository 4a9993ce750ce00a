"""Distributions with a known mean, for private means: one column is drawn like another, independently."""

import numpy as np

from benchmarks.objective import Dataset, Drawn, Fit

__all__ = ["FAMILIES", "Family"]


def _two_point(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """The hard instance of Tao et al. 2022, Lemma 16, with u = 1, v = 1 and p = 1/50: √50 or nothing."""
    return (rng.random(shape) < 0.02) * np.sqrt(50.0)


# Symmetric families sit at 1: around 0, shrinking everything to nothing would look like a perfect estimate.
FAMILIES = {
    "t2.1": (lambda rng, shape: 1.0 + rng.standard_t(2.1, shape), 1.0),
    "t3": (lambda rng, shape: 1.0 + rng.standard_t(3.0, shape), 1.0),
    "t5": (lambda rng, shape: 1.0 + rng.standard_t(5.0, shape), 1.0),
    "pareto2.5": (lambda rng, shape: rng.pareto(2.5, shape), 1.0 / 1.5),
    "lognormal": (lambda rng, shape: rng.lognormal(0.0, 1.0, shape), float(np.exp(0.5))),
    "two-point": (_two_point, float(np.sqrt(50.0) / 50.0)),
}


class Family(Dataset):
    """The mean of independent columns of one family."""

    task = "mean"

    def __init__(self, name: str, n: int, d: int) -> None:
        self.name, self.n, self.d, self.tail = name, n, d, name
        self._draw, self.mean = FAMILIES[name]

    def draw(self, seed: int) -> Drawn:
        return Drawn(self._draw(np.random.default_rng([seed, self.n, self.d]), (self.n, self.d)))

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        return {"excess": float(np.linalg.norm(fit.coefficients - self.mean))}
