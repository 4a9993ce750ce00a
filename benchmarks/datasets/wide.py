"""Designs with many columns: those of Hu et al. 2022, section 6, and those on which simpler recipes fail."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

__all__ = ["DESIGNS", "HELD_OUT", "Design", "Drawn"]

Vector = NDArray[np.float64]
Columns = Callable[[np.random.Generator, int, int], tuple[NDArray[np.float64], NDArray[np.float64], Vector]]
TEST = 20_000
RIDGE = 0.005


@dataclass(frozen=True, eq=False)
class Drawn:
    """Records, the truth, a risk that is 0 at the truth, and the covariance of the columns."""

    X: NDArray[np.float64]
    y: Vector
    truth: Vector
    risk: Callable[[Vector, float], float]
    covariance: NDArray[np.float64]

    def null(self) -> float:
        """Return the risk of predicting 0."""
        return self.risk(np.zeros(self.X.shape[1]), 0.0)


@dataclass(frozen=True)
class Design:
    """A design: columns, noise, and how many coefficients differ from 0.

    Parameters
    ----------
    name : str
        As printed.
    columns : {"normal", "t3", "lognormal", "scales", "autoregressive", "one-hot", "weibull"}
        Law of the columns.
    d : int
        Number of columns.
    sparsity : int or None
        Number of coefficients that differ from 0; None is all of them.
    noise : {"normal", "t3", "small", "skewed", "wild", "classes"}
        Law of the noise; "classes" makes labels, as in figure 10.
    unit : {"l1", "l2", "signal"}
        What the coefficients are scaled to: ‖w‖₁ = 1, ‖w‖₂ = 1, or a signal of variance 1.
    """

    name: str
    columns: str
    d: int
    sparsity: int | None
    noise: str
    unit: str

    def draw(self, n: int, seed: int) -> Drawn:
        """Return n records of one repetition."""
        rng = np.random.default_rng([seed, n, self.d])
        test = TEST if self.noise == "classes" else 0
        X, covariance, mean = COLUMNS[self.columns](rng, n + test, self.d)
        w = self._coefficients(rng, covariance)
        if self.noise == "classes":
            labels = (X @ w + rng.logistic(0.0, 0.5, n + test) > 0).astype(float)
            return Drawn(X[:n], labels[:n], w, _log_loss(X[n:], labels[n:], w), covariance)

        def risk(found: Vector, intercept: float) -> float:
            error = found - w
            offset = float(mean @ error + intercept) if self.unit == "l1" else 0.0
            return float(error @ covariance @ error) + offset**2

        return Drawn(X, X @ w + NOISES[self.noise](rng, n), w, risk, covariance)

    def _coefficients(self, rng: np.random.Generator, covariance: NDArray[np.float64]) -> Vector:
        w = rng.standard_normal(self.d)
        if self.sparsity is not None:
            w[rng.choice(self.d, self.d - self.sparsity, replace=False)] = 0.0
        size = {"l1": np.abs(w).sum(), "l2": np.linalg.norm(w), "signal": math.sqrt(w @ covariance @ w)}[self.unit]
        return np.asarray(w / size)


def _log_loss(X: NDArray[np.float64], y: Vector, truth: Vector) -> Callable[[Vector, float], float]:
    def loss(w: Vector, intercept: float) -> float:
        margins = (2.0 * y - 1.0) * (X @ w + intercept)
        return float(np.mean(np.logaddexp(0.0, -margins)) + RIDGE * w @ w)

    best = loss(truth, 0.0)
    return lambda w, intercept: loss(w, intercept) - best


def non_private(design: Design, drawn: Drawn) -> float:
    """Return the risk of least squares, or of ridge logistic regression, on the true support where there is one."""
    support = np.flatnonzero(drawn.truth) if design.sparsity is not None else np.arange(design.d)
    rows = drawn.X[:, support]
    w = np.zeros(design.d)
    if design.noise == "classes":
        fit = LogisticRegression(C=1.0 / (2.0 * RIDGE * len(rows)), tol=1e-6, max_iter=1000).fit(rows, drawn.y)
        w[support], intercept = fit.coef_[0], float(fit.intercept_[0])
    else:
        found = np.linalg.lstsq(np.column_stack([rows, np.ones(len(rows))]), drawn.y, rcond=None)[0]
        w[support], intercept = found[:-1], float(found[-1])
    return drawn.risk(w, intercept)


def _independent(draw: Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]], mean: float, sd: float):
    def columns(rng, n, d):
        return draw(rng, (n, d)), sd**2 * np.eye(d), np.full(d, mean)

    return columns


def _lognormal(variance: float, standard: bool):
    mean = math.exp(variance / 2.0)
    sd = mean * math.sqrt(math.expm1(variance))

    def draw(rng, size):
        X = np.exp(rng.standard_normal(size) * math.sqrt(variance))
        return (X - mean) / sd if standard else X

    return _independent(draw, 0.0 if standard else mean, 1.0 if standard else sd)


def _scales(rng, n, d):
    scales = np.exp(rng.standard_normal(d))
    return rng.standard_normal((n, d)) * scales, np.diag(scales**2), np.zeros(d)


def _autoregressive(rng, n, d, correlation=0.7):
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + math.sqrt(1.0 - correlation**2) * X[:, j]
    steps = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    return X, correlation**steps, np.zeros(d)


def _one_hot(rng, n, d, levels=10):
    X, mean, covariance = np.zeros((n, d)), np.empty(d), np.zeros((d, d))
    for start in range(0, d, levels):
        shares = rng.dirichlet(np.full(levels, 3.0))
        X[np.arange(n), start + rng.choice(levels, n, p=shares)] = 1.0
        part = slice(start, start + levels)
        mean[part] = shares
        covariance[part, part] = np.diag(shares) - np.outer(shares, shares)
    return X, covariance, mean


def _weibull(rng, size):
    mean, second = math.gamma(1 + 1 / 0.6), math.gamma(1 + 2 / 0.6)
    return (rng.weibull(0.6, size) - mean) / math.sqrt(second - mean**2)


COLUMNS: dict[str, Columns] = {
    "normal": _independent(lambda rng, size: rng.standard_normal(size), 0.0, 1.0),
    "wide normal": _independent(lambda rng, size: math.sqrt(5.0) * rng.standard_normal(size), 0.0, math.sqrt(5.0)),
    "t3": _independent(lambda rng, size: rng.standard_t(3, size) / math.sqrt(3.0), 0.0, 1.0),
    "lognormal": _lognormal(1.0, standard=True),
    "raw lognormal": _lognormal(0.6, standard=False),
    "scales": _scales,
    "autoregressive": _autoregressive,
    "one-hot": _one_hot,
    "weibull": _independent(_weibull, 0.0, 1.0),
}

NOISES: dict[str, Callable[[np.random.Generator, int], Vector]] = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "t3": lambda rng, n: rng.standard_t(3, n) / math.sqrt(3.0),
    "small": lambda rng, n: math.sqrt(0.1) * rng.standard_normal(n),
    "skewed": lambda rng, n: rng.lognormal(0.0, math.sqrt(0.5), n),
    "wild": lambda rng, n: (1.0 / rng.random(n) - 1.0) ** -10.0,
    "pareto": lambda rng, n: (rng.pareto(2.5, n) - 1.0 / 1.5) / math.sqrt(2.5 / (1.5**2 * 0.5)),
}

DESIGNS = (
    Design("figure 1b", "raw lognormal", 400, None, "small", "l1"),
    Design("figure 5b", "raw lognormal", 200, None, "small", "l1"),
    Design("figure 7b", "wide normal", 400, 20, "skewed", "l2"),
    Design("figure 8 noise", "wide normal", 400, 20, "wild", "l2"),
    Design("figure 10b", "wide normal", 400, 20, "classes", "l2"),
    Design("dense normal", "normal", 400, None, "normal", "signal"),
    Design("dense t3", "t3", 400, None, "t3", "signal"),
    Design("dense lognormal", "lognormal", 400, None, "normal", "signal"),
    Design("dense unequal scales", "scales", 400, None, "normal", "signal"),
    Design("dense AR(0.7)", "autoregressive", 400, None, "normal", "signal"),
    Design("dense one-hot", "one-hot", 400, None, "normal", "signal"),
    Design("sparse t3", "t3", 400, 20, "t3", "signal"),
    Design("sparse lognormal", "lognormal", 400, 20, "normal", "signal"),
    Design("sparse unequal scales", "scales", 400, 20, "normal", "signal"),
    Design("sparse AR(0.7)", "autoregressive", 400, 20, "normal", "signal"),
    Design("sparse one-hot", "one-hot", 400, 20, "normal", "signal"),
)
"""What the constants of the recipes were chosen on, with other seeds."""

HELD_OUT = (
    Design("dense Weibull", "weibull", 300, None, "pareto", "signal"),
    Design("sparse Weibull", "weibull", 300, 15, "pareto", "signal"),
    Design("sparse Weibull classes", "weibull", 300, 15, "classes", "l2"),
)
"""What nothing was chosen on."""
