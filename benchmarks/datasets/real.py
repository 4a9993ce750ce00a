"""Real records: a table with a target, split into training and test rows by a fixed public rule."""

from collections.abc import Callable

import numpy as np

from benchmarks import measures
from benchmarks.objective import Dataset, Drawn, Fit, Matrix, Vector
from benchmarks.solvers.null import constant

__all__ = ["Real", "held_rows", "hill"]

TEST_SHARE = 0.25


def held_rows(n: int) -> np.ndarray:
    """Return which of n rows are held out: those whose number, multiplied by Knuth's constant, has a small hash."""
    hashes = (np.arange(n, dtype=np.uint64) * np.uint64(2_654_435_761)) % np.uint64(2**32)
    return np.asarray(hashes < np.uint64(int(TEST_SHARE * 2**32)))


def hill(values: Vector, share: float = 0.01) -> float:
    """Return Hill's estimate of the tail index from the largest hundredth of the absolute values."""
    sizes = np.sort(np.abs(values))[::-1]
    count = max(5, int(share * len(sizes)))
    top = sizes[: count + 1]
    return float(1.0 / np.mean(np.log(top[:-1] / top[-1]))) if top[-1] > 0.0 and top[0] > top[-1] else float("inf")


class Real(Dataset):
    """A table; every seed has the same split, so that seeds differ in the solvers' noise alone.

    Parameters
    ----------
    label : str
        Name.
    load : callable
        Returns the matrix of features and the target; a target of zeros and ones makes it a classification.
    held_out : bool
        Whether recipes were never looked at on it.
    """

    real, group = True, "real"

    def __init__(self, label: str, load: Callable[[], tuple[Matrix, Vector]], *, held_out: bool) -> None:
        self._load, self.held_out = load, held_out
        X, y = self._table()
        if len(y) == 0 or y.min() == y.max():
            raise ValueError("its target does not vary")
        self.task = "logistic" if set(np.unique(y)) <= {0.0, 1.0} else "linear"
        self.n, self.d = int(np.sum(~held_rows(len(y)))), X.shape[1]
        self.name = f"real {label}"
        self.tail = f"{np.mean(y):.0%} positives" if self.task == "logistic" else f"target index {hill(y):.1f}"

    def _table(self) -> tuple[Matrix, Vector]:
        X, y = self._load()
        keep = np.isfinite(y) & np.isfinite(X).all(axis=1)
        return np.ascontiguousarray(X[keep], dtype=np.float64), np.asarray(y[keep], dtype=np.float64)

    def draw(self, seed: int) -> Drawn:
        X, y = self._table()
        test = held_rows(len(y))
        return Drawn(X[~test], y[~test], X[test], y[test])

    def measures(self, drawn: Drawn, fit: Fit) -> dict[str, float]:
        """Return the held-out risk ÷ the null model's as `excess`: the best reachable value is not known."""
        null = constant(self.task, drawn)
        predictions = fit.predictions(drawn.X_test)
        if self.task == "linear":
            found = measures.regression(predictions, drawn.y_test, null.intercept)
            return {"excess": 1.0 - found["r2"], **found}
        excess = measures.log_loss(predictions, drawn.y_test) / measures.log_loss(
            np.full(len(predictions), null.intercept), drawn.y_test
        )
        return {"excess": excess, **measures.classification(predictions, drawn.y_test)}
