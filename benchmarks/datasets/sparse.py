"""Sparse regressions in many columns: the settings of Hu et al. 2022 and harder ones."""

import numpy as np

from benchmarks import measures
from benchmarks.datasets.wide import Design
from benchmarks.objective import Dataset, Drawn, Fit, Matrix, Vector

__all__ = ["Sparse"]

TEST = 5_000


class Sparse(Dataset):
    """A wide design, of which the number of non-zero coefficients is public.

    Parameters
    ----------
    design : Design
        Columns, noise, coefficients.
    tail : str
        In words.
    n : int, default=10_000
        Records.
    held_out : bool, default=False
        Whether recipes were never tuned on it.
    """

    group = "sparse"

    def __init__(self, design: Design, tail: str, n: int = 10_000, *, held_out: bool = False) -> None:
        self.n, self.d, self.sparsity, self.held_out = n, design.d, design.sparsity, held_out
        self.design, self.tail = design, tail
        self.classes = design.noise == "classes"
        self.task = "sparse-logistic" if self.classes else "sparse"
        self.name = f"{self.task} {design.name.removeprefix('sparse ')} n={n} d={self.d}"

    def draw(self, seed: int) -> Drawn:
        # One draw of the design gives training and test records the same columns' scales and the same coefficients.
        whole, n = self.design.draw(self.n + TEST, seed), self.n
        truth = (whole.truth, whole.covariance)
        return Drawn(whole.X[:n], whole.y[:n], whole.X[n:], whole.y[n:], self.sparsity, truth)

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        """Return the measures. A noise without a mean leaves the intercept undefined, so slopes alone are judged."""
        slopes, covariance = drawn.truth
        slopes = 2.0 * slopes if self.classes else slopes  # noise of scale 1/2 doubles the log-odds
        deviations = np.sqrt(np.diag(covariance))
        return {
            "coefficient_error": measures.coefficient_error(fit.coefficients, slopes, deviations),
            "recall": measures.recall(fit.coefficients, slopes),
            **(self._classes(drawn, fit, slopes) if self.classes else self._regression(drawn, fit, slopes, covariance)),
        }

    def _classes(self, drawn: Drawn, fit: Fit, slopes: Vector) -> dict[str, float]:
        with np.errstate(all="ignore"):
            odds = drawn.X_test @ fit.coefficients + fit.intercept
        excess = measures.excess_log_loss(odds, drawn.X_test @ slopes)
        return {"excess": excess, **measures.classification(fit.values(drawn.X_test), drawn.y_test)}

    def _regression(self, drawn: Drawn, fit: Fit, slopes: Vector, covariance: Matrix) -> dict[str, float]:
        with np.errstate(all="ignore"):
            change = fit.coefficients - slopes
            excess = float(change @ covariance @ change / (slopes @ covariance @ slopes))
        return {
            "excess": excess,
            **measures.regression(fit.values(drawn.X_test), drawn.y_test, float(np.mean(drawn.y))),
        }
